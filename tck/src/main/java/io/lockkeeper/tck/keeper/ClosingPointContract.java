// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.keeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.lockkeeper.DistributedLock;
import io.lockkeeper.DistributedReadWriteLock;
import io.lockkeeper.Guarantee;
import io.lockkeeper.KeeperClosedException;
import io.lockkeeper.Lease;
import io.lockkeeper.LeaseLostException;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.spi.LockStore;
import io.lockkeeper.tck.Tier;
import io.lockkeeper.tck.support.HandleContract;
import io.lockkeeper.tck.support.Promise;
import io.lockkeeper.tck.support.Rounds;
import io.lockkeeper.testkit.FaultyStore;
import io.lockkeeper.testkit.Gate;
import io.lockkeeper.testkit.StepKind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * H89: a keeper is closed at any point of an acquisition or a release, also while a step is not answered. Every waiter gets a
 * {@link KeeperClosedException}, {@code close()} ends, and nothing stays in the store that could have been released.
 */
@SuppressWarnings("LockNotBeforeTry")
public abstract class ClosingPointContract extends HandleContract {
    private FaultyStore store;
    private Lockkeeper keeper;
    private Lockkeeper other;

    /** Who waits. */
    enum Style {
        PLATFORM_THREAD,
        VIRTUAL_THREAD,
        FUTURE
    }

    /** Where an acquisition is when the keeper is closed. */
    enum Point {
        BEFORE_TIME,
        BEFORE_CLAIM,
        GRANTED_UNANSWERED,
        QUEUED_UNANSWERED,
        QUEUED,
        HANDED_OVER,
        BEFORE_CONFIRMATION,
        CONFIRMED_UNANSWERED;

        boolean waitsBehindAnother() {
            return this == QUEUED_UNANSWERED || this == QUEUED || isHandedOver();
        }

        boolean isHandedOver() {
            return this == HANDED_OVER || isConfirmation();
        }

        boolean isConfirmation() {
            return this == BEFORE_CONFIRMATION || this == CONFIRMED_UNANSWERED;
        }
    }

    /** Virtual threads are there from Java 21 on; before that, nothing is tested of them. */
    static Stream<Style> styles() {
        return Stream.of(Style.values()).filter(style -> style != Style.VIRTUAL_THREAD || hasVirtualThreads());
    }

    static Stream<Arguments> points() {
        return styles().flatMap(style -> Stream.of(Point.values()).map(point -> Arguments.of(point, style)));
    }

    @BeforeEach
    final void keepers() {
        store = faulty();
        keeper = enduring(store);
        other = keeper();
    }

    private <T> Future<T> run(Style style, Work<T> work) {
        return style == Style.VIRTUAL_THREAD ? onVirtualThread(work) : async(work::run);
    }

    private Future<Lease> acquire(Style style, DistributedLock lock) {
        return style == Style.FUTURE ? lock.acquireAsync() : run(style, lock::acquire);
    }

    /** Closes, although a step may not be answered. */
    private static void close(Lockkeeper closes, Future<Boolean> closing) throws Exception {
        assertThat(get(closing)).as("close() of " + closes + " ends").isTrue();
    }

    private Future<Boolean> closing() {
        return async(() -> {
            keeper.close();
            return true;
        });
    }

    private static void endsClosed(Future<?> wait) {
        assertThat(failure(wait)).isExactlyInstanceOf(KeeperClosedException.class);
    }

    private static LockOptions fixed() {
        return LockOptions.defaults().fixedLease(LONG);
    }

    @ParameterizedTest
    @MethodSource("points")
    void anAcquisitionEnds(Point point, Style style) throws Exception {
        if (point.isHandedOver()) {
            Promise.needed(keeper.guarantees(), Guarantee.FAIR); // otherwise nothing is handed over
        }
        DistributedLock lock = keeper.lock(name(), point.isConfirmation() ? fixed() : outlasting());
        List<Lease> held = new ArrayList<>();
        if (point.waitsBehindAnother()) {
            held.add(other.lock(name()).acquire());
        }
        List<Gate> gates = gatesOfClaim(point);
        Future<Lease> waits = acquire(style, lock);
        if (gates.isEmpty()) {
            awaitBehind(store, other, name());
        }
        if (point == Point.HANDED_OVER) {
            store.holdSignals();
        } else if (point == Point.BEFORE_CONFIRMATION) {
            gates.add(gateBefore(store, StepKind.RENEW));
        } else if (point == Point.CONFIRMED_UNANSWERED) {
            gates.add(gateAfter(store, StepKind.RENEW));
        }
        if (point.isHandedOver()) {
            assertThat(held.remove(0).release()).isTrue();
        }
        for (Gate gate : gates) {
            arrive(gate);
        }
        close(keeper, closing());
        if (gates.isEmpty() || style != Style.PLATFORM_THREAD) {
            endsClosed(waits); // a platform thread makes its step itself, and cannot end before it
        }
        gates.forEach(Gate::open);
        store.deliverSignals();
        endsClosed(waits);
        if (point.isHandedOver()) { // its first lease is short: that it is free says little
            await("it is given back", () -> store.count(StepKind.RELEASE) + store.count(StepKind.WITHDRAW) > 0);
        }
        for (Lease each : held) {
            awaitQueued(other, name(), 0);
            assertThat(each.release()).isTrue();
        }
        freeAtOnce(other.lock(name()));
    }

