// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import io.lockkeeper.KeeperClosedException;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A future that waits, and occupies no thread: its store steps run on the lane's threads, its completion on the keeper's
 * executor. Whatever else completes the future (cancel, a timeout of the user's) makes it leave the queue; a possession
 * that comes too late for it is given back.
 *
 * @param <T> what the future gives
 */
final class FutureWaiter<T> extends Waiter {
    private final CompletableFuture<T> future = new CompletableFuture<>();
    private final Function<@Nullable LeaseHandle, T> result;
    private final Keeper keeper;
    private final Want want;
    private final Object lane;
    private final long start;
    private volatile @Nullable LocalQueue queue;
    private volatile boolean entering;
    private volatile Timer.@Nullable Task alarm;

    /** The outcome that has been dealt with: one that comes while the queue is being entered may be seen twice. */
    private final AtomicReference<@Nullable Object> finished = new AtomicReference<>();

    FutureWaiter(Keeper keeper, Want want, long waitNanos, Function<@Nullable LeaseHandle, T> result) {
        super(waitNanos == 0, Checks.after(keeper.ticker().nanos(), waitNanos), null, keeper.sampleTrace());
        this.keeper = keeper;
        this.want = want;
        this.lane = keeper.lane(want.name());
        this.result = result;
        this.start = keeper.ticker().nanos();
    }

    CompletableFuture<T> begin() {
        future.whenComplete((value, failure) -> {
            Timer.Task set = alarm;
            if (set != null) {
                keeper.timer().cancel(set);
            }
            if (failure != null) {
                onLane(this::abandon);
            }
        });
        onLane(this::enter);
        return future;
    }

    private void enter() {
        try {
            entering = true;
            LocalQueue entered;
            do {
                entered = keeper.queueFor(want);
                queue = entered;
            } while (!entered.enter(this));
            entering = false;
            if (future.isDone()) {
                abandon();
            } else if (!once && deadline != Long.MAX_VALUE) {
                alarm = keeper.timer().schedule(deadline, () -> onLane(this::timeOut));
            }
            if (isRole(outcome)) {
                work();
            } else if (outcome != null) {
                wake();
            }
        } catch (RuntimeException | Error e) {
            keeper.events().run(() -> future.completeExceptionally(e));
        }
    }

    @Override
    void wake() {
        Object o = outcome;
        if (entering || o == null || o == GONE) {
            return; // whoever is entering looks at the outcome itself
        }
        if (o == REST) {
            keeper.timer().schedule(restUntil, () -> onLane(this::work));
        } else if (!isRole(o)) {
            keeper.events().run(this::finish);
        } else if (!working) {
            onLane(this::work);
        }
    }

    private static boolean isRole(@Nullable Object o) {
        return o == DRIVE || o == CONFIRM;
    }

    private void work() {
        LocalQueue in = Objects.requireNonNull(queue, "it has not entered");
        for (boolean goesOn = true; goesOn; ) {
            Object o = outcome;
            if (o == DRIVE || (o == REST && keeper.ticker().nanos() >= restUntil)) {
                goesOn = in.drive(this);
            } else {
                goesOn = o == CONFIRM && in.confirm(this);
            }
        }
    }

    private void finish() {
        Object o = outcome;
        if (finished.getAndSet(o) == o) {
            return;
        }
        if (o instanceof Possession possession) {
            if (possession.accept()) {
                LeaseHandle handle = possession.handOut();
                if (future.complete(result.apply(handle))) {
                    keeper.acquired(handle, start);
                } else {
                    handle.releaseAsync();
                }
            } else {
                onLane(() -> {
                    possession.hold.discard();
                    if (once || keeper.ticker().nanos() >= deadline) {
                        notAcquired();
                    } else {
                        enter();
                    }
                });
            }
        } else if (o == NOT_ACQUIRED) {
            notAcquired();
        } else if (o instanceof Throwable e) {
            future.completeExceptionally(e);
        }
    }

    private void notAcquired() {
        if (future.complete(result.apply(null))) {
            keeper.notAcquired(want.name(), start);
        }
    }

    private void timeOut() {
        LocalQueue in = queue;
        if (in != null && in.leave(this)) {
            keeper.events().run(this::notAcquired);
        }
    }

    private void abandon() {
        LocalQueue in = queue;
        if (in != null && in.leave(this)) {
            keeper.notAcquired(want.name(), start);
        }
    }

    private void onLane(Runnable step) {
        try {
            keeper.lanes().execute(lane, step);
        } catch (RejectedExecutionException e) {
            future.completeExceptionally(new KeeperClosedException("the keeper has been closed"));
        }
    }
}
