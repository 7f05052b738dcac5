// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.DistributedLatch;
import io.lockkeeper.DistributedLock;
import io.lockkeeper.Guarantee;
import io.lockkeeper.Lease;
import io.lockkeeper.LeaseLost;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.Mode;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.spi.Renewals;
import io.lockkeeper.spi.Terms;
import io.lockkeeper.tck.support.Attempt;
import io.lockkeeper.tck.support.Promise;
import io.lockkeeper.tck.support.StepContract;
import io.lockkeeper.testkit.Fate;
import io.lockkeeper.testkit.FaultyStore;
import io.lockkeeper.testkit.Gate;
import io.lockkeeper.testkit.StepKind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Rule 8: signals are hints. Lost or late ones cost time, never a lock, and never give one to two. */
public abstract class LostSignalsContract extends StepContract {
    /** Waiters look by themselves several times a second. */
    private static final Duration IMPATIENT = Duration.ofMillis(900);

    @BeforeEach
    void waitersAreSignalled() {
        needsQueue();
    }

    private FaultyStore deaf() {
        FaultyStore store = faulty();
        store.loseSignals(true);
        return store;
    }

    @ParameterizedTest
    @EnumSource(Mode.class)
    void aWaiterWithoutSignalsWakesWhenTheHoldersLeaseEnds(Mode mode) throws Exception {
        needs(mode);
        Lease holder = Way.of(keeper(), name(), mode, fixed(400)).occupy();
        // With this patience it is the holder's end and nothing else that wakes it.
        Way way = Way.of(patient(deaf(), VERY_PATIENT), name(), mode, veryLong());
        Lease lease = attempt(way::acquire).get().orElseThrow();
        assertThat(holder.isValid()).isFalse();
        assertThat(lease.release()).isTrue();
    }

    @Test
    void aWaiterWithoutSignalsWakesWhenTheLeaseOfAVanishedHolderEnds() throws Exception {
        FaultyStore cutOff = faulty();
        Lease holder = keeper(cutOff)
                .lock(name(), LockOptions.defaults().lease(millis(1_000)))
                .acquire();
        Attempt waiter = attempt(patient(deaf(), VERY_PATIENT).lock(name(), veryLong())::acquire);
        awaitWaiters(name(), 1);
        cutOff.down();
        Lease lease = waiter.get().orElseThrow();
        assertThat(holder.isValid()).isFalse();
        assertThat(lease.release()).isTrue();
    }

    @ParameterizedTest
    @EnumSource(Mode.class)
    void aWaiterWithoutSignalsLooksAgainAtASlowInterval(Mode mode) throws Exception {
        needs(mode);
        Lease holder = Way.of(keeper(), name(), mode, veryLong()).occupy();
        Way way = Way.of(patient(deaf(), IMPATIENT), name(), mode, veryLong());
        Attempt waiter = attempt(way::acquire);
        awaitWaiters(name(), 1);
        assertThat(holder.release()).isTrue();
        assertThat(waiter.get().orElseThrow().release()).isTrue();
        assertIdle(name());
    }

    @Test
    void aWaiterLooksAgainWhenSignalsMayHaveBeenLost() throws Exception {
        FaultyStore deaf = deaf();
        Lease holder = keeper().lock(name(), veryLong()).acquire();
        Attempt waiter = attempt(patient(deaf, VERY_PATIENT).lock(name(), veryLong())::acquire);
        awaitWaiters(name(), 1);
        assertThat(holder.release()).isTrue();
        assertThat(waiter.isDone()).as("it cannot know yet").isFalse();
        deaf.up(); // as after a reconnect
        assertThat(waiter.get().orElseThrow().release()).isTrue();
        assertIdle(name());
    }

    @Test
    void aWaiterThatMissedItsGrantClaimsAgain() throws Exception {
        FaultyStore deaf = deaf();
        Lease holder = keeper().lock(name(), veryLong()).acquire();
        LockOptions oneSecond = LockOptions.defaults().lease(millis(1_000));
        Attempt sleeper = attempt(patient(deaf, VERY_PATIENT).lock(name(), oneSecond)::acquire);
        awaitWaiters(name(), 1);
        deaf.down(); // it cannot look either
        assertThat(holder.release()).isTrue();
        awaitIdle(name()); // granted, and not taken up in time
        Lease other = keeper().lock(name(), veryLong()).acquire();
        assertThat(sleeper.isDone()).isFalse();
        deaf.up();
        awaitWaiters(name(), 1);
        assertThat(other.release()).isTrue();
        deaf.up();
        Lease lease = sleeper.get().orElseThrow();
        assertThat(lease.token()).isGreaterThan(other.token());
        lease.release();
    }

    @Test
    void aCrowdWithoutSignalsIsServedOneAfterTheOther() throws Exception {
        LockOptions fair = veryLong().fair(true);
        Lease holder = keeper().lock(name(), fair).acquire();
        AtomicInteger inside = new AtomicInteger();
        List<Future<?>> all = new ArrayList<>();
        for (int client = 0; client < 3; client++) {
            DistributedLock lock = patient(deaf(), IMPATIENT).lock(name(), fair);
            for (int i = 0; i < 2; i++) {
                all.add(async(() -> {
                    try (Lease lease = lock.acquire()) {
                        assertThat(inside.incrementAndGet()).isEqualTo(1);
                        assertThat(lease.isValid()).isTrue();
                        inside.decrementAndGet();
                    }
                    return null;
                }));
            }
        }
        awaitWaiters(name(), 6);
        assertThat(holder.release()).isTrue();
        for (Future<?> one : all) {
            get(one);
        }
        awaitIdle(name());
    }