    private List<Gate> gatesOfClaim(Point point) {
        List<Gate> gates = new ArrayList<>();
        if (point == Point.BEFORE_TIME) {
            gates.add(gateBefore(store, StepKind.TIME));
        } else if (point == Point.BEFORE_CLAIM) {
            gates.add(gateBefore(store, StepKind.CLAIM));
        } else if (point == Point.GRANTED_UNANSWERED || point == Point.QUEUED_UNANSWERED) {
            gates.add(gateAfter(store, StepKind.CLAIM));
        }
        return gates;
    }

    @ParameterizedTest
    @MethodSource("styles")
    void aReleaseSucceedsOrReportsTheLoss(Style style) throws Exception {
        for (boolean carriedOut : new boolean[] {false, true}) {
            keepers();
            Lease lease = keeper.lock(name(), outlasting()).acquire();
            Gate gate = carriedOut ? gateAfter(store, StepKind.RELEASE) : gateBefore(store, StepKind.RELEASE);
            Future<Boolean> releases = style == Style.FUTURE ? lease.releaseAsync() : run(style, lease::release);
            arrive(gate);
            close(keeper, closing());
            gate.open();
            if (style != Style.PLATFORM_THREAD) {
                // Nobody waited for the hung step: what became of it was not known when the keeper had been closed.
                assertThat(failure(releases)).isInstanceOf(KeeperClosedException.class);
            } else if (!get(releases)) {
                assertThatExceptionOfType(LeaseLostException.class).isThrownBy(lease::ensureValid);
            }
            freeSoon(other.lock(name()));
        }
    }

    @ParameterizedTest
    @MethodSource("styles")
    void aDowngradeLeavesNothingHeld(Style style) throws Exception {
        Promise.needed(keeper.guarantees(), Guarantee.SHARED);
        if (style == Style.FUTURE) {
            return; // only threads downgrade
        }
        for (boolean carriedOut : new boolean[] {false, true}) {
            keepers();
            DistributedReadWriteLock both = keeper.readWriteLock(name(), outlasting());
            Gate gate = carriedOut ? gateAfter(store, StepKind.DOWNGRADE) : gateBefore(store, StepKind.DOWNGRADE);
            Future<Boolean> work = run(style, () -> {
                both.writeLock().lock();
                both.readLock().lock();
                unlockOrLost(both.writeLock());
                unlockOrLost(both.readLock());
                return true;
            });
            arrive(gate);
            close(keeper, closing());
            gate.open();
            assertThat(get(work)).isTrue();
            freeSoon(other.lock(name()));
        }
    }

    private static void unlockOrLost(DistributedLock lock) {
        Throwable thrown = catchThrowable(lock::unlock);
        // A virtual thread does not make its steps itself, and so need not wait for one that hangs.
        if (thrown != null && !(thrown instanceof KeeperClosedException)) {
            assertThat(thrown)
                    .isInstanceOf(IllegalMonitorStateException.class)
                    .hasCauseInstanceOf(LeaseLostException.class);
        }
    }

    @ParameterizedTest
    @MethodSource("styles")
    void aWaiterThatIsLeavingTheQueueHasLeftIt(Style style) throws Exception {
        Promise.needed(keeper.guarantees(), Guarantee.FAIR);
        for (boolean carriedOut : new boolean[] {false, true}) {
            keepers();
            Lease held = other.lock(name()).acquire();
            Gate gate = carriedOut ? gateAfter(store, StepKind.WITHDRAW) : gateBefore(store, StepKind.WITHDRAW);
            DistributedLock lock = keeper.lock(name(), outlasting());
            Duration wait = Duration.ofMillis(300);
            Future<Optional<Lease>> leaves =
                    style == Style.FUTURE ? lock.tryAcquireAsync(wait) : run(style, () -> lock.tryAcquire(wait));
            arrive(gate);
            close(keeper, closing());
            gate.open();
            try {
                assertThat(get(leaves)).isEmpty();
            } catch (ExecutionException e) {
                assertThat(e).hasCauseInstanceOf(KeeperClosedException.class);
            }
            awaitQueued(other, name(), 0);
            assertThat(held.release()).isTrue();
            freeSoon(other.lock(name()));
        }
    }

