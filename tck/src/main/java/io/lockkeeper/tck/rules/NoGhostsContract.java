// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lockkeeper.DistributedLock;
import io.lockkeeper.Lease;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.Mode;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.spi.Answer;
import io.lockkeeper.tck.support.Attempt;
import io.lockkeeper.tck.support.StepContract;
import io.lockkeeper.tck.support.Waiting;
import io.lockkeeper.testkit.FaultyStore;
import io.lockkeeper.testkit.Gate;
import io.lockkeeper.testkit.LateStep;
import io.lockkeeper.testkit.StepKind;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Rule 4: a client that no longer waits is granted nothing, whatever is still on its way. */
public abstract class NoGhostsContract extends StepContract {
    private static final Duration SHORT = Duration.ofMillis(60);

    // ---- Leaving the queue ----

    @ParameterizedTest
    @EnumSource(Mode.class)
    @DisplayName("H19, H42: a waiter that times out leaves the queue and is granted nothing later")
    void aWaiterThatTimesOutLeavesTheQueue(Mode mode) throws Exception {
        needs(mode);
        Lease holder = Way.of(keeper(), name(), mode, veryLong()).occupy();
        Way way = Way.of(keeper(), name(), mode, veryLong());
        assertThat(way.tryAcquire(SHORT)).isEmpty();
        assertThat(waiters(name())).isZero();
        assertThat(holder.release()).isTrue();
        assertIdle(name());
    }

    @ParameterizedTest
    @EnumSource(Mode.class)
    @DisplayName("H19: an interrupted waiter leaves the queue and is granted nothing later")
    void anInterruptedWaiterLeavesTheQueue(Mode mode) throws Exception {
        needs(mode);
        needsQueue();
        Lease holder = Way.of(keeper(), name(), mode, veryLong()).occupy();
        Way way = Way.of(keeper(), name(), mode, veryLong());
        Attempt waiter = attempt(way::acquire);
        awaitWaiters(name(), 1);
        waiter.interrupt();
        assertThatThrownBy(waiter::get).isInstanceOf(InterruptedException.class);
        assertThat(waiters(name())).isZero();
        assertThat(holder.release()).isTrue();
        assertIdle(name());
    }

    @ParameterizedTest
    @EnumSource(Mode.class)
    void aFutureThatIsCancelledLeavesTheQueue(Mode mode) throws Exception {
        needs(mode);
        needsQueue();
        Lease holder = Way.of(keeper(), name(), mode, veryLong()).occupy();
        CompletableFuture<Lease> future =
                Way.of(keeper(), name(), mode, veryLong()).acquireAsync();
        awaitWaiters(name(), 1);
        assertThat(future.cancel(true)).isTrue();
        awaitWaiters(name(), 0);
        assertThat(holder.release()).isTrue();
        assertIdle(name());
    }

    @Test
    void aFutureThatIsTimedOutByTheUserLeavesTheQueue() throws Exception {
        needsQueue();
        Lease holder = keeper().lock(name(), veryLong()).acquire();
        CompletableFuture<Lease> future = keeper().lock(name(), veryLong()).acquireAsync();
        awaitWaiters(name(), 1);
        future.orTimeout(1, TimeUnit.MILLISECONDS);
        assertThatThrownBy(() -> get(future)).hasCauseInstanceOf(TimeoutException.class);
        awaitWaiters(name(), 0);
        assertThat(holder.release()).isTrue();
        assertIdle(name());
    }

    @Test
    void aWaiterThatLeavesTheQueueAdmitsThoseAfterIt() throws Exception {
        needs(Mode.SHARED);
        needsQueue();
        Lease reader = keeper().readWriteLock(name(), veryLong()).readLock().acquire();
        Attempt writer = attempt(keeper().lock(name(), veryLong())::acquire);
        awaitWaiters(name(), 1);
        Attempt behind = attempt(
                patient(store(), VERY_PATIENT).readWriteLock(name(), veryLong()).readLock()::acquire);
        awaitWaiters(name(), 2);
        writer.interrupt();
        assertThatThrownBy(writer::get).isInstanceOf(InterruptedException.class);
        Lease let = behind.get().orElseThrow();
        assertThat(reader.isValid()).isTrue();
        assertThat(let.release()).isTrue();
        assertThat(reader.release()).isTrue();
        assertIdle(name());
    }

    @ParameterizedTest
    @EnumSource(Waiting.GivesUp.class)
    void aWaiterThatGivesUpLeavesTheOtherWaitersOfItsProcessQueued(Waiting.GivesUp how) throws Exception {
        needsQueue();
        DistributedLock lock = keeper().lock(name(), veryLong());
        Lease holder = keeper().lock(name(), veryLong()).acquire();
        Waiting first = new Waiting(this, how, lock);
        first.awaitQueued();
        Attempt second = attempt(lock::acquire);
        first.giveUp();
        assertThat(holder.release()).isTrue();
        assertThat(second.get().orElseThrow().release()).isTrue();
        awaitIdle(name());
    }

    @Test
    void aFairWaiterThatGivesUpLeavesTheQueueAlone() throws Exception {
        needsQueue();
        LockOptions fair = veryLong().fair(true);
        Lockkeeper mine = keeper();
        Lease holder = keeper().lock(name(), fair).acquire();
        Attempt first = attempt(mine.lock(name(), fair)::acquire);
        awaitWaiters(name(), 1);
        Attempt second = attempt(mine.lock(name(), fair)::acquire);
        awaitWaiters(name(), 2);
        first.interrupt();
        assertThatThrownBy(first::get).isInstanceOf(InterruptedException.class);
        assertThat(waiters(name())).isEqualTo(1);
        assertThat(holder.release()).isTrue();
        assertThat(second.get().orElseThrow().release()).isTrue();
        assertIdle(name());
    }