    @Test
    void aHolderWhoseRecallIsLostLearnsOfItWithItsNextRenewal() throws Exception {
        AtomicReference<LeaseLost> loss = new AtomicReference<>();
        Lease holder = keeper(deaf())
                .lock(name(), LockOptions.defaults().lease(millis(3_000)))
                .acquire()
                .onLost(loss::set);
        assertThat(keeper().inspector().breakHold(name(), holder.token(), Duration.ZERO))
                .isTrue();
        Lease next = keeper().lock(name(), veryLong()).acquire();
        assertThat(holder.isValid()).isFalse();
        await("the loss is reported", () -> loss.get() != null);
        assertThat(next.release()).isTrue();
    }

    @Test
    void aLatchWaiterWithoutSignalsLooksAgain() throws Exception {
        Promise.needed(guarantees(), Guarantee.LATCH);
        FaultyStore deaf = deaf();
        DistributedLatch theirs = keeper().latch(name());
        assertThat(theirs.trySetCount(1)).isTrue();
        CompletableFuture<Void> bySlowInterval =
                patient(deaf(), IMPATIENT).latch(name()).awaitAsync();
        CompletableFuture<Void> byReconnect =
                patient(deaf, VERY_PATIENT).latch(name()).awaitAsync();
        await("both watch", () -> deaf.count(StepKind.LATCH) > 0);
        theirs.countDown();
        get(bySlowInterval);
        await("it has looked, or will", () -> {
            deaf.up();
            return byReconnect.isDone();
        });
    }

    // ---- Late signals ----

    @Test
    void aSignalBeforeTheAnswerOfTheClaimIsNotLost() throws Exception {
        FaultyStore faulty = faulty();
        DistributedLock lock = patient(faulty, VERY_PATIENT).lock(name(), veryLong());
        Lease holder = keeper().lock(name(), veryLong()).acquire();
        Gate answer = faulty.pauseAfter(StepKind.CLAIM);
        Attempt waiter = attempt(lock::acquire);
        assertThat(answer.awaitArrival(LONG)).isTrue();
        assertThat(waiters(name())).isEqualTo(1);
        assertThat(holder.release()).isTrue(); // grants it, while it is being told that it is queued
        answer.open();
        assertThat(waiter.get().orElseThrow().release()).isTrue();
        assertIdle(name());
    }

    @Test
    void aSignalAfterTheEndOfTheGrantGivesNothing() throws Exception {
        FaultyStore faulty = faulty();
        LockOptions oneSecond = LockOptions.defaults().lease(millis(1_000));
        Lease holder = keeper().lock(name(), veryLong()).acquire();
        Attempt waiter = attempt(patient(faulty, VERY_PATIENT).lock(name(), oneSecond)::acquire);
        awaitWaiters(name(), 1);
        faulty.holdSignals();
        for (int i = 0; i < 1_000; i++) {
            faulty.fail(StepKind.RENEW); // so that it does not find the grant by looking
        }
        assertThat(holder.release()).isTrue();
        Lease other = attempt(keeper().lock(name(), veryLong())::acquire).get().orElseThrow();
        faulty.calm(); // and delivers signals of a grant that has long been another's
        awaitWaiters(name(), 1);
        assertThat(waiter.isDone()).as("granted by an old signal").isFalse();
        assertThat(holders(name())).containsExactly(other.token());
        assertThat(other.release()).isTrue();
        Lease lease = waiter.get().orElseThrow();
        assertThat(lease.token()).isGreaterThan(other.token());
        lease.release();
    }

    @Test
    void aLateSignalGivesALeaseThatIsShorterByTheDelay() throws Exception {
        FaultyStore faulty = faulty();
        Lease holder = keeper().lock(name(), veryLong()).acquire();
        Attempt waiter = attempt(patient(faulty, VERY_PATIENT).lock(name(), veryLong())::acquire);
        awaitWaiters(name(), 1);
        faulty.holdSignals();
        assertThat(holder.release()).isTrue();
        long granted = System.nanoTime(); // or earlier
        // So that it cannot be lengthened; that it is there may be asked.
        faulty.disturb((kind, argument) ->
                argument instanceof Renewals batch && !batch.holds().isEmpty() ? Fate.requestLost() : Fate.answered());
        await(
                "some time passes",
                () -> System.nanoTime() - granted > Duration.ofMillis(500).toNanos());
        faulty.deliverSignals();
        Lease lease;
        try {
            lease = waiter.get().orElseThrow();
        } catch (StoreUnavailableException e) {
            return; // we were so slow that the grant had ended, which nothing could confirm
        }
        long now = System.nanoTime();
        long ends = now + lease.remaining().toNanos();
        assertThat(Duration.ofNanos(ends - granted))
                .as("validity, counted from the grant")
                .isLessThanOrEqualTo(millis(Terms.FIRST_LEASE.toMillis()));
    }

    @Test
    void signalsOfALockThatWasReleasedMeanwhileDisturbNobody() throws Exception {
        FaultyStore faulty = faulty();
        Lockkeeper mine = patient(faulty, VERY_PATIENT);
        Lease holder = keeper().lock(name(), veryLong()).acquire();
        Attempt waiter = attempt(mine.lock(name(), veryLong())::acquire);
        awaitWaiters(name(), 1);
        faulty.holdSignals();
        assertThat(holder.release()).isTrue();
        waiter.interrupt();
        assertThat(waiter.getUnlessInterrupted()).isEmpty();
        awaitIdle(name());
        Lease other = keeper().lock(name(), veryLong()).acquire();
        Attempt again = attempt(mine.lock(name(), veryLong())::acquire);
        awaitWaiters(name(), 1);
        faulty.deliverSignals();
        assertThat(holders(name())).containsExactly(other.token());
        assertThat(again.isDone()).isFalse();
        assertThat(other.release()).isTrue();
        assertThat(again.get().orElseThrow().release()).isTrue();
    }
}
