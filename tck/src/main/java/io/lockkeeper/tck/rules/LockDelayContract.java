// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lockkeeper.Guarantee;
import io.lockkeeper.Inspector;
import io.lockkeeper.Lease;
import io.lockkeeper.LockInfo;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.tck.support.FaultContract;
import io.lockkeeper.tck.support.Promise;
import io.lockkeeper.testkit.FaultyStore;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Future;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Rule 12: lock-delay holds after expiry and session death of a confirmed hold, never after a release. */
public abstract class LockDelayContract extends FaultContract {
    private static final Duration DELAY = Duration.ofSeconds(1);

    /** So long a delay that a test in which it took effect would not end. */
    private static final Duration FOR_EVER = Duration.ofHours(1);

    @BeforeEach
    void aStoreWithoutItRefuses() {
        Lockkeeper keeper = keeper();
        if (!keeper.guarantees().has(Guarantee.LOCK_DELAY)) {
            assertThatThrownBy(() -> keeper.lock(name(), LockOptions.defaults().lockDelay(DELAY)))
                    .isInstanceOf(UnsupportedOperationException.class);
            Promise.needed(keeper.guarantees(), Guarantee.LOCK_DELAY);
        }
    }

    @Test
    void anExpiredHoldLeavesTheNameClosed() throws Exception {
        LockOptions options = fixed(300).lockDelay(DELAY);
        long sent = System.nanoTime();
        Lease lease = hold(keeper().lock(name(), options));
        Entry other = get(enter(keeper().lock(name())));
        assertPassed("lease and delay", sent, other.at(), options.lease().plus(DELAY));
        assertThat(other.lease().token()).isGreaterThan(lease.token());
    }

    @Test
    void aWaiterAcquiresAfterTheDelay() throws Exception {
        FaultyStore store = faulty();
        long sent = System.nanoTime();
        Lease lease = hold(keeper(store).lock(name(), kept().lockDelay(DELAY)));
        Future<Entry> waiting = queue(keeper().lock(name()));
        store.down();
        Entry other = get(waiting);
        assertPassed("lease and delay", sent, other.at(), kept().lease().plus(DELAY));
        assertThat(other.lease().token()).isGreaterThan(lease.token());
    }

    @Test
    void theDelayIsThatOfTheHolderAndNotOfTheNextClient() throws Exception {
        hold(keeper().lock(name(), fixed(200)));
        Lease other = get(enter(keeper().lock(name(), longLease().lockDelay(FOR_EVER))))
                .lease();
        assertThat(other.isValid()).isTrue();
    }

    @Test
    void aClosedNameCannotBeAcquiredAndIsShownAsClosed() throws Exception {
        LockOptions options = fixed(200).lockDelay(FOR_EVER);
        Lockkeeper keeper = keeper();
        Inspector inspector = keeper.inspector();
        hold(keeper.lock(name(), options));
        await("it has expired", () -> inspector
                .inspect(name())
                .filter(info -> info.holders().isEmpty())
                .isPresent());

        LockInfo closed = inspector.inspect(name()).orElseThrow();
        assertThat(closed.closedFor()).isPositive().isLessThanOrEqualTo(FOR_EVER);
        // Not at once everywhere: members of a quorum closed it one after the other, and not always the same ones
        // answer.
        await("the delay runs down", () -> closedFor(keeper).compareTo(closed.closedFor()) < 0);
        assertThat(keeper.lock(name(), options).tryAcquire())
                .as("the old holder")
                .isEmpty();
        assertThat(keeper().lock(name()).tryAcquire(Duration.ofMillis(50)))
                .as("others")
                .isEmpty();
        if (keeper.guarantees().has(Guarantee.SHARED)) {
            assertThat(keeper().readWriteLock(name()).readLock().tryAcquire())
                    .as("readers")
                    .isEmpty();
        }
        assertThat(keeper().lock(name("other")).tryAcquire()).as("other names").isPresent();
    }

    @Test
    void theNameIsOpenAndForgottenAfterTheDelay() throws Exception {
        Lockkeeper keeper = keeper();
        hold(keeper.lock(name(), fixed(200).lockDelay(Duration.ofMillis(300))));
        await("it is closed", () -> closedFor(keeper).compareTo(Duration.ZERO) > 0);
        await("it is open", () -> keeper.inspector().inspect(name()).isEmpty());
        assertThat(isFree(keeper.lock(name()))).isTrue();
    }

    private Duration closedFor(Lockkeeper keeper) {
        return keeper.inspector().inspect(name()).map(LockInfo::closedFor).orElse(Duration.ZERO);
    }

    // ---- Never after a release ----

