// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import io.lockkeeper.DistributedLatch;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.spi.ClaimId;
import io.lockkeeper.spi.LatchState;
import io.lockkeeper.spi.LatchStep;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** A latch of one keeper. */
final class KeeperLatch implements DistributedLatch {
    private final Keeper keeper;
    private final String name;
    private final Object lane;

    KeeperLatch(Keeper keeper, String name) {
        this.keeper = keeper;
        this.name = name;
        this.lane = keeper.lane(name);
    }

    @Override
    public boolean trySetCount(long count) {
        Checks.latchCount(count);
        keeper.ensureOpen();
        ClaimId id = keeper.steps().newId();
        LatchState state = keeper.steps().latch(lane, deadline -> new LatchStep.Set(name, count, id, deadline));
        return notLate(state).outcome() == LatchState.Outcome.DONE;
    }

    @Override
    public void countDown() {
        keeper.ensureOpen();
        ClaimId id = keeper.steps().newId();
        notLate(keeper.steps().latch(lane, deadline -> new LatchStep.CountDown(name, id, deadline)));
    }

    private LatchState notLate(LatchState state) {
        if (state.outcome() == LatchState.Outcome.LATE) {
            throw new StoreUnavailableException(
                    "the store refused a step on the latch '" + name
                            + "' as late: it is too slow, or its clock runs away",
                    null);
        }
        return state;
    }

    @Override
    public long count() {
        keeper.ensureOpen();
        return keeper.steps().latch(lane, deadline -> new LatchStep.Look(name)).count();
    }

    @Override
    public void await() throws InterruptedException {
        await(Long.MAX_VALUE);
    }

    @Override
    public boolean await(Duration wait) throws InterruptedException {
        return await(Checks.waitNanos(wait));
    }

    private boolean await(long waitNanos) throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        long deadline = Checks.after(keeper.ticker().nanos(), waitNanos);
        Thread thread = Thread.currentThread();
        Latches.Waiter waiter = new Latches.Waiter(() -> LockSupport.unpark(thread));
        keeper.latches().begin(name, waiter);
        try {
            for (; ; ) {
                Object outcome = waiter.outcome;
                if (outcome instanceof RuntimeException e) {
                    throw e;
                }
                if (outcome != null) {
                    return true;
                }
                if (keeper.ticker().nanos() >= deadline) {
                    return false;
                }
                keeper.ticker().parkUntil(deadline);
                if (Thread.interrupted()) {
                    throw new InterruptedException();
                }
            }
        } finally {
            keeper.latches().end(name, waiter);
        }
    }

    @Override
    public CompletableFuture<Void> awaitAsync() {
        keeper.ensureOpen();
        CompletableFuture<@Nullable Void> future = new CompletableFuture<>();
        AtomicReference<Latches.@Nullable Waiter> mine = new AtomicReference<>();
        Latches.Waiter waiter = new Latches.Waiter(() -> keeper.events().run(() -> {
            Object outcome = Objects.requireNonNull(mine.get()).outcome;
            if (outcome instanceof Throwable e) {
                future.completeExceptionally(e);
            } else {
                future.complete(null);
            }
        }));
        mine.set(waiter);
        keeper.lanes().execute(lane, () -> {
            try {
                keeper.latches().begin(name, waiter);
                future.whenComplete((value, failure) -> keeper.latches().end(name, waiter));
            } catch (RuntimeException | Error e) {
                keeper.events().run(() -> future.completeExceptionally(e));
            }
        });
        return future;
    }

    @Override
    public String toString() {
        return "DistributedLatch[" + name + "]";
    }
}
