// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lockkeeper.DistributedLock;
import io.lockkeeper.Guarantee;
import io.lockkeeper.Lease;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.tck.support.FaultContract;
import io.lockkeeper.tck.support.Rounds;
import io.lockkeeper.testkit.FaultyStore;
import io.lockkeeper.testkit.Gate;
import io.lockkeeper.testkit.StepKind;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Rule 13: interrupts and timeouts are honoured while waiting; flags are kept as {@code java.util.concurrent} does. */
@SuppressWarnings("LockNotBeforeTry")
public abstract class InterruptContract extends FaultContract {
    @AfterEach
    void noFlagIsLeft() {
        assertThat(Thread.interrupted()).as("an interrupt was left to others").isFalse();
    }

    // ---- What can be interrupted ----

    @ParameterizedTest
    @EnumSource
    void anInterruptBeforeTheWaitEndsItBeforeAnythingIsSent(InterruptibleWait wait) { // H19
        FaultyStore store = faulty();
        Lockkeeper keeper = keeper(store);
        wait.assumeOffered(keeper, name());
        store.resetCounts();
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> wait.in(keeper, name())).isInstanceOf(InterruptedException.class);
        assertThat(Thread.currentThread().isInterrupted())
                .as("the flag is cleared")
                .isFalse();
        assertThat(store.count()).isZero();
    }

    @ParameterizedTest
    @EnumSource
    void anInterruptWhileWaitingEndsTheWaitAndLeavesNothing(InterruptibleWait wait) throws Exception { // H19
        Lockkeeper holder = keeper();
        wait.assumeOffered(holder, name());
        FaultyStore store = faulty();
        Lockkeeper keeper = keeper(store);
        Lease held = null;
        if (wait.isLatch()) {
            assertThat(holder.latch(name()).trySetCount(1)).isTrue();
        } else if (wait.isSemaphore()) {
            held = holder.semaphore(name(), 1).acquire();
        } else {
            held = hold(holder.lock(name(), longLease()));
        }
        WaitingThread waiting = new WaitingThread(() -> wait.in(keeper, name()));
        if (wait.isLatch()) {
            await("it looks", () -> store.count(StepKind.LATCH) > 0);
            waiting.awaitParked();
        } else {
            awaitWaiting(holder, waiting);
        }
        waiting.thread.interrupt();
        waiting.assertInterrupted();
        assertNothingIsLeft(holder, held);
    }

    /** Waits until its claim is in the queue; where there is none, until it waits to come again. */
    private void awaitWaiting(Lockkeeper holder, WaitingThread waiting) throws InterruptedException {
        if (holder.guarantees().has(Guarantee.FAIR)) {
            awaitWaiters(holder, name(), 1);
        } else {
            waiting.awaitParked();
        }
    }

    private void assertNothingIsLeft(Lockkeeper holder, @Nullable Lease held) throws Exception {
        if (held != null) {
            if (holder.guarantees().has(Guarantee.FAIR)) {
                awaitWaiters(holder, name(), 0);
            }
            held.release();
            assertThat(holder.inspector().inspect(name()))
                    .as("nothing is granted later")
                    .isEmpty();
        }
    }

    @Test
    void anInterruptEndsTheWaitOfOneThreadAndNotOfOthersOfItsKeeper() throws Exception {
        Lockkeeper holder = keeper();
        Lease held = hold(holder.lock(name(), longLease()));
        Lockkeeper keeper = keeper();
        WaitingThread first =
                new WaitingThread(() -> keeper.lock(name()).acquire().release());
        awaitWaiting(holder, first);
        WaitingThread second =
                new WaitingThread(() -> keeper.lock(name()).acquire().release());
        WaitingThread third =
                new WaitingThread(() -> keeper.lock(name()).acquire().release());
        second.awaitParked();
        third.awaitParked();
        first.thread.interrupt(); // the one whose claim it was
        first.assertInterrupted();
        third.thread.interrupt();
        third.assertInterrupted();
        assertThat(second.failure.isDone()).isFalse();
        held.release();
        second.assertDoneWithFlag(false);
    }

    @Test
    void anInterruptAtTheInstantOfTheGrantLeaksNothing() throws Exception { // H20
        Lockkeeper holder = keeper();
        Lockkeeper keeper = keeper();
        Rounds rounds = Rounds.of(100, 2_000);
        for (int i = 0; rounds.goOnAfter(i); i++) {
            Lease held = hold(holder.lock(name(), longLease()));
            CompletableFuture<Lease> got = new CompletableFuture<>();
            WaitingThread waiting = new WaitingThread(
                    () -> got.complete(keeper.lock(name(), longLease()).acquire()));
            awaitWaiting(holder, waiting);
            CyclicBarrier together = new CyclicBarrier(2);
            Future<Boolean> releasing = async(() -> {
                together.await();
                return held.release();
            });
            together.await();
            waiting.thread.interrupt();
            assertThat(get(releasing)).isTrue();
            if (get(waiting.failure).isEmpty()) {
                assertThat(get(got).release()).isTrue();
            } else {
                waiting.assertInterrupted();
            }
            await("it is free", () -> isFree(holder.lock(name())));
        }
    }

    @Test
    void anInterruptDuringAStepDoesNotBreakIt() throws Exception {
        FaultyStore store = faulty();
        Lockkeeper keeper = keeper(store);
        Gate gate = pauseBefore(store, StepKind.CLAIM);
        CompletableFuture<Lease> got = new CompletableFuture<>();
        WaitingThread waiting = new WaitingThread(
                () -> got.complete(keeper.lock(name(), longLease()).acquire()));
        awaitArrival(gate);
        waiting.thread.interrupt();
        gate.open();
        if (get(waiting.failure).isEmpty()) {
            assertThat(get(waiting.flagAfter))
                    .as("acquired, with the flag kept")
                    .isTrue();
            assertThat(get(got).isValid()).isTrue();
            assertThat(get(got).release()).isTrue();
        } else {
            waiting.assertInterrupted();
        }
        Lockkeeper other = keeper();
        await("it is free", () -> isFree(other.lock(name())));
    }

    @Test
    void anInterruptWhileTheStoreIsDownIsNotForgotten() throws Exception {
        FaultyStore store = faulty();
        Lockkeeper keeper = keeper(store, b -> b.operationTimeout(Duration.ofMillis(300)));
        store.down();
        WaitingThread waiting = new WaitingThread(() -> keeper.lock(name()).acquire());
        await("the store is asked in vain", () -> store.count() > 1);
        waiting.thread.interrupt();
        Throwable failure = get(waiting.failure).orElseThrow();
        if (failure instanceof InterruptedException) {
            assertThat(get(waiting.flagAfter)).isFalse();
        } else {
            assertThat(failure).isInstanceOf(StoreUnavailableException.class);
            assertThat(get(waiting.flagAfter)).as("the flag is kept").isTrue();
        }
    }

    // ---- What cannot ----

    @Test
    void lockKeepsWaitingAndKeepsTheInterruptFlag() throws Exception { // H19
        Lockkeeper holder = keeper();
        Lease held = hold(holder.lock(name(), longLease()));
        Lockkeeper keeper = keeper();
        DistributedLock lock = keeper.lock(name());
        WaitingThread waiting = new WaitingThread(() -> {
            Thread.currentThread().interrupt();
            lock.lock();
            lock.unlock();
        });
        awaitWaiters(holder, name(), 1);
        for (int i = 0; i < 3; i++) {
            waiting.thread.interrupt();
            await("the interrupt was noticed", () -> !waiting.thread.isInterrupted());
            waiting.awaitParked();
        }
        assertThat(waiting.failure.isDone()).isFalse();
        awaitWaiters(holder, name(), 1);
        held.release();
        waiting.assertDoneWithFlag(true);
        await("it is free", () -> isFree(holder.lock(name())));
    }

    @Test
    void oneAttemptIgnoresTheFlagAndKeepsIt() throws Exception {
        Lockkeeper keeper = keeper();
        DistributedLock lock = keeper.lock(name());
        new WaitingThread(() -> {
                    Thread.currentThread().interrupt();
                    assertThat(lock.tryLock()).isTrue();
                    lock.unlock();
                    Lease lease = lock.tryAcquire().orElseThrow();
                    assertThat(lock.tryLock()).isFalse();
                    assertThat(lease.release()).isTrue();
                })
                .assertDoneWithFlag(true);
    }

    @Test
    void reentryOfAnInterruptedThreadIsAsInJavaUtilConcurrent() throws Exception {
        DistributedLock lock = keeper().lock(name());
        new WaitingThread(() -> {
                    lock.lock();
                    Thread.currentThread().interrupt();
                    assertThatThrownBy(lock::lockInterruptibly).isInstanceOf(InterruptedException.class);
                    Thread.currentThread().interrupt();
                    assertThatThrownBy(() -> lock.tryLock(1, TimeUnit.SECONDS))
                            .isInstanceOf(InterruptedException.class);
                    assertThat(lock.holdCount()).isEqualTo(1);
                    lock.unlock();
                })
                .assertDoneWithFlag(false);
    }

    @Test
    void unlockAndReleaseCompleteWhenInterruptedAndKeepTheFlag() throws Exception { // H21
        FaultyStore store = faulty();
        Lockkeeper keeper = keeper(store, b -> b.operationTimeout(LONG));
        DistributedLock lock = keeper.lock(name(), longLease());
        DistributedLock others = keeper().lock(name());
        new WaitingThread(() -> {
                    lock.lock();
                    Thread.currentThread().interrupt();
                    store.fail(StepKind.RELEASE); // also when it has to be repeated
                    lock.unlock();
                })
                .assertDoneWithFlag(true);
        assertThat(isFree(others)).isTrue();
        new WaitingThread(() -> {
                    Lease lease = lock.acquire();
                    Thread.currentThread().interrupt();
                    store.loseReply(StepKind.RELEASE);
                    assertThat(lease.release()).isTrue();
                })
                .assertDoneWithFlag(true);
        assertThat(isFree(others)).isTrue();
        new WaitingThread(() -> {
                    try (Lease lease = lock.acquire()) {
                        assertThat(lease.isValid()).isTrue();
                        Thread.currentThread().interrupt();
                    }
                })
                .assertDoneWithFlag(true);
        assertThat(isFree(others)).isTrue();
    }

    @Test
    void anInterruptDuringUnlockDoesNotBreakIt() throws Exception { // H21
        FaultyStore store = faulty();
        DistributedLock lock = keeper(store).lock(name(), longLease());
        Gate gate = pauseBefore(store, StepKind.RELEASE);
        WaitingThread waiting = new WaitingThread(() -> {
            lock.lock();
            lock.unlock();
        });
        awaitArrival(gate);
        waiting.thread.interrupt();
        gate.open();
        waiting.assertDoneWithFlag(true);
        assertThat(isFree(keeper().lock(name()))).isTrue();
    }

    // ---- Timeouts ----

    @Test
    void aWaitEndsAtItsTimeAndLeavesNothing() throws Exception {
        Duration wait = Duration.ofMillis(150);
        Lockkeeper holder = keeper();
        Lease held = hold(holder.lock(name(), longLease()));
        Lockkeeper keeper = keeper();
        long start = System.nanoTime();
        assertThat(keeper.lock(name()).tryAcquire(wait)).isEmpty();
        assertPassed("tryAcquire", start, System.nanoTime(), wait);
        start = System.nanoTime();
        assertThat(keeper.lock(name()).tryLock(wait.toMillis(), TimeUnit.MILLISECONDS))
                .isFalse();
        assertPassed("tryLock", start, System.nanoTime(), wait);
        start = System.nanoTime();
        assertThat(get(keeper.lock(name()).tryAcquireAsync(wait))).isEmpty();
        assertPassed("tryAcquireAsync", start, System.nanoTime(), wait);
        assertNothingIsLeft(holder, held);
    }

    @Test
    void aWaitForALatchEndsAtItsTime() throws Exception {
        Lockkeeper keeper = keeper();
        InterruptibleWait.LATCH_AWAIT.assumeOffered(keeper, name());
        assertThat(keeper.latch(name()).trySetCount(1)).isTrue();
        Duration wait = Duration.ofMillis(150);
        long start = System.nanoTime();
        assertThat(keeper.latch(name()).await(wait)).isFalse();
        assertPassed("await", start, System.nanoTime(), wait);
        keeper.latch(name()).countDown();
    }
}
