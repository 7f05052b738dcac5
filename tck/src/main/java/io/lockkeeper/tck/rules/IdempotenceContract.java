// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.DistributedLock;
import io.lockkeeper.DistributedReadWriteLock;
import io.lockkeeper.Lease;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.Mode;
import io.lockkeeper.tck.support.Attempt;
import io.lockkeeper.tck.support.StepContract;
import io.lockkeeper.testkit.FaultyStore;
import io.lockkeeper.testkit.LateStep;
import io.lockkeeper.testkit.StepKind;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Rule 3: what is repeated does no harm, and a release can only end its own hold. Here it is the engine that repeats, because
 * an answer was lost or a step is late.
 */
@SuppressWarnings("LockNotBeforeTry")
public abstract class IdempotenceContract extends StepContract {
    @ParameterizedTest
    @EnumSource(Mode.class)
    @DisplayName("H39: a claim whose answer is lost is granted once")
    void aClaimWhoseAnswerIsLostIsGrantedOnce(Mode mode) throws Exception {
        needs(mode);
        FaultyStore faulty = faulty();
        Way way = Way.of(keeper(faulty), name(), mode, veryLong());
        faulty.loseReply(StepKind.CLAIM);
        faulty.loseReply(StepKind.CLAIM);
        Lease lease = way.acquire();
        assertThat(faulty.count(StepKind.CLAIM)).isGreaterThanOrEqualTo(3);
        assertThat(holders(name())).containsExactly(lease.token());
        assertThat(lease.isValid()).isTrue();
        assertThat(lease.release()).isTrue();
        assertIdle(name());
    }

    @Test
    @DisplayName("H39: a claim that is repeated is not a second entry")
    void aLockWhoseAnswerIsLostIsUnlockedOnce() throws Exception {
        FaultyStore faulty = faulty();
        DistributedLock lock = keeper(faulty).lock(name(), veryLong());
        faulty.loseReply(StepKind.CLAIM);
        assertThat(lock.tryLock(LONG.toSeconds(), TimeUnit.SECONDS)).isTrue();
        assertThat(lock.holdCount()).isEqualTo(1);
        lock.unlock();
        assertIdle(name());
    }

    @ParameterizedTest
    @EnumSource(Mode.class)
    void aQueuedClaimWhoseAnswerIsLostIsInTheQueueOnce(Mode mode) throws Exception {
        needs(mode);
        needsQueue();
        Lease holder = Way.of(keeper(), name(), mode, veryLong()).occupy();
        FaultyStore faulty = faulty();
        Way way = Way.of(keeper(faulty), name(), mode, veryLong());
        faulty.loseReply(StepKind.CLAIM);
        Attempt waiter = attempt(way::acquire);
        await("the claim is repeated", () -> faulty.count(StepKind.CLAIM) >= 2);
        awaitWaiters(name(), 1);
        assertThat(holder.release()).isTrue();
        Lease lease = waiter.get().orElseThrow();
        assertThat(holders(name())).containsExactly(lease.token());
        assertThat(lease.release()).isTrue();
        assertIdle(name());
    }

    @ParameterizedTest
    @EnumSource(Mode.class)
    void aReleaseWhoseAnswerIsLostHasReleased(Mode mode) throws Exception {
        needs(mode);
        FaultyStore faulty = faulty();
        Lease lease = Way.of(keeper(faulty), name(), mode, veryLong()).acquire();
        faulty.loseReply(StepKind.RELEASE);
        assertThat(lease.release()).isTrue();
        assertThat(faulty.count(StepKind.RELEASE)).isGreaterThanOrEqualTo(2);
        assertIdle(name());
    }

    @Test
    void aReleaseThatIsLostOnItsWayIsRepeated() throws Exception {
        FaultyStore faulty = faulty();
        Lease lease = keeper(faulty).lock(name(), veryLong()).acquire();
        faulty.fail(StepKind.RELEASE);
        faulty.fail(StepKind.RELEASE);
        assertThat(lease.release()).isTrue();
        assertIdle(name());
    }

    @Test
    @DisplayName("H40: a retried unlock succeeds when another holds meanwhile, and does not end its hold")
    void aRetriedUnlockSucceedsWhenAnotherHoldsMeanwhileAndDoesNotEndItsHold() throws Exception {
        needsQueue();
        FaultyStore faulty = faulty();
        DistributedLock mine = keeper(faulty).lock(name(), veryLong());
        DistributedLock other = keeper().lock(name(), veryLong());
        mine.lock();
        Attempt waiter = attempt(other::acquire);
        awaitWaiters(name(), 1);
        faulty.loseReply(StepKind.RELEASE); // the first one has admitted the other
        mine.unlock();
        assertThat(faulty.count(StepKind.RELEASE)).isGreaterThanOrEqualTo(2);
        Lease theirs = waiter.get().orElseThrow();
        assertThat(theirs.isValid()).isTrue();
        assertThat(holders(name())).containsExactly(theirs.token());
        assertThat(theirs.release()).isTrue();
    }

