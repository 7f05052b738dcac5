// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.cli;

import io.lockkeeper.LockInfo;
import io.lockkeeper.Lockkeeper;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code lockkeeper inspect}. */
@Command(
        name = "inspect",
        description = "Show what the store knows about a name. Exit code 1: it is not in use.",
        footer = {"", "Example:", "  lockkeeper inspect nightly && echo busy"})
final class Inspect implements Callable<Integer> {
    @Mixin
    private Store store = new Store();

    @Option(names = "--json", description = "For programs: a lock, or null.")
    private boolean json;

    @Parameters(paramLabel = "NAME")
    private String name = "";

    @Override
    public Integer call() {
        Rehearsal.of(keeper -> keeper.inspector().inspect(name));
        Optional<LockInfo> found;
        try (Lockkeeper keeper = store.open()) {
            found = keeper.inspector().inspect(name);
        }
        if (json) {
            Terminal.OUT.println(Json.text(found.map(Json::lock).orElse(null)));
        } else if (found.isPresent()) {
            print(found.get());
        } else {
            Terminal.ERR.println("nobody holds or awaits " + Text.safe(name));
        }
        return found.isPresent() ? Exit.OK : Exit.NOT_FOUND;
    }

    static void print(LockInfo info) {
        Terminal out = Terminal.OUT;
        out.println(out.bold(Text.safe(info.name())) + "  "
                + Ls.mode(
                        info,
                        info.holders().stream().mapToInt(LockInfo.Hold::permits).sum()));
        for (LockInfo.Hold hold : info.holders()) {
            out.println(
                    "  held by  " + Text.client(hold) + (hold.permits() > 1 ? ", " + hold.permits() + " permits" : ""));
            if (!hold.label().isEmpty()) {
                out.println("  label    " + Text.safe(hold.label()));
            }
            out.println("  since    " + hold.since() + out.dim("  " + Text.age(hold.since())));
            out.println("  lease    " + Text.brief(hold.expiresIn()) + " left");
            out.println("  token    " + hold.token());
        }
        if (!info.closedFor().isZero()) {
            out.println("  closed   for another " + Text.brief(info.closedFor()));
        }
        out.println("  waiting  " + info.waiters());
    }
}
