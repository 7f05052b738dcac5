// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis;

import io.lockkeeper.Lease;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.StoreUnavailableException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/** Threads that take and give back locks, each in turn, until they are stopped; they note the tokens. */
final class Load implements AutoCloseable {
    private static final LockOptions LEASE = LockOptions.defaults().lease(Duration.ofSeconds(5));

    private final List<Thread> threads = new ArrayList<>();
    private final Map<String, Long> largest = new ConcurrentHashMap<>();
    private final Map<String, Integer> cycles = new ConcurrentHashMap<>();
    private final ConcurrentLinkedQueue<Throwable> failures = new ConcurrentLinkedQueue<>();
    private volatile boolean stopped;

    Load(List<Lockkeeper> keepers, List<String> names) {
        for (Lockkeeper keeper : keepers) {
            Thread thread = new Thread(() -> run(keeper, names));
            thread.start();
            threads.add(thread);
        }
    }

    private void run(Lockkeeper keeper, List<String> names) {
        for (int i = 0; !stopped; i++) {
            String name = names.get(i % names.size());
            try (Lease lease = keeper.lock(name, LEASE).acquire()) {
                largest.merge(name, lease.token(), Math::max);
                cycles.merge(name, 1, Integer::sum);
            } catch (StoreUnavailableException | io.lockkeeper.LeaseLostException e) {
                // A failover: this failure is right.
            } catch (Throwable e) {
                failures.add(e);
                return;
            }
        }
    }

    /** The largest token of a name so far. */
    Map<String, Long> tokens() {
        return Map.copyOf(largest);
    }

    /** Waits until all names have been used that many times more. */
    void awaitCycles(int more) throws Exception {
        Map<String, Integer> before = Map.copyOf(cycles);
        Function<String, Integer> since = name -> cycles.get(name) - before.getOrDefault(name, 0);
        Admin.await(
                "cycles of all names",
                () -> !cycles.isEmpty() && cycles.keySet().stream().allMatch(name -> since.apply(name) >= more));
    }

    /** What went wrong that should not have. */
    List<Throwable> failures() {
        return List.copyOf(failures);
    }

    @Override
    public void close() throws Exception {
        stopped = true;
        for (Thread thread : threads) {
            thread.join(TimeUnit.SECONDS.toMillis(Admin.LONG.toSeconds()));
            if (thread.isAlive()) {
                throw new AssertionError("a thread hangs", stack(thread));
            }
        }
    }

    private static Throwable stack(Thread thread) {
        Throwable stack = new Throwable("it is here");
        stack.setStackTrace(thread.getStackTrace());
        return stack;
    }
}