    @Test
    @DisplayName("H40: a copy of a release that comes late does not end the next one's hold")
    void aReleaseThatComesLateDoesNotEndTheNextHold() throws Exception {
        FaultyStore faulty = faulty();
        Lockkeeper keeper = keeper(faulty);
        Lease mine = keeper.lock(name(), veryLong()).acquire();
        LateStep late = faulty.sendLate(StepKind.RELEASE);
        assertThat(mine.release()).isTrue();
        Lease theirs = keeper().lock(name(), veryLong()).acquire();
        late.deliver();
        assertThat(holders(name())).containsExactly(theirs.token());
        assertThat(theirs.release()).isTrue();
        assertThat(isFree(keeper.lock(name()))).isTrue();
    }

    @Test
    void aReleaseThatComesLateDoesNotEndALaterHoldOfTheSameClient() throws Exception {
        FaultyStore faulty = faulty();
        DistributedLock lock = keeper(faulty).lock(name(), veryLong());
        Lease first = lock.acquire();
        LateStep late = faulty.sendLate(StepKind.RELEASE);
        assertThat(first.release()).isTrue();
        Lease second = lock.acquire();
        late.deliver();
        assertThat(holders(name())).containsExactly(second.token());
        assertThat(second.release()).isTrue();
    }

    @Test
    void aDowngradeWhoseAnswerIsLostIsMadeOnce() {
        needs(Mode.SHARED);
        FaultyStore faulty = faulty();
        DistributedReadWriteLock lock = keeper(faulty).readWriteLock(name(), veryLong());
        lock.writeLock().lock();
        long writer = lock.writeLock().lease().token();
        lock.readLock().lock();
        faulty.loseReply(StepKind.DOWNGRADE);
        lock.writeLock().unlock();
        Lease reader = lock.readLock().lease();
        assertThat(reader.isValid()).isTrue();
        assertThat(reader.token()).isGreaterThan(writer);
        assertThat(holders(name())).containsExactly(reader.token());
        lock.readLock().unlock();
        assertIdle(name());
    }

    @Test
    void aRenewalWhoseAnswerIsLostHasRenewed() throws Exception {
        FaultyStore faulty = faulty();
        Lease lease = keeper(faulty).lock(name(), fixed(20_000)).acquire();
        faulty.loseReply(StepKind.RENEW);
        assertThat(lease.renew(VERY_LONG)).isTrue();
        assertThat(expiresIn(name())).isGreaterThan(VERY_LONG.dividedBy(2));
        assertThat(lease.release()).isTrue();
        assertIdle(name());
    }

    @Test
    void aRenewalThatComesLateBringsNothingBack() throws Exception {
        FaultyStore faulty = faulty();
        Lease lease = keeper(faulty).lock(name(), fixed(20_000)).acquire();
        LateStep late = faulty.sendLate(StepKind.RENEW);
        assertThat(lease.renew(VERY_LONG)).isTrue();
        assertThat(lease.release()).isTrue();
        late.deliver();
        assertIdle(name());
    }

    @ParameterizedTest
    @EnumSource(Mode.class)
    void aWithdrawalWhoseAnswerIsLostHasLeftTheQueue(Mode mode) throws Exception {
        needs(mode);
        needsQueue();
        Lease holder = Way.of(keeper(), name(), mode, veryLong()).occupy();
        FaultyStore faulty = faulty();
        Way way = Way.of(keeper(faulty), name(), mode, veryLong());
        faulty.loseReply(StepKind.WITHDRAW);
        assertThat(way.tryAcquire(Duration.ofMillis(50))).isEmpty();
        assertThat(waiters(name())).isZero();
        await("the withdrawal is repeated", () -> faulty.count(StepKind.WITHDRAW) >= 2);
        assertThat(holders(name())).containsExactly(holder.token());
        assertThat(holder.release()).isTrue();
        awaitIdle(name());
    }

    @Test
    void aWithdrawalThatIsLostOnItsWayIsRepeated() throws Exception {
        needsQueue();
        Lease holder = keeper().lock(name(), veryLong()).acquire();
        FaultyStore faulty = faulty();
        faulty.fail(StepKind.WITHDRAW);
        assertThat(keeper(faulty).lock(name(), veryLong()).tryAcquire(Duration.ofMillis(50)))
                .isEmpty();
        awaitWaiters(name(), 0);
        assertThat(holder.release()).isTrue();
    }

    @Test
    void aWithdrawalThatComesLateDoesNotEndALaterClaimOfTheSameClient() throws Exception {
        needsQueue();
        FaultyStore faulty = faulty();
        DistributedLock mine = keeper(faulty).lock(name(), veryLong());
        Lease holder = keeper().lock(name(), veryLong()).acquire();
        LateStep late = faulty.sendLate(StepKind.WITHDRAW);
        assertThat(mine.tryAcquire(Duration.ofMillis(50))).isEmpty();
        awaitWaiters(name(), 0);
        Attempt waiter = attempt(mine::acquire);
        awaitWaiters(name(), 1);
        late.deliver();
        assertThat(waiters(name())).isEqualTo(1);
        assertThat(holder.release()).isTrue();
        Lease lease = waiter.get().orElseThrow();
        assertThat(holders(name())).containsExactly(lease.token());
        assertThat(lease.release()).isTrue();
    }
}
