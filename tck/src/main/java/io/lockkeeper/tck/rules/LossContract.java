// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNoException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lockkeeper.DistributedLock;
import io.lockkeeper.Guarantee;
import io.lockkeeper.Lease;
import io.lockkeeper.LeaseLost;
import io.lockkeeper.LeaseLost.Reason;
import io.lockkeeper.LeaseLostException;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.Mode;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.Grant;
import io.lockkeeper.tck.support.FaultContract;
import io.lockkeeper.tck.support.SignalTap;
import io.lockkeeper.testkit.FaultyStore;
import io.lockkeeper.testkit.Gate;
import io.lockkeeper.testkit.StepKind;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Rule 10: loss is reported once, before validity ends, with the reason; nothing rescues the hold after that. */
@SuppressWarnings("LockNotBeforeTry")
public abstract class LossContract extends FaultContract {
    // ---- Why ----

    @Test
    void aFixedLeaseThatRunsOutHasExpired() throws Exception {
        Lease lease = hold(keeper().lock(name(), fixed(200)));
        assertLost(lease, get(lossOf(lease)), Reason.EXPIRED);
    }

    @Test
    void aBrokenHoldIsLostAsBroken() throws Exception {
        Lease lease = hold(keeper().lock(name(), longLease()));
        CompletableFuture<LeaseLost> loss = lossOf(lease);
        assertThat(keeper().inspector().breakHold(name(), lease.token(), Duration.ZERO))
                .isTrue();
        assertLostAfterBreak(lease, loss);
    }

    /** Without push, the holder of a long lease is notified at the next renewal, which is too late for a test. */
    private void assertLostAfterBreak(Lease lease, Future<LeaseLost> loss) throws Exception {
        if (store().guarantees().has(Guarantee.PUSH)) {
            assertLost(lease, get(loss), Reason.BROKEN);
        }
    }

    @Test
    void aHoldThatCannotBeRenewedIsLostAsUnreachable() throws Exception {
        FaultyStore store = faulty();
        Lease lease = hold(keeper(store).lock(name(), keptSafely()));
        store.down();
        assertLost(lease, get(lossOf(lease)), Reason.STORE_UNREACHABLE);
    }

    @Test
    void aHoldWhoseRenewalIsNotAnsweredIsLostAsUnreachable() throws Exception {
        FaultyStore store = faulty();
        Lockkeeper keeper = keeper(store);
        Gate gate = pauseBefore(store, StepKind.RENEW);
        Lease lease = hold(keeper.lock(name(), kept()));
        awaitArrival(gate);
        assertLost(lease, get(lossOf(lease)), Reason.STORE_UNREACHABLE);
    }

    @Test
    void aHoldOfTheLongestTimeIsLostAsSuch() throws Exception {
        Lease lease = hold(keeper().lock(name(), kept().maxHold(atLeast(300))));
        assertLost(lease, get(lossOf(lease)), Reason.MAX_HOLD);
    }

    @Test
    void theHoldsOfAClosedKeeperAreLostAsClosedAndFree() throws Exception {
        Lockkeeper keeper = keeper();
        Lease lease = hold(keeper.lock(name(), longLease()));
        CompletableFuture<LeaseLost> loss = lossOf(lease);
        keeper.close();
        assertLost(lease, get(loss), Reason.CLOSED);
        DistributedLock others = keeper().lock(name());
        await("it was released", () -> isFree(others));
    }

    @Test
    void theHoldsOfALostSessionAreLostAndItsWaitersClaimAgain() throws Exception {
        SignalTap tap = new SignalTap(store());
        Lockkeeper keeper = keeper(tap.store());
        Lease lease = hold(keeper.lock(name(), longLease()));
        CompletableFuture<LeaseLost> loss = lossOf(lease);
        Lockkeeper other = keeper();
        Lease others = hold(other.lock(name("other"), longLease()));
        Future<Entry> waiting = queue(keeper.lock(name("other"), longLease()));
        awaitWaiters(other, name("other"), 1);
        tap.signals().sessionLost("the test says so");

        assertLost(lease, get(loss), Reason.SESSION_LOST);
        assertThat(others.release()).isTrue();
        assertThat(get(waiting).lease().isValid()).isTrue();
    }

    @Test
    void aHoldThatTheStoreHasForgottenIsLost() throws Exception { // H32
        FaultyStore store = faulty();
        AtomicReference<@Nullable Claim> claim = new AtomicReference<>();
        store.observe((kind, argument) -> {
            if (kind == StepKind.CLAIM) {
                claim.set((Claim) argument);
            }
        });
        store.loseSignals(true);
        Lease lease = hold(keeper(store).lock(name(), kept()));
        CompletableFuture<LeaseLost> loss = lossOf(lease);
        store().release(new Grant(Objects.requireNonNull(claim.get()), Mode.EXCLUSIVE, lease.token(), 1));
        assertLost(lease, get(loss), Reason.EXPIRED);
    }

