// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

/**
 * Threads for the steps that must not be made on the caller's own, a bounded few for each lane, so that a lane that hangs
 * delays no other. Renewals have one of their own, so that no crowd of other steps can starve them. Threads begin when
 * they are needed and end when they have had nothing to do for a while.
 */
final class Lanes {
    /** More steps at a time than this would only queue in the store's connection pool. */
    private static final int STEPS_AT_ONCE = 8;

    private static final long IDLE_SECONDS = 5;

    private final Map<Object, Lane> lanes = new ConcurrentHashMap<>();
    private final String clientName;

    private final class Lane {
        final ThreadPoolExecutor steps = pool("step", STEPS_AT_ONCE);
        final ThreadPoolExecutor renewals = pool("renewal", 1);
    }

    Lanes(String clientName) {
        this.clientName = clientName;
    }

    void execute(Object lane, Runnable step) {
        lane(lane).steps.execute(step);
    }

    void executeRenewal(Object lane, Runnable step) {
        lane(lane).renewals.execute(step);
    }

    /** Has a step made on a thread of the lane, and waits for it whatever interrupts come; keeps the flag. */
    <T> T call(Object lane, Supplier<T> step) {
        try {
            return CompletableFuture.supplyAsync(step, lane(lane).steps).join();
        } catch (CompletionException e) {
            if (e.getCause() instanceof RuntimeException cause) {
                throw cause;
            }
            if (e.getCause() instanceof Error cause) {
                throw cause;
            }
            throw e;
        }
    }

    private Lane lane(Object key) {
        return lanes.computeIfAbsent(key, k -> new Lane());
    }

    /** Lets what is under way end, for so long at most, and ends all threads. */
    void close(long nanos) {
        long deadline = System.nanoTime() + nanos;
        lanes.values().forEach(lane -> {
            lane.steps.shutdown();
            lane.renewals.shutdown();
        });
        lanes.values().forEach(lane -> {
            awaitEnd(lane.steps, deadline);
            awaitEnd(lane.renewals, deadline);
        });
    }

    private static void awaitEnd(ExecutorService executor, long deadline) {
        boolean interrupted = Thread.interrupted();
        try {
            while (!executor.awaitTermination(Math.max(0, deadline - System.nanoTime()), TimeUnit.NANOSECONDS)) {
                executor.shutdownNow();
                return;
            }
        } catch (InterruptedException e) {
            interrupted = true;
            executor.shutdownNow();
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private ThreadPoolExecutor pool(String what, int size) {
        ThreadPoolExecutor pool = new ThreadPoolExecutor(
                size, size, IDLE_SECONDS, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), daemons(clientName, what));
        pool.allowCoreThreadTimeOut(true);
        return pool;
    }

    /** Makes daemon threads named after the keeper and what they do. */
    static ThreadFactory daemons(String clientName, String what) {
        AtomicInteger count = new AtomicInteger();
        return task -> {
            Thread thread = new Thread(task, "lockkeeper-" + clientName + "-" + what + "-" + count.incrementAndGet());
            thread.setDaemon(true);
            return thread;
        };
    }
}
