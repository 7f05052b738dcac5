// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lockkeeper.DistributedLock;
import io.lockkeeper.Guarantee;
import io.lockkeeper.Inspector;
import io.lockkeeper.Lease;
import io.lockkeeper.LeaseLost;
import io.lockkeeper.LeaseLost.Reason;
import io.lockkeeper.LeaseLostException;
import io.lockkeeper.LockInfo;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.tck.support.FaultContract;
import io.lockkeeper.tck.support.Promise;
import io.lockkeeper.testkit.FaultyStore;
import io.lockkeeper.testkit.Gate;
import io.lockkeeper.testkit.StepKind;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/** Rule 16: a break closes the name until the holder has acknowledged or its lease has ended. */
@SuppressWarnings("LockNotBeforeTry")
public abstract class BreakContract extends FaultContract {
    private static boolean breakHold(Lockkeeper breaker, Lease lease) {
        return breaker.inspector().breakHold(lease.name(), lease.token(), Duration.ZERO);
    }

    private static boolean breakHoldNow(Lockkeeper breaker, Lease lease) {
        return breaker.inspector().breakHoldNow(lease.name(), lease.token(), Duration.ZERO);
    }

    @Test
    void theHolderIsNotifiedAndTheNameOpensWithoutItsAction() throws Exception {
        Lease lease = hold(keeper().lock(name(), keptSafely()));
        CompletableFuture<LeaseLost> loss = lossOf(lease);
        Lockkeeper breaker = keeper();
        assertThat(breakHold(breaker, lease)).isTrue();
        assertThat(get(loss).reason()).isEqualTo(Reason.BROKEN);
        Lease next = breaker.lock(name(), longLease()).tryAcquire(LONG).orElseThrow();
        assertThat(next.token()).isGreaterThan(lease.token());
        assertThat(lease.isValid()).isFalse();
        assertThat(lease.release()).isFalse();
        assertThat(next.isValid()).isTrue();
        assertThat(next.release()).as("it was not released by the broken one").isTrue();
    }

    @Test
    void aWaiterAcquiresWhenTheHolderHasAcknowledged() throws Exception {
        Lease lease = hold(keeper().lock(name(), keptSafely()));
        Lockkeeper breaker = keeper();
        Future<Entry> waiting = queue(breaker.lock(name(), keptSafely()));
        awaitWaiters(breaker, name(), 1);
        Future<Long> lastValid = lastValid(lease);
        assertThat(breakHold(breaker, lease)).isTrue();
        Entry next = get(waiting);
        assertThat(next.lease().token()).isGreaterThan(lease.token());
        assertThat(next.at() - get(lastValid)).isPositive();
    }

    @Test
    void aHolderThatListensHasTimeToStop() throws Exception {
        Lease lease = hold(keeper().lock(name(), keptSafely()));
        CompletableFuture<LeaseLost> loss = lossOf(lease);
        Lockkeeper breaker = keeper();
        Future<Entry> next = queue(breaker.lock(name(), keptSafely()));
        awaitWaiters(breaker, name(), 1);
        long asked = System.nanoTime();
        assertThat(breakHold(breaker, lease)).isTrue();
        Duration remaining = get(loss).remaining();
        assertThat(remaining).isPositive();
        assertPassed("the time to stop", asked, get(next).at(), remaining);
    }

    @Test
    void theNameStaysClosedUntilTheHoldersRenewalLearnsOfIt() throws Exception {
        FaultyStore store = faulty();
        Lease lease = hold(keeper(store).lock(name(), keptSafely()));
        CompletableFuture<LeaseLost> loss = lossOf(lease);
        store.loseSignals(true);
        Gate gate = pauseBefore(store, StepKind.RENEW);
        Lockkeeper breaker = keeper();
        Future<Long> lastValid = lastValid(lease);
        assertThat(breakHold(breaker, lease)).isTrue();
        Future<Entry> next = enter(breaker.lock(name(), longLease()));
        awaitArrival(gate);
        assertThat(lease.isValid()).as("it cannot know yet").isTrue();
        assertThat(next.isDone()).isFalse();
        gate.open();

        assertThat(get(next).at() - get(lastValid)).isPositive();
        assertThat(get(loss).reason()).isEqualTo(Reason.BROKEN);
    }

    @Test
    void theNameStaysClosedUntilTheLeaseEndsWhenTheHolderCannotBeReached() throws Exception {
        FaultyStore store = faulty();
        LockOptions options = fixed(800);
        long sent = System.nanoTime();
        Lease lease = hold(keeper(store).lock(name(), options));
        store.down();
        Lockkeeper breaker = keeper();
        Future<Long> lastValid = lastValid(lease);
        assertThat(breakHold(breaker, lease)).isTrue();
        assertThat(breaker.lock(name()).tryAcquire()).isEmpty();
        Entry next = get(enter(breaker.lock(name())));
        assertPassed("the lease", sent, next.at(), options.lease());
        assertThat(next.at() - get(lastValid)).isPositive();
        assertThat(lease.isValid()).isFalse();
    }