    // ---- After that ----

    private static void assertLost(Lease lease, LeaseLost loss, Reason reason) {
        assertThat(loss.reason()).isEqualTo(reason);
        assertThat(loss.name()).isEqualTo(lease.name());
        assertThat(loss.token()).isEqualTo(lease.token());
        assertThat(loss.remaining().isNegative()).isFalse();
        assertThat(lease.isValid()).isFalse();
        assertThat(lease.remaining()).isZero();
        assertThatThrownBy(lease::ensureValid)
                .isInstanceOfSatisfying(
                        LeaseLostException.class, e -> assertThat(e.loss()).isEqualTo(loss));
        assertThatThrownBy(lease::close)
                .as("closing tells, once")
                .isInstanceOfSatisfying(
                        LeaseLostException.class, e -> assertThat(e.loss()).isEqualTo(loss));
        assertThatNoException().isThrownBy(lease::close);
        assertThat(lease.release()).isFalse();
    }

    @Test
    void nothingCanBeDoneWithALostLease() throws Exception { // H2
        Lockkeeper keeper = keeper();
        Lease lease = hold(keeper.lock(name(), fixed(200)));
        get(lossOf(lease));
        assertThat(lease.renew(Duration.ofMinutes(1))).isFalse();
        assertThat(lease.release()).isFalse();
        assertThat(lease.release()).isFalse();
        assertThat(get(lease.releaseAsync())).isFalse();
        assertThat(lease.isValid()).isFalse();
        assertThatNoException().as("release() has reported it already").isThrownBy(lease::close);
    }

    @Test
    void aLostLeaseDoesNotReleaseItsSuccessor() throws Exception { // H3
        Lease lease = hold(keeper().lock(name(), fixed(200)));
        Lockkeeper other = keeper();
        Lease successor = get(enter(other.lock(name(), longLease()))).lease();
        assertThat(lease.release()).isFalse();
        assertThatNoException().isThrownBy(lease::close);
        assertThat(keeper().lock(name()).tryAcquire()).isEmpty();
        assertThat(successor.release()).isTrue();
    }

    @Test
    void aThreadThatLostItsLockCannotReenterOrUnlock() throws Exception { // H2, H6
        DistributedLock lock = keeper().lock(name(), longLease());
        lock.lock();
        CompletableFuture<LeaseLost> loss = lossOf(lock.lease());
        assertThat(keeper().inspector().breakHold(name(), lock.lease().token(), Duration.ZERO))
                .isTrue();
        get(loss);
        assertThat(lock.isHeldByCurrentThread()).isFalse();
        assertThatThrownBy(lock::lock).isInstanceOf(LeaseLostException.class);
        assertThatThrownBy(lock::tryLock).isInstanceOf(LeaseLostException.class);
        assertUnlockingNamesTheLossOnce(lock);
        lock.lock();
        lock.unlock();
    }

    @Test
    void aThreadThatLostAFixedLeaseMayLockAgainOnceItKnows() throws Exception { // H2, H6
        DistributedLock lock = keeper().lock(name(), fixed(200));
        lock.lock();
        get(lossOf(lock.lease()));
        assertThat(lock.isHeldByCurrentThread()).isFalse();
        assertThatThrownBy(lock::lock).isInstanceOf(LeaseLostException.class);
        assertThat(lock.tryLock(LONG.toSeconds(), TimeUnit.SECONDS)).isTrue();
        get(lossOf(lock.lease()));
        assertUnlockingNamesTheLossOnce(lock);
    }

    private static void assertUnlockingNamesTheLossOnce(DistributedLock lock) {
        assertThatThrownBy(lock::unlock)
                .isInstanceOf(IllegalMonitorStateException.class)
                .hasCauseInstanceOf(LeaseLostException.class);
        assertThatThrownBy(lock::unlock)
                .isInstanceOf(IllegalMonitorStateException.class)
                .hasNoCause();
    }

    @Test
    void aRenewalThatIsAnsweredTooLateDoesNotRescue() throws Exception {
        FaultyStore store = faulty();
        AtomicInteger told = new AtomicInteger();
        Lockkeeper keeper = keeper(store);
        Gate gate = pauseAfter(store, StepKind.RENEW);
        Lease lease = hold(keeper.lock(name(), kept())).onLost(loss -> told.incrementAndGet());
        awaitArrival(gate);
        get(lossOf(lease));
        gate.open();
        int before = store.count(StepKind.RENEW);
        Lease later = hold(keeper.lock(name("later"), keptSafely()));
        await("renewals go on", () -> store.count(StepKind.RENEW) >= before + 2);

        assertThat(later.isValid()).isTrue();
        assertThat(lease.isValid()).isFalse();
        assertThat(lease.release()).isFalse();
        assertThat(told).hasValue(1);
        DistributedLock others = keeper().lock(name());
        await("others get in", () -> isFree(others));
    }
}
