// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.DistributedLock;
import io.lockkeeper.Lease;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.Grant;
import io.lockkeeper.spi.LockStore;
import io.lockkeeper.spi.Renewal;
import io.lockkeeper.spi.Renewals;
import io.lockkeeper.spi.Terms;
import io.lockkeeper.tck.support.FaultContract;
import io.lockkeeper.testkit.FaultyStore;
import io.lockkeeper.testkit.Gate;
import io.lockkeeper.testkit.StepKind;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/** Rule 9: validity is pessimistic. While a lease says that it is valid, the store admits nobody else. */
public abstract class ValidityContract extends FaultContract {
    @Test
    void aFixedLeaseIsInvalidWhenAnotherClientAcquires() throws Exception {
        LockOptions options = fixed(400);
        long sent = System.nanoTime();
        Lease lease = hold(keeper().lock(name(), options));
        Future<Long> lastValid = lastValid(lease);
        Entry other = get(enter(keeper().lock(name(), options)));

        assertThat(other.at() - get(lastValid)).isPositive();
        assertThat(lease.isValid()).isFalse();
        assertThat(other.lease().token()).isGreaterThan(lease.token());
        assertPassed("the store keeps a lease for its whole length", sent, other.at(), options.lease());
    }

    @Test
    void aKeptAliveLeaseThatIsCutOffIsInvalidWhenAnotherClientAcquires() throws Exception {
        FaultyStore store = faulty();
        Lease lease = hold(keeper(store).lock(name(), kept()));
        await("it is renewed", () -> store.count(StepKind.RENEW) >= 2);
        Future<Long> lastValid = lastValid(lease);
        Future<Entry> other = queue(keeper().lock(name(), kept()));
        store.down();

        assertThat(get(other).at() - get(lastValid)).isPositive();
        assertThat(get(other).lease().token()).isGreaterThan(lease.token());
    }

    @Test
    void aHandedOverLeaseThatIsCutOffIsInvalidWhenAnotherClientAcquires() throws Exception {
        handedOverAndCutOff(false);
    }

    @Test
    void aHandedOverLeaseFoundByARefreshIsInvalidWhenAnotherClientAcquires() throws Exception {
        handedOverAndCutOff(true);
    }

    private void handedOverAndCutOff(boolean losesSignals) throws Exception {
        FaultyStore store = faulty();
        store.loseSignals(losesSignals);
        Lockkeeper first = keeper();
        Lease before = hold(first.lock(name(), kept()));
        Future<Entry> waiting = queue(keeper(store).lock(name(), kept()));
        awaitWaiters(first, name(), 1);
        before.release();
        Lease lease = get(waiting).lease();
        store.down();
        Future<Long> lastValid = lastValid(lease);
        Entry other = get(enter(first.lock(name(), kept())));

        assertThat(other.at() - get(lastValid)).isPositive();
        assertThat(other.lease().token()).isGreaterThan(lease.token());
    }

    @Test
    void validityIsCountedFromBeforeTheClaimWasSent() throws Exception {
        FaultyStore store = faulty();
        DistributedLock lock = keeper(store).lock(name(), fixed(3_000));
        Gate gate = pauseAfter(store, StepKind.CLAIM);
        Future<Lease> acquiring = async(lock::acquire);
        awaitArrival(gate);
        long granted = System.nanoTime();
        awaitPassed(granted, Duration.ofMillis(300));
        Duration delay = Duration.ofNanos(System.nanoTime() - granted);
        gate.open();

        assertThat(get(acquiring).remaining())
                .isPositive()
                .isLessThan(fixed(3_000).lease().minus(delay));
    }

    @Test
    void aGrantWhoseReplyComesAfterItsLeaseIsNotAcquired() throws Exception { // K4
        FaultyStore store = faulty();
        DistributedLock lock = keeper(store).lock(name(), fixed(200));
        DistributedLock other = keeper().lock(name(), fixed(200));
        Gate gate = pauseAfter(store, StepKind.CLAIM);
        Future<Optional<Lease>> trying = async(lock::tryAcquire);
        awaitArrival(gate);
        Lease others = get(enter(other)).lease();
        others.release();
        gate.open();

        assertThat(get(trying)).isEmpty();
        await("nothing is left", () -> isFree(other));
    }