    @Test
    void aHolderThatWasNotNotifiedMayAcknowledgeByReleasing() throws Exception {
        FaultyStore store = faulty();
        store.loseSignals(true);
        Lease lease = hold(keeper(store).lock(name(), longLease()));
        Lockkeeper breaker = keeper();
        assertThat(breakHold(breaker, lease)).isTrue();
        assertThat(breaker.lock(name()).tryAcquire()).isEmpty();
        assertThat(lease.isValid()).isTrue();
        lease.release();
        assertThat(isFree(breaker.lock(name()))).isTrue();
    }

    @Test
    void aFixedLeaseThatWasBrokenCannotBeLengthened() throws Exception {
        FaultyStore store = faulty();
        store.loseSignals(true);
        Lease lease = hold(keeper(store).lock(name(), LockOptions.defaults().fixedLease(Duration.ofHours(1))));
        Lockkeeper breaker = keeper();
        assertThat(breakHold(breaker, lease)).isTrue();
        assertThat(lease.renew(Duration.ofHours(2))).isFalse();
        assertThat(get(lossOf(lease)).reason()).isEqualTo(Reason.BROKEN);
        assertThat(breaker.lock(name()).tryAcquire(LONG))
                .as("that acknowledges")
                .isPresent();
    }

    @Test
    void aHoldThatIsBeingBrokenIsNotInForce() throws Exception {
        FaultyStore store = faulty();
        store.loseSignals(true);
        Lease lease = hold(keeper(store).lock(name(), longLease()));
        Inspector inspector = keeper().inspector();
        assertThat(inspector.check(lease.sequencer())).isTrue();
        assertThat(inspector.breakHold(name(), lease.token(), Duration.ZERO)).isTrue();
        assertThat(inspector.check(lease.sequencer())).isFalse();
        lease.release();
    }

    // ---- At once ----

    @Test
    void aBreakAtOnceDoesNotWaitAndRaisesTheToken() throws Exception {
        FaultyStore store = faulty();
        store.holdSignals();
        Lease lease = hold(keeper(store).lock(name(), longLease()));
        CompletableFuture<LeaseLost> loss = lossOf(lease);
        Lockkeeper breaker = keeper();
        assertThat(breakHoldNow(breaker, lease)).isTrue();
        Lease next = breaker.lock(name(), longLease()).tryAcquire().orElseThrow();
        assertThat(next.token()).isGreaterThan(lease.token());
        assertThat(lease.isValid()).as("this is the danger").isTrue();
        store.deliverSignals();
        if (breaker.guarantees().has(Guarantee.PUSH)) {
            assertThat(get(loss))
                    .as("others may hold it already")
                    .isEqualTo(new LeaseLost(name(), lease.token(), Reason.BROKEN, Duration.ZERO));
        }
        assertThat(lease.release()).isFalse();
        assertThat(next.release()).isTrue();
    }

    @Test
    void aRenewalReportsABreakThatDidNotWait() throws Exception {
        FaultyStore store = faulty();
        store.loseSignals(true);
        Lease lease = hold(keeper(store).lock(name(), keptSafely()));
        CompletableFuture<LeaseLost> loss = lossOf(lease);
        assertThat(breakHoldNow(keeper(), lease)).isTrue();
        assertThat(get(loss)).isEqualTo(new LeaseLost(name(), lease.token(), Reason.BROKEN, Duration.ZERO));
        assertThat(lease.isValid()).isFalse();
    }

    @Test
    void aReleaseReportsABreakThatDidNotWait() throws Exception {
        FaultyStore store = faulty();
        store.loseSignals(true);
        Lockkeeper keeper = keeper(store);
        Lockkeeper breaker = keeper();
        Lease lease = hold(keeper.lock(name(), longLease()));
        assertThat(breakHoldNow(breaker, lease)).isTrue();
        Lease next = hold(breaker.lock(name(), longLease()));
        assertThatThrownBy(lease::close).isInstanceOf(LeaseLostException.class);
        assertThat(get(lossOf(lease)).token()).isEqualTo(lease.token());
        assertThat(next.release()).as("it was not released by the broken one").isTrue();
    }

    @Test
    void aBreakAtOnceLetsTheNextWaiterIn() throws Exception {
        Lease lease = hold(keeper().lock(name(), longLease()));
        Lockkeeper breaker = keeper();
        Future<Entry> waiting = queue(breaker.lock(name(), longLease()));
        awaitWaiters(breaker, name(), 1);
        assertThat(breakHoldNow(breaker, lease)).isTrue();
        assertThat(get(waiting).lease().token()).isGreaterThan(lease.token());
    }

    // ---- Nothing to break ----

    @Test
    void onlyTheHoldThatIsNamedIsBroken() throws Exception {
        Lockkeeper breaker = keeper();
        Inspector inspector = breaker.inspector();
        assertThat(inspector.breakHold(name(), 1, Duration.ZERO)).as("no hold").isFalse();
        Lease old = hold(keeper().lock(name(), longLease()));
        old.release();
        Lease lease = hold(keeper().lock(name(), longLease()));
        assertThat(inspector.breakHold(name(), old.token(), Duration.ZERO))
                .as("a released hold")
                .isFalse();
        assertThat(inspector.breakHoldNow(name(), old.token(), Duration.ZERO)).isFalse();
        assertThat(inspector.breakHold(name(), lease.token() + 1_000_000_000, Duration.ZERO))
                .as("a token of the future")
                .isFalse();
        assertThat(inspector.breakHold(name("other"), lease.token(), Duration.ZERO))
                .as("another name")
                .isFalse();
        assertThat(inspector.check(lease.sequencer())).isTrue();
        assertThat(lease.release()).isTrue();
    }

