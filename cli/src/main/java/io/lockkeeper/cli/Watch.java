// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.cli;

import io.lockkeeper.KeeperListener;
import io.lockkeeper.LockInfo;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.StoreUnavailableException;
import java.time.LocalTime;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code lockkeeper watch}. */
@Command(
        name = "watch",
        description = "Show what is in use, and then every change, until interrupted.",
        footer = {"", "Examples:", "  lockkeeper watch billing/", "  lockkeeper watch --json | jq --unbuffered ."})
final class Watch implements Callable<Integer> {
    @Mixin
    private Store store = new Store();

    @Option(names = "--json", description = "For programs: one lock per line.")
    private boolean json;

    @Parameters(arity = "0..1", paramLabel = "PREFIX", defaultValue = "", description = "What the names begin with.")
    private String prefix = "";

    private final CompletableFuture<Integer> end = new CompletableFuture<>();

    @Override
    public Integer call() throws Exception {
        KernelSignals.onEach(signal -> end.complete(signal.exitCode()));
        KeeperListener outages = new KeeperListener() {
            @Override
            public void storeDown(StoreUnavailableException cause) {
                Terminal.complain("the store does not answer: " + cause.getMessage());
            }

            @Override
            public void storeUp() {
                Terminal.complain("the store answers again");
            }
        };
        try (Lockkeeper keeper = store.open(outages);
                AutoCloseable watch = keeper.inspector().watch(prefix, this::tell)) {
            keeper.inspector().list(prefix, 10_000).forEach(this::tell);
            return end.get();
        }
    }

    private synchronized void tell(LockInfo info) {
        String line = json ? Json.text(Json.lock(info)) : line(info);
        if (!Terminal.OUT.println(line)) {
            end.complete(Exit.OK); // nobody reads any more
        }
    }

    private static String line(LockInfo info) {
        Terminal out = Terminal.OUT;
        String time = out.dim(LocalTime.now(java.time.ZoneId.systemDefault())
                .truncatedTo(ChronoUnit.SECONDS)
                .format(java.time.format.DateTimeFormatter.ISO_LOCAL_TIME));
        String state;
        if (!info.holders().isEmpty()) {
            state = "held by "
                    + info.holders().stream().map(Text::client).sorted().collect(Collectors.joining(", "));
        } else {
            state = info.closedFor().isZero() ? "free" : "closed for " + Text.brief(info.closedFor());
        }
        String waiting = info.waiters() == 0 ? "" : ", " + info.waiters() + " waiting";
        return time + "  " + out.bold(Text.safe(info.name())) + "  " + state + waiting;
    }
}
