// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.support;

import io.lockkeeper.Lease;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;

/** A thread that tries to acquire a lease and can be interrupted, and the outcome. */
public final class Attempt implements AutoCloseable {
    private final CompletableFuture<Optional<Lease>> outcome = new CompletableFuture<>();
    private final Thread thread;
    private volatile boolean flag;

    private Attempt(Callable<Optional<Lease>> attempt) {
        thread = new Thread(
                () -> {
                    try {
                        Optional<Lease> got = attempt.call();
                        flag = Thread.interrupted();
                        outcome.complete(got);
                    } catch (Throwable e) {
                        flag = Thread.interrupted();
                        outcome.completeExceptionally(e);
                    }
                },
                "attempt");
        thread.setDaemon(true);
    }

    public static Attempt at(Callable<Optional<Lease>> attempt) {
        Attempt begun = new Attempt(attempt);
        begun.thread.start();
        return begun;
    }

    public void interrupt() {
        thread.interrupt();
    }

    public boolean isDone() {
        return outcome.isDone();
    }

    /** Whether the thread's interrupt flag was set when the attempt had ended. */
    public boolean keptFlag() {
        return flag;
    }

    /** What it got; throws what it threw. */
    public Optional<Lease> get() throws Exception {
        try {
            return outcome.get(Contract.LONG.toSeconds(), TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof Exception cause) {
                throw cause;
            }
            throw e;
        }
    }

    /** What it got; empty if it was interrupted. */
    public Optional<Lease> getUnlessInterrupted() throws Exception {
        try {
            return get();
        } catch (InterruptedException e) {
            return Optional.empty();
        }
    }

    /** Ends it, whatever it waits for. */
    @Override
    public void close() throws InterruptedException {
        while (thread.isAlive()) {
            thread.interrupt();
            thread.join(100);
        }
    }
}