    @Test
    void aQueuedClaimIsNotBroken() throws Exception {
        Lease lease = hold(keeper().lock(name(), keptSafely()));
        Lockkeeper breaker = keeper();
        Future<Entry> waiting = queue(breaker.lock(name(), longLease()));
        awaitWaiters(breaker, name(), 1);
        assertThat(breakHold(breaker, lease)).isTrue();
        Lease next = get(waiting).lease();
        assertThat(breaker.inspector().breakHold(name(), lease.token(), Duration.ZERO))
                .as("it is gone")
                .isFalse();
        assertThat(next.isValid()).isTrue();
        assertThat(next.release()).isTrue();
    }

    // ---- Kinds of holds ----

    @Test
    void ofSeveralReadersOneIsBroken() throws Exception {
        Lockkeeper first = keeper();
        Promise.needed(first.guarantees(), Guarantee.SHARED);
        Lease stays = hold(first.readWriteLock(name(), keptSafely()).readLock());
        Lease broken = hold(keeper().readWriteLock(name(), keptSafely()).readLock());
        CompletableFuture<LeaseLost> loss = lossOf(broken);
        assertThat(breakHold(first, broken)).isTrue();
        assertThat(get(loss).reason()).isEqualTo(Reason.BROKEN);
        assertThat(stays.isValid()).isTrue();
        assertThat(keeper().lock(name()).tryAcquire()).isEmpty();
        assertThat(stays.release()).isTrue();
        assertThat(keeper().lock(name()).tryAcquire(LONG)).isPresent();
    }

    @Test
    void thePermitsOfABrokenHoldComeBack() throws Exception {
        Lockkeeper first = keeper();
        Promise.needed(first.guarantees(), Guarantee.PERMITS);
        Lease stays = first.semaphore(name(), 3, keptSafely()).acquire();
        Lease broken = keeper().semaphore(name(), 3, keptSafely()).acquire(2);
        CompletableFuture<LeaseLost> loss = lossOf(broken);
        assertThat(breakHold(first, broken)).isTrue();
        assertThat(get(loss).reason()).isEqualTo(Reason.BROKEN);
        Lease next =
                first.semaphore(name(), 3, keptSafely()).tryAcquire(2, LONG).orElseThrow();
        assertThat(stays.isValid()).isTrue();
        assertThat(broken.release()).isFalse();
        assertThat(next.release()).isTrue();
        assertThat(stays.release()).isTrue();
    }

    @Test
    void aHoldThatWasPassedOnIsBrokenByTheTokenThatIsShown() throws Exception {
        Lockkeeper keeper = keeper();
        DistributedLock lock = keeper.lock(name(), keptSafely());
        Lease first = hold(lock);
        Future<Entry> second = queue(lock);
        first.release();
        Lease lease = get(second).lease();
        CompletableFuture<LeaseLost> loss = lossOf(lease);
        Inspector inspector = keeper().inspector();
        LockInfo.Hold shown = inspector.inspect(name()).orElseThrow().holders().get(0);
        assertThat(inspector.breakHold(name(), shown.token(), Duration.ZERO)).isTrue();
        assertThat(get(loss))
                .isEqualTo(new LeaseLost(
                        name(), lease.token(), Reason.BROKEN, get(loss).remaining()));
    }

    @Test
    void aThreadWhoseLockWasBrokenCannotUnlockIt() throws Exception {
        DistributedLock lock = keeper().lock(name(), keptSafely());
        lock.lock();
        Lease lease = lock.lease();
        CompletableFuture<LeaseLost> loss = lossOf(lease);
        assertThat(breakHold(keeper(), lease)).isTrue();
        get(loss);
        assertThat(lock.isHeldByCurrentThread()).isFalse();
        assertThatThrownBy(lock::unlock)
                .isInstanceOf(IllegalMonitorStateException.class)
                .hasCauseInstanceOf(LeaseLostException.class)
                .hasMessageContaining("BROKEN");
    }

    @Test
    void aHolderThatAskedForAnInterruptIsInterruptedByABreak() throws Exception {
        DistributedLock lock = keeper().lock(name(), keptSafely());
        CompletableFuture<Lease> acquired = new CompletableFuture<>();
        Future<Boolean> working = async(() -> {
            Lease lease = lock.acquire().interruptOnLoss();
            acquired.complete(lease);
            try {
                new CountDownLatch(1).await();
                return false;
            } catch (InterruptedException e) {
                return !lease.isValid();
            }
        });
        assertThat(breakHold(keeper(), get(acquired))).isTrue();
        assertThat(get(working)).isTrue();
    }
}
