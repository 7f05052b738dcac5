// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import io.lockkeeper.KeeperClosedException;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.spi.StoreTime;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What fails together: a shard, a member, a whole store. A lane has its own threads for the steps that must not be made on
 * the caller's own, so that a lane that hangs delays no other; renewals, refreshes and endings have their own in each, so
 * that no crowd of other steps can starve them.
 */
final class Lane {
    /** More steps at a time than this would only queue in the store's connection pool. */
    private static final int STEPS_AT_ONCE = 8;

    private static final int ENDINGS_AT_ONCE = 2;

    /** What the store calls it. */
    final Object key;

    /** Steps for callers that must not make them on their own thread. */
    final Workers steps;

    /** Renewals of holds; its thread stays while something is held. */
    final Workers renewals;

    /** Refreshes of queued claims, and looks at latches. */
    final Workers refreshes;

    /** Endings of claims in the background. */
    final Workers endings;

    /** The store's clock as it was last read, and when on ours. */
    volatile @Nullable Reading clock;

    /** Whether a batch of renewals, or of refreshes, is under way. */
    volatile boolean renewing;

    volatile boolean refreshing;

    /** The last failure, while no step that began after it was answered; set by {@link Events}. */
    volatile @Nullable Failure failure;

    /** Whether the store could not decide the last claim; set by {@link Events}. */
    volatile boolean undecided;

    /** Whether it is reported as down; set by {@link Events}. */
    volatile boolean down;

    record Reading(StoreTime at, long sent) {}

    /** A step that failed, and when it began. */
    record Failure(StoreUnavailableException cause, long begun) {}

    Lane(Object key, Threads threads, Timer timer, Predicate<Lane> isHeldIn) {
        this.key = key;
        BooleanSupplier never = () -> false;
        this.steps = new Workers("step", threads, timer, STEPS_AT_ONCE, never);
        this.renewals = new Workers("renewal", threads, timer, 1, () -> isHeldIn.test(this));
        this.refreshes = new Workers("refresh", threads, timer, 1, never);
        this.endings = new Workers("ending", threads, timer, ENDINGS_AT_ONCE, never);
    }

    /** The last step's failure, if it began since then and none has succeeded meanwhile. */
    @Nullable
    StoreUnavailableException failureSince(long then) {
        Failure last = failure;
        return last != null && last.begun() >= then ? last.cause() : null;
    }

    /** Has a step made on a thread of the lane, and waits for it whatever interrupts come; keeps the flag. */
    <T> T call(Supplier<T> step) {
        Call<T> call = new Call<>(step);
        if (!steps.execute(call)) {
            throw call.closed();
        }
        try {
            return call.result.join();
        } catch (CompletionException e) {
            throw rethrow(e.getCause() == null ? e : e.getCause());
        }
    }

    private static final class Call<T> implements Workers.Task {
        private final Supplier<T> step;
        private final CompletableFuture<T> result = new CompletableFuture<>();

        Call(Supplier<T> step) {
            this.step = step;
        }

        @Override
        public void run() {
            try {
                result.complete(step.get());
            } catch (Throwable e) {
                result.completeExceptionally(e);
            }
        }

        @Override
        public void abort() {
            result.completeExceptionally(closed());
        }

        KeeperClosedException closed() {
            return new KeeperClosedException("the keeper was closed before the store had answered");
        }
    }

    /** Throws what another thread has caught, whatever it is. */
    @SuppressWarnings("unchecked")
    static <E extends Throwable> RuntimeException rethrow(Throwable e) throws E {
        throw (E) e;
    }

    void close(long deadline) {
        steps.close(deadline);
        renewals.close(deadline);
        refreshes.close(deadline);
        endings.close(deadline);
    }
}
