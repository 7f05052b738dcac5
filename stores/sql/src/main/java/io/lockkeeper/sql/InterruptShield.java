// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.sql.base.Daemons;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * Our own threads, for a database inside this process that an interrupt of the caller's thread would break. One thread
 * stays as long as the store, so that steps, renewals above all, can be made even when the process gets no more
 * threads.
 */
final class InterruptShield implements AutoCloseable {
    private final SynchronousQueue<Runnable> handOver = new SynchronousQueue<>();
    private final ThreadPoolExecutor threads;
    private final long waitMillis;

    /** @param waitMillis how long a step waits for a thread when the process gets no more of them */
    InterruptShield(long waitMillis) {
        this(waitMillis, Daemons.named("lockkeeper-sql-step"));
    }

    InterruptShield(long waitMillis, ThreadFactory factory) {
        this.waitMillis = waitMillis;
        this.threads = new ThreadPoolExecutor(1, Integer.MAX_VALUE, 1, TimeUnit.SECONDS, handOver, factory);
        threads.prestartCoreThread();
    }

    <T> T call(Supplier<T> step) {
        FutureTask<T> future = new FutureTask<>(step::get);
        boolean interrupted = false;
        try {
            threads.execute(future);
        } catch (RejectedExecutionException e) {
            throw new StoreUnavailableException("the store is closed", e);
        } catch (OutOfMemoryError e) {
            interrupted = awaitThread(future, e);
        }
        try {
            while (true) {
                try {
                    return future.get();
                } catch (InterruptedException e) {
                    interrupted = true;
                } catch (ExecutionException e) {
                    if (e.getCause() instanceof RuntimeException failure) {
                        throw failure;
                    }
                    throw new IllegalStateException(e.getCause());
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Waits for a thread that another step leaves; returns whether it was interrupted in the meantime. */
    private boolean awaitThread(Runnable task, OutOfMemoryError why) {
        boolean interrupted = false;
        long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(waitMillis);
        for (long left = until - System.nanoTime(); left > 0; left = until - System.nanoTime()) {
            try {
                if (handOver.offer(task, left, TimeUnit.NANOSECONDS)) {
                    return interrupted;
                }
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        throw new StoreUnavailableException("there is no thread for a step, and none became free", why);
    }

    @Override
    public void close() {
        threads.shutdown();
    }
}