    // ---- Claims that are still on their way ----

    @ParameterizedTest
    @EnumSource(Waiting.GivesUp.class)
    void aCopyOfAClaimThatArrivesAfterItsWaiterGaveUpIsRefused(Waiting.GivesUp how) throws Exception {
        needsQueue();
        FaultyStore faulty = faulty();
        DistributedLock lock = keeper(faulty).lock(name(), veryLong());
        Lease holder = keeper().lock(name(), veryLong()).acquire();
        LateStep late = faulty.sendLate(StepKind.CLAIM);
        Waiting waiter = new Waiting(this, how, lock);
        waiter.awaitQueued();
        waiter.giveUp();
        awaitWaiters(name(), 0);
        assertThat(holder.release()).isTrue();
        assertThat(late.deliver()).isInstanceOf(Answer.Refused.class);
        assertIdle(name());
    }

    @Test
    void aCopyOfAClaimThatArrivesWhileItsWaiterWaitsChangesNothing() throws Exception {
        needsQueue();
        FaultyStore faulty = faulty();
        DistributedLock lock = keeper(faulty).lock(name(), veryLong());
        Lease holder = keeper().lock(name(), veryLong()).acquire();
        LateStep late = faulty.sendLate(StepKind.CLAIM);
        Attempt waiter = attempt(lock::acquire);
        awaitWaiters(name(), 1);
        assertThat(late.deliver()).isInstanceOf(Answer.Queued.class);
        assertThat(waiters(name())).isEqualTo(1);
        assertThat(holder.release()).isTrue();
        assertThat(waiter.get().orElseThrow().release()).isTrue();
        assertIdle(name());
    }

    @ParameterizedTest
    @EnumSource(Mode.class)
    void theSecondCopyOfAClaimThatWasGrantedAndReleasedIsRefused(Mode mode) throws Exception {
        needs(mode);
        FaultyStore faulty = faulty();
        Way way = Way.of(keeper(faulty), name(), mode, veryLong());
        LateStep late = faulty.sendLate(StepKind.CLAIM);
        LateStep later = faulty.sendLate(StepKind.CLAIM);
        assertThat(way.acquire().release()).isTrue();
        assertThat(late.deliver()).isInstanceOf(Answer.Refused.class);
        assertThat(later.deliver()).isInstanceOf(Answer.Refused.class);
        assertIdle(name());
    }

    @Test
    void theSecondCopyOfATryThatWasGrantedAndReleasedIsRefused() {
        FaultyStore faulty = faulty();
        LateStep late = faulty.sendLate(StepKind.CLAIM);
        assertThat(isFree(keeper(faulty).lock(name(), veryLong()))).isTrue();
        assertThat(late.deliver()).isInstanceOf(Answer.Refused.class);
        assertIdle(name());
    }

    /** A keeper that does not ask for long; the store goes down when it asks again. */
    private Lockkeeper cutOffAtTheSecondClaim(FaultyStore faulty) {
        faulty.observe((kind, argument) -> {
            if (kind == StepKind.CLAIM && faulty.count(StepKind.CLAIM) == 2) {
                faulty.down();
            }
        });
        return closing(Lockkeeper.builder(faulty)
                .operationTimeout(Duration.ofMillis(500))
                .build());
    }

    @Test
    void anUnansweredClaimThatArrivesAfterItsWithdrawalIsRefused() throws Exception {
        FaultyStore faulty = faulty();
        DistributedLock lock = cutOffAtTheSecondClaim(faulty).lock(name(), veryLong());
        LateStep late = faulty.sendLate(StepKind.CLAIM);
        assertThatThrownBy(lock::acquire).isInstanceOf(StoreUnavailableException.class);
        Gate withdrawn = faulty.pauseAfter(StepKind.WITHDRAW);
        faulty.up();
        assertThat(withdrawn.awaitArrival(LONG))
                .as("it is withdrawn in the background")
                .isTrue();
        withdrawn.open();
        assertThat(late.deliver()).isInstanceOf(Answer.Refused.class);
        assertIdle(name());
    }

    @ParameterizedTest
    @EnumSource(Mode.class)
    void aClaimThatWasGrantedAndNeverAnsweredIsGivenBack(Mode mode) throws Exception {
        needs(mode);
        FaultyStore faulty = faulty();
        Lockkeeper keeper = cutOffAtTheSecondClaim(faulty);
        Way way = Way.of(keeper, name(), mode, veryLong());
        faulty.loseReply(StepKind.CLAIM);
        assertThatThrownBy(way::acquire).isInstanceOf(StoreUnavailableException.class);
        assertThat(holders(name())).as("granted, but nobody knows").hasSize(1);
        faulty.up();
        awaitIdle(name()); // long before the lease ends
    }

    @Test
    void aClaimThatWasQueuedAndNeverAnsweredIsTakenOut() throws Exception {
        needsQueue();
        Lease holder = keeper().lock(name(), veryLong()).acquire();
        FaultyStore faulty = faulty();
        Lockkeeper keeper = cutOffAtTheSecondClaim(faulty);
        faulty.loseReply(StepKind.CLAIM);
        assertThatThrownBy(() -> keeper.lock(name(), veryLong()).acquire())
                .isInstanceOf(StoreUnavailableException.class);
        assertThat(waiters(name())).isEqualTo(1);
        faulty.up();
        awaitWaiters(name(), 0);
        assertThat(holder.release()).isTrue();
        assertIdle(name());
    }
}
