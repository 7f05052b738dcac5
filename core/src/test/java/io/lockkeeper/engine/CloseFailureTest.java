// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lockkeeper.DistributedLock;
import io.lockkeeper.KeeperClosedException;
import io.lockkeeper.Lease;
import io.lockkeeper.LockInfo;
import io.lockkeeper.LockOptions;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.memory.MemoryCore;
import io.lockkeeper.memory.MemoryStore;
import io.lockkeeper.spi.Subscription;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A keeper is closed while the store hangs or a part of it fails: nobody is left waiting, and the rest is closed. */
final class CloseFailureTest {
    private static final Duration TIMEOUT = Duration.ofMillis(200);

    private final MemoryCore core = MemoryCore.system();
    private final MemoryStore store = new MemoryStore(core);
    private final Rig other = new Rig(core, null);
    private final CountDownLatch answers = new CountDownLatch(1);
    private final AtomicInteger hanging = new AtomicInteger();

    @AfterEach
    void end() {
        answers.countDown();
        other.close();
    }

    private Rig withHangingWithdrawals() {
        return new Rig(
                core,
                Intercepted.store(store, (step, args, inner) -> {
                    if (step.equals("withdraw")) {
                        hanging.incrementAndGet();
                        awaitWhateverInterrupts(answers);
                    }
                    return inner.make();
                }),
                TIMEOUT,
                false);
    }

    private static void awaitWhateverInterrupts(CountDownLatch latch) {
        while (latch.getCount() > 0) {
            try {
                latch.await();
            } catch (InterruptedException e) {
                // a driver that hangs in a socket does not hear it
            }
        }
    }

    private int waiters(String name) {
        return store.inspect(name).map(LockInfo::waiters).orElse(0);
    }