    @ParameterizedTest
    @MethodSource("styles")
    void claimsThatWaitForAThreadOfAHungLaneEnd(Style style) throws Exception {
        int crowd = 20;
        List<Gate> gates = new ArrayList<>();
        List<Future<Lease>> waits = new ArrayList<>();
        for (int i = 0; i < crowd; i++) {
            gates.add(gateBefore(store, StepKind.CLAIM));
        }
        for (int i = 0; i < crowd; i++) {
            waits.add(acquire(style, keeper.lock(name("n" + i), outlasting())));
        }
        arrive(gates.get(0));
        close(keeper, closing());
        if (style != Style.PLATFORM_THREAD) {
            waits.forEach(ClosingPointContract::endsClosed);
        }
        gates.forEach(Gate::open);
        waits.forEach(ClosingPointContract::endsClosed);
        for (int i = 0; i < crowd; i++) {
            freeSoon(other.lock(name("n" + i)));
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = Style.class,
            names = {"PLATFORM_THREAD", "FUTURE"})
    void releasesThatWaitForAThreadOfASlowLaneAreMade(Style style) throws Exception {
        int crowd = 20;
        List<Lease> leases = new ArrayList<>();
        for (int i = 0; i < crowd; i++) {
            leases.add(keeper.lock(name("n" + i), outlasting()).acquire());
        }
        List<Gate> gates = new ArrayList<>();
        for (int i = 0; i < crowd; i++) {
            gates.add(gateBefore(store, StepKind.RELEASE));
        }
        List<Future<Boolean>> releases = new ArrayList<>();
        for (Lease lease : leases) {
            releases.add(style == Style.FUTURE ? lease.releaseAsync() : async(lease::release));
        }
        arrive(gates.get(0));
        Future<Boolean> closing = closing();
        await(
                "it is being closed",
                () -> catchThrowable(() -> keeper.lock(name("closed")).isLocked()) instanceof KeeperClosedException);
        gates.forEach(Gate::open);
        close(keeper, closing);
        for (int i = 0; i < crowd; i++) {
            if (!get(releases.get(i))) {
                assertThatExceptionOfType(LeaseLostException.class).isThrownBy(leases.get(i)::ensureValid);
            }
            freeSoon(other.lock(name("n" + i)));
        }
    }

    /** Many rounds of a race: workers acquire and release, and the keeper is closed under them. */
    @ParameterizedTest
    @MethodSource("styles")
    void aCloseThatRacesWithWorkersLeavesNothing(Style style) throws Exception {
        LockStore shared = store();
        Rounds rounds = Rounds.between(5, Tier.pick(25, 300));
        for (int round = 0; rounds.goOnAfter(round); round++) {
            Lockkeeper closes = Lockkeeper.on(shared);
            AtomicInteger acquisitions = new AtomicInteger();
            List<Future<Integer>> workers = new ArrayList<>();
            for (int i = 0; i < 6; i++) {
                LockOptions options =
                        i % 3 == 0 ? outlasting() : i % 3 == 1 ? outlasting().fair(true) : fixed();
                DistributedLock lock = closes.lock(name("n" + i % 2), options);
                workers.add(run(style, () -> workUntilClosed(style, lock, acquisitions)));
            }
            int enough = round % 12;
            await("they work", () -> acquisitions.get() >= enough);
            closes.close();
            for (Future<Integer> worker : workers) {
                assertThat(get(worker)).isNotNegative();
            }
            freeAtOnce(other.lock(name("n0")));
            freeAtOnce(other.lock(name("n1")));
        }
    }

    private static int workUntilClosed(Style style, DistributedLock lock, AtomicInteger acquisitions) throws Exception {
        for (int done = 0; ; done++) {
            Lease lease;
            try {
                lease = style == Style.FUTURE ? get(lock.acquireAsync()) : lock.acquire();
            } catch (KeeperClosedException e) {
                return done;
            } catch (ExecutionException e) {
                assertThat(e).hasCauseExactlyInstanceOf(KeeperClosedException.class);
                return done;
            }
            acquisitions.incrementAndGet();
            boolean released = style == Style.FUTURE ? get(lease.releaseAsync()) : lease.release();
            if (!released) {
                assertThatExceptionOfType(LeaseLostException.class).isThrownBy(lease::ensureValid);
            }
        }
    }

    @Test
    void theSecondCloseReturnsWhenTheKeeperIsClosed() throws Exception {
        Lockkeeper slow =
                closing(Lockkeeper.builder(store).operationTimeout(LONG).build());
        Lease lease = slow.lock(name(), outlasting()).acquire();
        Gate gate = gateBefore(store, StepKind.RELEASE);
        Future<Boolean> first = async(() -> {
            slow.close();
            return true;
        });
        arrive(gate);
        CompletableFuture<Boolean> second = new CompletableFuture<>();
        Thread closer = new Thread(() -> {
            slow.close();
            second.complete(isFree(other.lock(name())));
        });
        closer.start();
        await("it waits", () -> second.isDone() || closer.getState() == Thread.State.TIMED_WAITING);
        gate.open();
        assertThat(get(second)).as("all is released when it returns").isTrue();
        close(slow, first);
        assertThat(lease.isValid()).isFalse();
    }
}