    @Test
    void thereIsNoneAfterARelease() throws Exception {
        Lockkeeper keeper = keeper();
        hold(keeper.lock(name(), longLease().lockDelay(FOR_EVER))).release();
        Lease lease = hold(keeper().lock(name(), longLease().lockDelay(FOR_EVER)));
        Future<Entry> waiting = queue(keeper.lock(name()));
        awaitWaiters(keeper, name(), 1);
        lease.release();
        assertThat(get(waiting).lease().isValid()).isTrue();
    }

    @Test
    void thereIsNoneAfterAReleaseThatCameThroughLater() throws Exception {
        FaultyStore store = faulty();
        Lockkeeper keeper = keeper(store, b -> b.operationTimeout(Duration.ofMillis(100)));
        Lease lease = hold(keeper.lock(name(), longLease().lockDelay(FOR_EVER)));
        store.down();
        assertThatThrownBy(lease::release).isInstanceOf(StoreUnavailableException.class);
        store.up();
        assertThat(keeper().lock(name()).tryAcquire(LONG)).isPresent();
    }

    @Test
    void thereIsNoneAfterAKeeperWasClosed() throws Exception {
        Lockkeeper keeper = keeper();
        hold(keeper.lock(name(), longLease().lockDelay(FOR_EVER)));
        keeper.close();
        assertThat(keeper().lock(name()).tryAcquire(LONG)).isPresent();
    }

    // ---- Only of a confirmed hold ----

    @Test
    void thereIsNoneForAHandedOverHoldThatWasNeverConfirmed() throws Exception {
        Lockkeeper first = keeper();
        FaultyStore store = faulty();
        Lease before = hold(first.lock(name(), longLease()));
        Future<Entry> vanished = queue(keeper(store).lock(name(), kept().lockDelay(FOR_EVER)));
        awaitWaiters(first, name(), 1);
        Future<Optional<Lease>> next = async(() -> first.lock(name(), kept()).tryAcquire(LONG));
        awaitWaiters(first, name(), 2);
        store.down();
        before.release();
        assertThat(get(next)).isPresent();
        assertThat(vanished.isDone()).isFalse();
    }

    @Test
    void aHandedOverHoldThatWasConfirmedHasIt() throws Exception {
        Lockkeeper first = keeper();
        FaultyStore store = faulty();
        Lease before = hold(first.lock(name(), longLease()));
        Future<Entry> second = queue(keeper(store).lock(name(), kept().lockDelay(DELAY)));
        awaitWaiters(first, name(), 1);
        long released = System.nanoTime();
        before.release();
        get(second);
        store.down();
        Entry third = get(enter(first.lock(name())));
        assertPassed("lease and delay", released, third.at(), kept().lease().plus(DELAY));
    }

    @Test
    void aHoldWhoseThreadDiedHasIt() throws Exception {
        Lockkeeper keeper = keeper();
        Thread thread =
                new Thread(() -> keeper.lock(name(), kept().lockDelay(DELAY)).lock());
        long sent = System.nanoTime();
        thread.start();
        thread.join();
        Entry other = get(enter(keeper().lock(name())));
        assertPassed("lease and delay", sent, other.at(), kept().lease().plus(DELAY));
    }

    // ---- Breaking ----

    @Test
    void aBreakMayAskForIt() throws Exception {
        Lease lease = hold(keeper().lock(name(), kept()));
        Lockkeeper breaker = keeper();
        Future<Entry> waiting = queue(breaker.lock(name()));
        awaitWaiters(breaker, name(), 1);
        long broken = System.nanoTime();
        assertThat(breaker.inspector().breakHold(name(), lease.token(), DELAY)).isTrue();
        assertPassed("the delay", broken, get(waiting).at(), DELAY);
    }

    @Test
    void aBreakAtOnceMayAskForIt() throws Exception {
        Lease lease = hold(keeper().lock(name(), longLease()));
        Lockkeeper breaker = keeper();
        long broken = System.nanoTime();
        assertThat(breaker.inspector().breakHoldNow(name(), lease.token(), DELAY))
                .isTrue();
        assertThat(closedFor(breaker)).isLessThanOrEqualTo(DELAY);
        assertPassed("the delay", broken, get(enter(breaker.lock(name()))).at(), DELAY);
    }

    @Test
    void aBreakThatDoesNotAskForItLeavesNone() throws Exception {
        Lease lease = hold(keeper().lock(name(), kept().lockDelay(FOR_EVER)));
        Lockkeeper breaker = keeper();
        assertThat(breaker.inspector().breakHold(name(), lease.token(), Duration.ZERO))
                .isTrue();
        assertThat(breaker.lock(name()).tryAcquire(LONG)).isPresent();
    }
}
