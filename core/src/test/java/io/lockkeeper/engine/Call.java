// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;

/** A call on a thread of its own. */
final class Call<T> {
    final Thread thread;
    private final CompletableFuture<T> result = new CompletableFuture<>();

    private Call(Callable<? extends T> call) {
        thread = new Thread(
                () -> {
                    try {
                        result.complete(call.call());
                    } catch (Throwable e) {
                        result.completeExceptionally(e);
                    }
                },
                "call");
        thread.setDaemon(true);
    }

    static <T> Call<T> start(Callable<? extends T> call) {
        Call<T> started = new Call<>(call);
        started.thread.start();
        return started;
    }

    boolean isDone() {
        return result.isDone();
    }

    /** What it gave; fails when that takes too long. */
    T get() throws Exception {
        return result.get(Race.LONG_SECONDS, TimeUnit.SECONDS);
    }

    /** What it threw; fails when that takes too long, or was nothing. */
    Throwable failure() throws Exception {
        try {
            throw new AssertionError("it gave " + get());
        } catch (ExecutionException e) {
            return e.getCause();
        }
    }
}
