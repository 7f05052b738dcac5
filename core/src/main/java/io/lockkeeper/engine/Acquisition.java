// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import io.lockkeeper.Lease;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The ways to acquire what a request asks for: on the caller's thread, or as a future. */
final class Acquisition {
    static final long FOREVER = Long.MAX_VALUE;

    private Acquisition() {}

    /** Acquires within that many nanoseconds, 0 for one attempt; null when it was not acquired. */
    static @Nullable LeaseHandle acquire(
            Keeper keeper, LockRequest request, @Nullable Thread owner, long waitNanos, boolean interruptible)
            throws InterruptedException {
        if (interruptible && Thread.interrupted()) {
            throw new InterruptedException();
        }
        long start = keeper.ticker().nanos();
        // One attempt takes as long as its step does, even if that is another thread's step.
        boolean once = waitNanos == 0;
        long deadline = once ? Long.MAX_VALUE : Checks.after(start, waitNanos);
        Throwable trace = keeper.traces().sample();
        try {
            for (; ; ) {
                Result result = attempt(keeper, request, new ThreadWaiter(once, deadline, interruptible, owner, trace));
                if (result instanceof Result.Acquired acquired) {
                    LeaseHandle handle = acquired.possession().handOut();
                    if (handle != null) {
                        keeper.events().acquired(handle, start);
                        return handle;
                    }
                    if (!once && keeper.ticker().nanos() < deadline) {
                        continue; // what it got had run out before it could be taken
                    }
                } else if (result instanceof Result.Failed failed) {
                    throw Lane.<RuntimeException>rethrow(failed.cause());
                }
                keeper.events().notAcquired(request.name(), start);
                return null;
            }
        } catch (InterruptedException e) {
            keeper.events().notAcquired(request.name(), start);
            throw e;
        }
    }

    private static Result attempt(Keeper keeper, LockRequest request, ThreadWaiter waiter) throws InterruptedException {
        LocalQueue queue = keeper.queueFor(request);
        try {
            while (!queue.enter(waiter)) {
                keeper.forget(queue); // done, but for a stack that overflowed just then
                queue = keeper.queueFor(request);
            }
            return waiter.await(queue, keeper.claims(), keeper.ticker());
        } catch (RuntimeException | Error e) {
            queue.expel(waiter); // nothing should be thrown there but by a stack that overflows, or the like
            throw e;
        }
    }

    /** {@link #acquire} for those who do not want to be interrupted. */
    static @Nullable LeaseHandle acquireUninterruptibly(
            Keeper keeper, LockRequest request, @Nullable Thread owner, long waitNanos) {
        try {
            return acquire(keeper, request, owner, waitNanos, false);
        } catch (InterruptedException e) {
            throw new AssertionError("an uninterruptible wait was interrupted", e);
        }
    }

    /** What a wait without end has brought. */
    static LeaseHandle acquired(@Nullable LeaseHandle handle) {
        return Objects.requireNonNull(handle, "a wait without end ended with nothing");
    }

    // ---- Futures ----

    static CompletableFuture<Lease> future(Keeper keeper, LockRequest request) {
        return Acquisition.<Lease>future(keeper, request, FOREVER, Acquisition::acquired);
    }

    static CompletableFuture<Optional<Lease>> future(Keeper keeper, LockRequest request, long waitNanos) {
        return Acquisition.<Optional<Lease>>future(keeper, request, waitNanos, Optional::ofNullable);
    }

    private static <T> CompletableFuture<T> future(
            Keeper keeper, LockRequest request, long waitNanos, Function<@Nullable LeaseHandle, T> value) {
        keeper.ensureOpen();
        CompletableFuture<T> future = new CompletableFuture<>();
        AsyncAcquisition acquisition = new AsyncAcquisition(
                keeper,
                request,
                null,
                waitNanos,
                keeper.events()::runCallback,
                outcome -> complete(keeper, future, outcome, value));
        // However the future is completed, by us or by anybody else, nobody waits any longer.
        future.whenComplete((v, failure) -> acquisition.abandon());
        acquisition.begin();
        return future;
    }

    /** Completes a future on the user's executor; what comes too late for it is given back. */
    static <T> void complete(
            Keeper keeper,
            CompletableFuture<T> future,
            AsyncAcquisition.Outcome outcome,
            Function<@Nullable LeaseHandle, T> value) {
        if (outcome instanceof AsyncAcquisition.Outcome.Acquired acquired) {
            LeaseHandle handle = acquired.handle();
            keeper.events()
                    .handOverHere(
                            () -> {
                                if (!future.complete(value.apply(handle))) {
                                    handle.releaseInBackground();
                                }
                            },
                            () -> {
                                handle.releaseInBackground();
                                future.completeExceptionally(shutDown(handle.name()));
                            });
        } else if (outcome instanceof AsyncAcquisition.Outcome.Failed failed) {
            keeper.events().run(() -> future.completeExceptionally(failed.cause()));
        } else {
            keeper.events().run(() -> future.complete(value.apply(null)));
        }
    }

    /** The user's executor was shut down before it had taken a lock over: says so, here and in the log. */
    static RejectedExecutionException shutDown(String name) {
        String what =
                Printable.quoted(name) + " was released: the keeper's executor was shut down before it had run the"
                        + " completion of the future";
        Log.warning(what, null);
        return new RejectedExecutionException(what);
    }
}
