// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.cli;

import io.lockkeeper.LockInfo;
import io.lockkeeper.Lockkeeper;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code lockkeeper ls}. */
@Command(
        name = "ls",
        description = "List the names in use and their holders.",
        footer = {
            "",
            "Examples:",
            "  lockkeeper ls                all",
            "  lockkeeper ls billing/       those that begin like this",
            "  lockkeeper ls --json | jq -r '.[].name'"
        })
final class Ls implements Callable<Integer> {
    @Mixin
    private Store store = new Store();

    @Option(names = "--json", description = "For programs: an array of locks.")
    private boolean json;

    @Option(
            names = "--limit",
            paramLabel = "N",
            defaultValue = "1000",
            description = "How many at most, 1 to 10000 (default: ${DEFAULT-VALUE}).")
    private int limit;

    @Parameters(arity = "0..1", paramLabel = "PREFIX", defaultValue = "", description = "What the names begin with.")
    private String prefix = "";

    @Override
    public Integer call() {
        Rehearsal.of(keeper -> keeper.inspector().list(prefix, limit));
        List<LockInfo> all;
        try (Lockkeeper keeper = store.open()) {
            all = keeper.inspector().list(prefix, limit);
        }
        if (all.size() == limit) {
            Terminal.ERR.println(Terminal.ERR.dim("only the first " + limit
                    + " names are listed: there may be more; use --limit (up to 10000) or a longer prefix"));
        }
        if (json) {
            print(all);
            return Exit.OK;
        }
        if (all.isEmpty()) {
            String none = prefix.isEmpty() ? "no name" : "no name that begins with '" + Text.safe(prefix) + "'";
            Terminal.ERR.println(Terminal.ERR.dim(none + " is in use"));
            return Exit.OK;
        }
        try (Table table = new Table(
                Terminal.OUT::println,
                Terminal.OUT::bold,
                "NAME",
                "MODE",
                "HOLDER",
                "LABEL",
                "HELD FOR",
                "LEASE LEFT",
                "WAITING",
                "TOKEN")) {
            for (LockInfo info : all) {
                rows(info, table);
            }
        }
        return Exit.OK;
    }

    /** An array, one element at a time: thousands of names are more text than is worth having in memory. */
    private static void print(List<LockInfo> all) {
        String before = "[";
        for (LockInfo info : all) {
            Terminal.OUT.print(before + Json.text(Json.lock(info)));
            before = ",";
        }
        Terminal.OUT.println(all.isEmpty() ? "[]" : "]");
    }

    private static void rows(LockInfo info, Table table) {
        String name = Text.safe(info.name());
        String waiting = info.waiters() == 0 ? "-" : Integer.toString(info.waiters());
        if (info.holders().isEmpty()) {
            String state = info.closedFor().isZero() ? "-" : "closed for " + Text.brief(info.closedFor());
            table.row(name, mode(info, 0), state, "-", "-", "-", waiting, "-");
        }
        for (LockInfo.Hold hold : info.holders()) {
            table.row(
                    name,
                    mode(info, hold.permits()),
                    Text.client(hold),
                    hold.label().isEmpty() ? "-" : Text.safe(hold.label()),
                    Text.age(hold.since()),
                    Text.brief(hold.expiresIn()),
                    waiting,
                    Long.toString(hold.token()));
        }
    }

    static String mode(LockInfo info, int permits) {
        return switch (info.mode()) {
            case EXCLUSIVE -> "exclusive";
            case SHARED -> "shared";
            case PERMITS -> permits + "/" + info.limit();
        };
    }
}