    @Test
    void timedFuturesEndWithTheKeeperThoughTheirWithdrawalsHang() throws Exception {
        Rig rig = withHangingWithdrawals();
        List<Lease> held = new ArrayList<>();
        List<CompletableFuture<Optional<Lease>>> futures = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            held.add(other.lock("x" + i).acquire());
            futures.add(rig.lock("x" + i).tryAcquireAsync(Duration.ofMillis(100)));
        }
        Rig.await("two withdrawals hang, and others wait for them", () -> hanging.get() >= 2);
        rig.close();
        for (CompletableFuture<Optional<Lease>> future : futures) {
            assertThat(future.handle((lease, failure) -> failure != null || lease.isEmpty())
                            .get(Race.LONG_SECONDS, TimeUnit.SECONDS))
                    .as("ended without the lock")
                    .isTrue();
        }
        held.forEach(Lease::release);
    }

    @Test
    void anInterruptedCallForSeveralLocksEndsWithTheKeeperThoughItsWithdrawalHangs() throws Exception {
        Rig rig = withHangingWithdrawals();
        Lease held = other.lock("b").acquire();
        DistributedLock both = MultiLock.of(rig.lock("a"), rig.lock("b"));
        Call<Boolean> call = Call.start(() -> {
            both.lockInterruptibly();
            return true;
        });
        Rig.await("it waits for the second", () -> waiters("b") == 1);
        call.thread.interrupt();
        Rig.await("the withdrawal hangs", () -> hanging.get() > 0);
        rig.close();
        assertThat(call.failure()).isInstanceOfAny(InterruptedException.class, KeeperClosedException.class);
        assertThat(held.release()).isTrue();
    }

    @Test
    void waitersWithoutTimeLimitEndWhenTheKeeperCloses() throws Exception {
        Rig rig = withHangingWithdrawals();
        Lease held = other.lock("x").acquire();
        Call<Lease> call = Call.start(() -> rig.lock("x").acquire());
        CompletableFuture<Lease> future = rig.lock("x").acquireAsync();
        // A thread whose step is under way withdraws its claim itself, and would hang in that.
        Rig.await("they wait", () -> waiters("x") == 1 && call.thread.getState() == Thread.State.WAITING);
        rig.close();
        assertThat(call.failure()).isInstanceOf(KeeperClosedException.class);
        assertThat(future.handle((lease, failure) -> failure).get(Race.LONG_SECONDS, TimeUnit.SECONDS))
                .isInstanceOf(KeeperClosedException.class);
        assertThat(held.release()).isTrue();
    }

    @Test
    void closingDoesNotWaitForAnErrorThatNoRepetitionCures() throws Exception {
        Rig rig = new Rig(
                core,
                Intercepted.store(store, (step, args, inner) -> {
                    if (step.equals("release")) {
                        throw StoreUnavailableException.lasting("the tables are gone", null);
                    }
                    return inner.make();
                }),
                Duration.ofMinutes(10),
                false);
        Lease lease = rig.lock("x").acquire();
        Call<Boolean> close = Call.start(() -> {
            rig.close();
            return true;
        });
        assertThat(close.get()).isTrue();
        assertThat(lease.isValid()).isFalse();
        rig.assertNothingIsLeftHere();
    }

    /** An interrupt of the thread that closes does not make a leader end earlier. */
    @Test
    void anInterruptedCloseStillWaitsForTheLeader() throws Exception {
        Rig rig = new Rig(core, null);
        CountDownLatch mayEnd = new CountDownLatch(1);
        CountDownLatch stops = new CountDownLatch(1);
        AtomicBoolean hasEnded = new AtomicBoolean();
        new KeeperElection(rig.keeper, "x", LockOptions.defaults()).start(lease -> {
            try {
                new CountDownLatch(1).await();
            } catch (InterruptedException e) {
                stops.countDown();
                awaitWhateverInterrupts(mayEnd);
                hasEnded.set(true);
            }
        });
        Rig.await("it leads", () -> !rig.keeper.claims().all().isEmpty() && rig.hold() != null);
        Call<Boolean> close = Call.start(() -> {
            rig.close();
            return hasEnded.get();
        });
        assertThat(stops.await(Race.LONG_SECONDS, TimeUnit.SECONDS)).isTrue();
        Rig.await("the closing thread waits", () -> close.thread.getState() == Thread.State.TIMED_WAITING);
        close.thread.interrupt();
        Rig.await(
                "it waits again, or has ended",
                () -> close.isDone()
                        || (!close.thread.isInterrupted() && close.thread.getState() == Thread.State.TIMED_WAITING));
        mayEnd.countDown();
        assertThat(close.get()).as("the leader had ended before").isTrue();
    }

    @Test
    void aSubscriptionThatCannotBeClosedKeepsNothingElseOpen() throws Exception {
        AtomicBoolean isStoreClosed = new AtomicBoolean();
        Rig rig = new Rig(
                core,
                Intercepted.store(store, (step, args, inner) -> {
                    if (step.equals("close")) {
                        isStoreClosed.set(true);
                    }
                    Object answer = inner.make();
                    return step.equals("listen") ? failsToClose() : answer;
                }),
                TIMEOUT,
                true);
        Lease lease = rig.lock("x").acquire();
        assertThatThrownBy(rig::close).hasMessage("the connection is gone");
        assertThat(isStoreClosed).isTrue();
        assertThat(lease.isValid()).isFalse();
        rig.assertNothingIsLeft();
        rig.close(); // and again, without waiting for what has ended
    }

    private static Subscription failsToClose() {
        return () -> {
            throw new IllegalStateException("the connection is gone");
        };
    }

    @Test
    void aPartThatFailsToEndKeepsNothingElseOpen() throws Exception {
        AtomicInteger awaited = new AtomicInteger();
        Rig rig = new Rig(core, null);
        for (int i = 0; i < 3; i++) {
            rig.keeper.closeWithMe(new Keeper.Child() {
                @Override
                public void stop() {}

                @Override
                public void awaitEnd(long deadline) {
                    awaited.incrementAndGet();
                    throw new IllegalStateException("it does not end");
                }
            });
        }
        Lease lease = rig.lock("x").acquire();
        assertThatThrownBy(rig::close).hasMessage("it does not end");
        assertThat(awaited).hasValue(3);
        assertThat(lease.isValid()).isFalse();
        rig.assertNothingIsLeft();
    }
}
