// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * Has actors meet at one instant, again and again. All of them wait at a barrier that is left at once, and then some of
 * them for a random few microseconds, so that over many rounds each meets the others at every point of its way.
 */
final class Race implements AutoCloseable {
    static final long LONG_SECONDS = 30;

    private final ExecutorService threads = Executors.newCachedThreadPool(task -> {
        Thread thread = new Thread(task, "race");
        thread.setDaemon(true);
        return thread;
    });

    /** Runs the actors at once and waits for all; gives what they gave, in order. */
    @SafeVarargs
    final <T> List<T> run(Callable<? extends T>... actors) throws Exception {
        AtomicInteger missing = new AtomicInteger(actors.length);
        List<Future<T>> futures = new ArrayList<>();
        for (Callable<? extends T> actor : actors) {
            futures.add(threads.submit(() -> {
                missing.decrementAndGet();
                for (int spins = 0; missing.get() > 0; spins++) {
                    pause(spins);
                }
                linger();
                return actor.call();
            }));
        }
        List<T> results = new ArrayList<>();
        for (Future<T> future : futures) {
            results.add(future.get(LONG_SECONDS, TimeUnit.SECONDS));
        }
        return results;
    }

    /** Uses up a few microseconds, of a different order of magnitude each time, or none. */
    static void linger() {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        int spins = random.nextInt(1 << random.nextInt(13));
        for (int i = 0; i < spins; i++) {
            Thread.onSpinWait();
        }
    }

    private static void pause(int spins) {
        if (spins < 1_000) {
            Thread.onSpinWait();
        } else {
            LockSupport.parkNanos(1);
        }
    }

    @Override
    public void close() {
        threads.shutdownNow();
    }
}