    @Test
    void aWaiterClaimsAgainWhenTheReplyCameAfterTheLease() throws Exception { // K4
        FaultyStore store = faulty();
        DistributedLock lock = keeper(store).lock(name(), fixed(1_000));
        Lockkeeper keeper = keeper();
        Gate gate = pauseAfter(store, StepKind.CLAIM);
        Future<Lease> acquiring = async(lock::acquire);
        awaitArrival(gate);
        Lease others = get(enter(keeper.lock(name(), longLease()))).lease();
        gate.open();
        awaitWaiters(keeper, name(), 1);

        assertThat(acquiring.isDone()).isFalse();
        assertThat(others.release()).isTrue();
        Lease lease = get(acquiring);
        assertThat(lease.token()).isGreaterThan(others.token());
    }

    @Test
    void aGrantSignalledAfterItsFirstLeaseIsNotAcquired() throws Exception {
        FaultyStore store = faulty();
        Lockkeeper first = keeper();
        Lease before = hold(first.lock(name(), kept()));
        Future<Entry> late = queue(keeper(store).lock(name(), kept()));
        awaitWaiters(first, name(), 1);
        store.holdSignals();
        Gate gate = pauseBefore(store, StepKind.RENEW);
        before.release();
        awaitPassed(System.nanoTime(), Duration.ofMillis(200));
        store.loseSignals(true); // what is told of the end of that grant
        Lease others = get(enter(first.lock(name(), longLease()))).lease();
        store.loseSignals(false);
        store.deliverSignals();
        gate.open();
        awaitWaiters(first, name(), 1);

        assertThat(late.isDone()).isFalse();
        assertThat(others.isValid()).isTrue();
        assertThat(others.release()).isTrue();
        assertThat(get(late).lease().token()).isGreaterThan(others.token());
    }

    @Test
    void aHandedOverFixedLeaseWhoseConfirmationComesAfterItIsNotAcquired() throws Exception {
        FaultyStore store = faulty();
        Lockkeeper first = keeper();
        Lease before = hold(first.lock(name(), longLease()));
        Future<Entry> late = queue(keeper(store).lock(name(), fixed(300)));
        awaitWaiters(first, name(), 1);
        Gate gate = pauseAfter(store, StepKind.RENEW);
        before.release();
        awaitArrival(gate);
        Lease others = get(enter(first.lock(name(), longLease()))).lease();
        gate.open();
        awaitWaiters(first, name(), 1);

        assertThat(late.isDone()).isFalse();
        assertThat(others.release()).isTrue();
        assertThat(get(late).lease().token()).isGreaterThan(others.token());
    }

    @Test
    void aHandedOverFixedLeaseIsConfirmedSoThatItLastsItsWholeLength() throws Exception {
        Duration lease = atLeast(20_000);
        FaultyStore store = faulty();
        Lockkeeper first = keeper();
        Lease before = hold(first.lock(name(), longLease()));
        DistributedLock lock = keeper(store).lock(name(), LockOptions.defaults().fixedLease(lease));
        Future<Entry> waiting = queue(lock);
        awaitWaiters(first, name(), 1);
        before.release();

        assertThat(get(waiting).lease().remaining())
                .isGreaterThan(Terms.FIRST_LEASE)
                .isLessThan(lease);
        assertThat(store.count(StepKind.RENEW)).isPositive();
    }

    @Test
    void remainingOnlyDecreasesAndEndsWithValidity() throws Exception {
        LockOptions options = fixed(400);
        Duration length = options.lease();
        Lease lease = hold(keeper().lock(name(), options));
        Duration remaining = lease.remaining();
        assertThat(remaining).isLessThan(length.minus(length.dividedBy(100)).minusMillis(2));
        while (!remaining.isZero()) {
            assertThat(remaining).isPositive();
            Duration next = lease.remaining();
            assertThat(next).isLessThanOrEqualTo(remaining);
            remaining = next;
        }
        assertThat(lease.isValid()).isFalse();
        assertThat(lease.remaining()).isZero();
    }

