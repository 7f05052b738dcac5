// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import io.lockkeeper.StoreUnavailableException;
import java.sql.SQLException;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

/**
 * Takes connections from the user's data source, which may make us wait for as long as it likes: on our own thread, for
 * which the caller waits no longer than the operation timeout. A connection that arrives later is returned immediately.
 *
 * <p>These threads are in nobody's transaction, and inherit nothing: a data source that binds connections to the
 * caller's thread gives us a separate one. See decision 083.
 */
final class Borrower implements AutoCloseable {
    private static final long IDLE_SECONDS = 5;

    private final int millis;
    private final Supplier<String> need;
    private final Semaphore permits;
    private final ThreadPoolExecutor threads = new ThreadPoolExecutor(
            0, Integer.MAX_VALUE, IDLE_SECONDS, TimeUnit.SECONDS, new SynchronousQueue<>(), Borrower::thread);

    /** Takes a connection, for as long as that takes. */
    interface Opening {
        BorrowedConnection open() throws SQLException;
    }

    /**
     * A borrower.
     *
     * @param millis how long callers wait
     * @param most how many connections are waited for at a time, by as many threads
     * @param need says how many connections there should be
     */
    Borrower(int millis, int most, Supplier<String> need) {
        this.millis = millis;
        this.permits = new Semaphore(most, true);
        this.need = need;
    }

    private static Thread thread(Runnable task) {
        Thread thread = new Thread(null, task, "lockkeeper-sql-borrow", 0, false);
        thread.setDaemon(true);
        return thread;
    }

    /** An interrupt does not end the wait, which is short; it is kept for afterwards. */
    BorrowedConnection borrow(Opening opening) throws SQLException {
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
        boolean interrupted = false;
        CompletableFuture<BorrowedConnection> coming = null;
        try {
            while (true) {
                try {
                    long left = Math.max(0, end - System.nanoTime());
                    if (coming == null) {
                        coming = begin(opening, left);
                    }
                    return coming.get(Math.max(0, end - System.nanoTime()), TimeUnit.NANOSECONDS);
                } catch (InterruptedException e) {
                    interrupted = true;
                } catch (TimeoutException e) {
                    if (coming == null || coming.cancel(false)) {
                        throw none();
                    } // otherwise it has just arrived
                } catch (ExecutionException e) {
                    throw failure(Objects.requireNonNullElse(e.getCause(), e));
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private CompletableFuture<BorrowedConnection> begin(Opening opening, long nanos)
            throws InterruptedException, TimeoutException {
        if (!permits.tryAcquire(nanos, TimeUnit.NANOSECONDS)) {
            throw new TimeoutException();
        }
        CompletableFuture<BorrowedConnection> coming = new CompletableFuture<>();
        boolean begun = false;
        try {
            threads.execute(() -> open(opening, coming));
            begun = true;
        } catch (RejectedExecutionException e) {
            throw new StoreUnavailableException("the store is closed", e);
        } catch (OutOfMemoryError e) {
            throw new StoreUnavailableException("no thread could be started to take a connection", e);
        } finally {
            if (!begun) {
                permits.release();
            }
        }
        return coming;
    }

    private void open(Opening opening, CompletableFuture<BorrowedConnection> coming) {
        try {
            BorrowedConnection borrowed = opening.open();
            if (!coming.complete(borrowed)) {
                borrowed.close();
            }
        } catch (Throwable e) {
            coming.completeExceptionally(e); // a caller that has left does not notice
        } finally {
            permits.release();
        }
    }

    private StoreUnavailableException none() {
        return new StoreUnavailableException(
                "the data source gave no connection within " + millis + " ms; " + need.get(), null);
    }

    private static SQLException failure(Throwable e) {
        if (e instanceof RuntimeException failure) {
            throw failure;
        }
        if (e instanceof Error error) {
            throw error;
        }
        return e instanceof SQLException sql ? sql : new SQLException(e);
    }

    @Override
    public void close() {
        threads.shutdown();
    }
}
