// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis.server;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisException;

/**
 * A slow search that many threads may need at the same time, such as the one for the master of a Sentinel set. At most
 * one is in progress, on its own thread, which ends with it; all callers that wait share its result. A caller waits no
 * longer than its own step may take. A search that takes longer than that continues, and serves callers that come
 * later.
 *
 * <p>No monitor is held during I/O, so {@link #close()} never waits for a server.
 */
final class Lookup<T> {
    private final String what;
    private final Supplier<T> search;
    private @Nullable CompletableFuture<T> underWay;
    private boolean closed;

    /** @param what is searched for, as it reads in "… was not found within 1000 ms" */
    Lookup(String what, Supplier<T> search) {
        this.what = what;
        this.search = search;
    }

    /** Begins a search, unless one is in progress, and does not wait for it. */
    void start() {
        CompletableFuture<T> unused = begin();
    }

    private CompletableFuture<T> begin() {
        CompletableFuture<T> result = new CompletableFuture<>();
        synchronized (this) {
            if (closed) {
                return CompletableFuture.failedFuture(closedFailure());
            }
            if (underWay != null) {
                return underWay;
            }
            underWay = result;
        }
        try {
            Thread thread = new Thread(() -> run(result), "lockkeeper-redis-lookup");
            thread.setDaemon(true);
            thread.start();
        } catch (OutOfMemoryError noThread) {
            run(result); // on this one, rather than never
        }
        return result;
    }

    private void run(CompletableFuture<T> result) {
        T found;
        try {
            found = search.get();
        } catch (Throwable e) {
            end(result);
            result.completeExceptionally(e);
            return;
        }
        end(result);
        result.complete(found);
    }

    private synchronized void end(CompletableFuture<T> result) {
        if (underWay == result) {
            underWay = null;
        }
    }

    /**
     * Waits for the search that is in progress, or for a new one. An interrupt does not end the wait; its flag is
     * preserved.
     *
     * @throws JedisException if nothing was found in time
     */
    T await(long limitMillis) {
        CompletableFuture<T> result = begin();
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(limitMillis);
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    return result.get(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
                } catch (InterruptedException e) {
                    interrupted = true;
                } catch (TimeoutException e) {
                    throw new JedisConnectionException(what + " was not found within " + limitMillis + " ms");
                } catch (ExecutionException e) {
                    throw failure(e.getCause());
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private JedisException failure(@Nullable Throwable cause) {
        return cause instanceof JedisException e
                ? e
                : new JedisConnectionException("the search for " + what + " failed", cause);
    }

    private JedisConnectionException closedFailure() {
        return new JedisConnectionException(what + " is no longer searched for: the store has been closed");
    }

    /** Ends all waiting. A search that is in progress ends by itself, and its result is ignored. */
    void close() {
        CompletableFuture<T> abandoned;
        synchronized (this) {
            closed = true;
            abandoned = underWay;
            underWay = null;
        }
        if (abandoned != null) {
            abandoned.completeExceptionally(closedFailure());
        }
    }
}
