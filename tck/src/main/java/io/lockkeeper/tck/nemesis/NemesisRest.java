// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.nemesis;

import io.lockkeeper.Guarantee;
import io.lockkeeper.Lease;
import io.lockkeeper.LockInfo;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.tck.support.Pauses;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;

/**
 * What must be over when the storm is: first with the keepers still open (threads have returned, futures are done, the
 * store knows of no holder and no waiter and is as small as before, every name can be acquired), then with the keepers
 * closed (their threads have ended, and nothing refers to them). Leases are short, and patience is; so each of these has to
 * come true soon, and is waited for much longer than that.
 *
 * @param records counts what is in the store
 * @param atMost how long to wait for each
 */
public record NemesisRest(LongSupplier records, long baseline, Duration atMost) {
    /** What is left over. */
    public List<String> check(NemesisRun run, List<Thread> workers, List<Thread> nemesis, Lockkeeper calm)
            throws InterruptedException {
        List<String> left = new ArrayList<>();
        awaitEnd("nemesis", nemesis, Duration.ofHours(1), run, left);
        awaitEnd("worker", workers, atMost, run, left);
        if (!comesTrue(run.futures::isEmpty)) {
            List.copyOf(run.futures.values()).forEach(what -> left.add("a future that is not done: " + what));
        }
        checkStore(run, calm, left);
        run.clients.forEach(client -> close(client, left));
        checkThreads(run, left);
        run.book.history.look();
        return left;
    }

    private void awaitEnd(String what, List<Thread> threads, Duration longest, NemesisRun run, List<String> left)
            throws InterruptedException {
        comesTrue(() -> !run.isOn(), longest);
        long until = System.nanoTime() + atMost.toNanos();
        for (Thread thread : threads) {
            thread.join(1 + Math.max(0, TimeUnit.NANOSECONDS.toMillis(until - System.nanoTime())));
            if (thread.isAlive()) {
                left.add("a " + what + " that has not returned: " + NemesisThreads.describe(thread));
            }
        }
    }

    private void checkStore(NemesisRun run, Lockkeeper calm, List<String> left) throws InterruptedException {
        if (!comesTrue(() -> calm.inspector().list(run.prefix, 100).isEmpty())) {
            for (LockInfo info : calm.inspector().list(run.prefix, 100)) {
                left.add("in the store: " + info);
            }
            return;
        }
        for (NemesisRun.Names names : run.names) {
            for (String name : List.of(names.first(), names.second(), names.readWrite())) {
                take(name, () -> calm.lock(name).tryAcquire(atMost), left);
            }
            if (run.guarantees.has(Guarantee.PERMITS)) {
                int all = NemesisRun.PERMITS;
                take(
                        names.semaphore(),
                        () -> calm.semaphore(names.semaphore(), all).tryAcquire(all, atMost),
                        left);
            }
        }
        if (!comesTrue(() -> {
            calm.inspector().inspect(run.prefix); // a store may clear up only when it is used
            return records.getAsLong() <= baseline;
        })) {
            left.add((records.getAsLong() - baseline) + " records in the store");
        }
    }

    private static void take(String name, Callable<Optional<Lease>> acquire, List<String> left)
            throws InterruptedException {
        try {
            if (!acquire.call().map(Lease::release).orElse(false)) {
                left.add("'" + name + "' cannot be acquired, though nobody is seen to hold it");
            }
        } catch (InterruptedException e) {
            throw e;
        } catch (Exception e) {
            left.add("'" + name + "' cannot be acquired: " + e);
        }
    }

    private static void close(NemesisClient client, List<String> left) {
        try {
            client.close();
        } catch (RuntimeException | Error e) {
            left.add("a keeper that could not be closed: " + e);
        }
    }

    private void checkThreads(NemesisRun run, List<String> left) throws InterruptedException {
        for (NemesisClient client : run.clients) {
            for (String name : client.closedNames()) {
                String prefix = "lockkeeper-" + name + "-";
                if (!comesTrue(() -> NemesisThreads.living(prefix).isEmpty())) {
                    NemesisThreads.living(prefix)
                            .forEach(thread ->
                                    left.add("a thread of a closed keeper: " + NemesisThreads.describe(thread)));
                }
            }
        }
        if (!comesTrue(() -> {
            System.gc();
            return run.clients.stream().allMatch(client -> client.remembered() == 0);
        })) {
            long remembered =
                    run.clients.stream().mapToLong(NemesisClient::remembered).sum();
            left.add(remembered + " closed keepers in memory");
        }
    }

    private boolean comesTrue(BooleanSupplier condition) throws InterruptedException {
        return comesTrue(condition, atMost);
    }

    private static boolean comesTrue(BooleanSupplier condition, Duration atMost) throws InterruptedException {
        long until = System.nanoTime() + atMost.toNanos();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - until > 0) {
                return false;
            }
            Pauses.betweenLooks(20);
        }
        return true;
    }
}