    @Test
    void remainingOfAKeptAliveLeaseNeverExceedsItAndRisesWithRenewals() throws Exception {
        LockOptions options = keptSafely();
        Lease lease = hold(keeper().lock(name(), options));
        Duration longest = options.lease().minus(options.lease().dividedBy(100));
        int rises = 0;
        Duration last = lease.remaining();
        for (long end = System.nanoTime() + LONG.toNanos(); rises < 2 && System.nanoTime() < end; ) {
            Duration next = lease.remaining();
            assertThat(next).isPositive().isLessThan(longest);
            rises += next.compareTo(last) > 0 ? 1 : 0;
            last = next;
        }
        assertThat(rises).as("renewals seen").isEqualTo(2);
    }

    @Test
    void aReleasedLeaseIsNotValid() throws Exception {
        Lease lease = hold(keeper().lock(name()));
        assertThat(lease.isValid()).isTrue();
        lease.release();
        assertThat(lease.isValid()).isFalse();
        assertThat(lease.remaining()).isZero();
    }

    // ---- Steps ----

    @Test
    void aRepeatedClaimReturnsWhatRemains() throws Exception {
        LockStore store = store();
        Duration lease = atLeast(10_000);
        Claim claim = claim(store, name(), lease, false);
        Answer.Granted first = (Answer.Granted) store.claim(claim);
        long answered = System.nanoTime();
        awaitPassed(answered, Duration.ofMillis(200));
        long elapsed = System.nanoTime() - answered;
        Answer.Granted second = (Answer.Granted) store.claim(claim.asStray());

        assertThat(first.remaining()).isPositive().isLessThanOrEqualTo(lease);
        assertThat(second.token()).isEqualTo(first.token());
        assertThat(second.remaining())
                .isLessThanOrEqualTo(first.remaining().minusNanos(elapsed - elapsed / 50 - 2_000_000));
        assertThat(second.at().isPast(first.at())).as("store time goes on").isFalse();
        store.release(Grant.of(claim, first));
    }

    @Test
    void aRenewalReturnsWhatRemainsAndNeverShortens() {
        LockStore store = store();
        Duration lease = atLeast(10_000);
        Claim claim = claim(store, name(), lease, false);
        Grant grant = Grant.of(claim, (Answer.Granted) store.claim(claim));

        Duration shorter = remaining(store, grant, atLeast(1_000));
        assertThat(shorter).isGreaterThan(lease.dividedBy(2)).isLessThanOrEqualTo(lease);
        Duration longer = remaining(store, grant, lease.multipliedBy(3));
        assertThat(longer).isGreaterThan(lease.multipliedBy(2)).isLessThanOrEqualTo(lease.multipliedBy(3));
        store.release(grant);
    }

    private static Duration remaining(LockStore store, Grant grant, Duration lease) {
        Renewal renewal = store.renew(new Renewals(List.of(new Renewals.Hold(grant, lease, 0)), List.of()));
        return ((Renewal.Kept) renewal.holds().get(0)).remaining();
    }

    @Test
    void timeInAnswersDoesNotRunBackwards() {
        LockStore store = store();
        Claim claim = claim(store, name(), atLeast(5_000), false);
        Answer answer = store.claim(claim);
        Renewal renewal = store.renew(new Renewals(
                List.of(new Renewals.Hold(Grant.of(claim, (Answer.Granted) answer), atLeast(5_000), 0)), List.of()));
        assertThat(renewal.at().incarnation()).isEqualTo(answer.at().incarnation());
        assertThat(renewal.at().micros()).isGreaterThanOrEqualTo(answer.at().micros());
        store.release(Grant.of(claim, (Answer.Granted) answer));
    }
}
