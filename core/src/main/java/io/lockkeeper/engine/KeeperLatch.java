// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import io.lockkeeper.DistributedLatch;
import io.lockkeeper.KeeperClosedException;
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
    private final Lane lane;

    KeeperLatch(Keeper keeper, String name) {
        this.keeper = keeper;
        this.name = name;
        this.lane = keeper.calls().lane(name);
    }

    @Override
    public boolean trySetCount(long count) {
        Checks.latchCount(count);
        keeper.ensureOpen();
        ClaimId id = keeper.claims().newId();
        LatchState state = keeper.calls().latch(lane, deadline -> new LatchStep.Set(name, count, id, deadline));
        return notLate(state).outcome() == LatchState.Outcome.DONE;
    }

    @Override
    public void countDown() {
        keeper.ensureOpen();
        ClaimId id = keeper.claims().newId();
        notLate(keeper.calls().latch(lane, deadline -> new LatchStep.CountDown(name, id, deadline)));
    }

    private LatchState notLate(LatchState state) {
        if (state.outcome() == LatchState.Outcome.LATE) {
            throw new StoreUnavailableException(
                    "the store refused a step on the latch " + Printable.quoted(name)
                            + " as late: it is too slow, or its clock runs away",
                    null);
        }
        return state;
    }

    @Override
    public long count() {
        keeper.ensureOpen();
        return keeper.calls().latch(lane, deadline -> new LatchStep.Look(name)).count();
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
            while (waiter.outcome == null && keeper.ticker().nanos() < deadline) {
                keeper.ticker().parkUntil(deadline);
                if (Thread.interrupted()) {
                    throw new InterruptedException();
                }
            }
            if (waiter.outcome == null) {
                keeper.latches().lookAtTheEnd(name);
            }
            if (waiter.outcome instanceof RuntimeException e) {
                throw e;
            }
            return waiter.outcome != null;
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
        Beginning beginning = new Beginning(waiter, future);
        if (!lane.steps.execute(beginning)) {
            beginning.abort();
        }
        return future;
    }

    /** The first look of one who waits without a thread. */
    private final class Beginning implements Workers.Task {
        private final Latches.Waiter waiter;
        private final CompletableFuture<@Nullable Void> future;
        private final long asked = keeper.ticker().nanos();

        Beginning(Latches.Waiter waiter, CompletableFuture<@Nullable Void> future) {
            this.waiter = waiter;
            this.future = future;
        }

        @Override
        public void run() {
            if (future.isDone()) {
                return;
            }
            try {
                keeper.calls().refuseIfDown(lane, asked);
                keeper.latches().begin(name, waiter);
                future.whenComplete((value, failure) -> keeper.latches().end(name, waiter));
            } catch (Throwable e) {
                keeper.events().run(() -> future.completeExceptionally(e));
            }
        }

        @Override
        public void abort() {
            future.completeExceptionally(new KeeperClosedException(
                    "the keeper has been closed; nobody awaits " + Printable.quoted(name) + " any more"));
        }
    }

    @Override
    public String toString() {
        return "DistributedLatch[" + Printable.text(name) + "]";
    }
}
