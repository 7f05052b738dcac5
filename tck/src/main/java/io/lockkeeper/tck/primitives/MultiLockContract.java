// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.primitives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.lockkeeper.DistributedLock;
import io.lockkeeper.Guarantee;
import io.lockkeeper.KeeperClosedException;
import io.lockkeeper.Lease;
import io.lockkeeper.LeaseLost;
import io.lockkeeper.LeaseLostException;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.Mode;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.testkit.FaultyStore;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Several locks as one: all or none, in one order that all agree on, from any mix of stores. */
public abstract class MultiLockContract extends AbstractMultiLockContract {
    @Test
    void allAreHeldOrNone() throws Exception {
        Lockkeeper keeper = keeper();
        Lockkeeper other = keeper();
        DistributedLock all = all(keeper, "bca");
        try (Lease lease = all.acquire()) {
            assertThat(lease.isValid()).isTrue();
            assertThat(lease.remaining()).isPositive();
            assertThat(lease.mode()).isEqualTo(Mode.EXCLUSIVE);
            assertThat(lease.name()).contains(name("a"), name("b"), name("c"));
            assertThat(lease.parts()).extracting(Lease::name).containsExactly(name("a"), name("b"), name("c"));
            assertThat(lease.parts()).allMatch(Lease::isValid).allMatch(part -> other.inspector()
                    .check(part.sequencer()));
            assertThatExceptionOfType(UnsupportedOperationException.class).isThrownBy(lease::token);
            assertThatExceptionOfType(UnsupportedOperationException.class).isThrownBy(lease::sequencer);
            for (DistributedLock each : locks(other, "abc")) {
                assertThat(isTaken(each)).isTrue();
            }
        }
        for (String taken : List.of("a", "b", "c")) {
            Lease held = other.lock(name(taken)).acquire();
            assertThat(all.tryAcquire()).isEmpty();
            assertThat(get(all.tryAcquireAsync(Duration.ZERO))).isEmpty();
            for (DistributedLock each : locks(other, "abc")) {
                assertThat(isFree(each)).isEqualTo(!each.name().equals(name(taken)));
            }
            assertThat(held.release()).isTrue();
        }
        assertThat(all.tryAcquire().orElseThrow().release()).isTrue();
    }

    @Test
    void theDeadlineIsOneForAll() throws Exception {
        Lockkeeper keeper = keeper();
        Lockkeeper other = keeper();
        Lease held = other.lock(name("b")).acquire();
        Duration wait = Duration.ofMillis(150);
        for (boolean async : new boolean[] {false, true}) {
            DistributedLock all = all(keeper, "abc");
            long start = System.nanoTime();
            Optional<Lease> lease = async ? get(all.tryAcquireAsync(wait)) : all.tryAcquire(wait);
            assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(wait.toNanos());
            assertThat(lease).isEmpty();
            awaitFree(other.lock(name("a")));
            assertThat(isFree(other.lock(name("c")))).isTrue();
        }
        Future<Optional<Lease>> waits = async(() -> all(keeper, "ab").tryAcquire(LONG));
        awaitQueued(other, name("b"), 1);
        assertThat(waits).isNotDone();
        assertThat(held.release()).isTrue();
        assertThat(get(waits).orElseThrow().release()).isTrue();
    }

    @Test
    void theOrderOfTheArgumentsMeansNothing() throws Exception {
        Lockkeeper keeper = keeper();
        assertThat(all(keeper, "cab"))
                .isEqualTo(all(keeper, "abc"))
                .hasSameHashCodeAs(all(keeper, "abc"))
                .isNotEqualTo(all(keeper, "ab"));
        assertThat(all(keeper, "cab").name()).isEqualTo(all(keeper, "abc").name());
    }

    @Test
    void nestedMultiLocksAreFlattenedAndASingleLockStaysItself() throws Exception {
        Lockkeeper keeper = keeper();
        DistributedLock nested =
                DistributedLock.all(all(keeper, "bd"), keeper.lock(name("a")), DistributedLock.all(all(keeper, "c")));
        assertThat(nested).isEqualTo(all(keeper, "abcd"));
        try (Lease lease = nested.acquire()) {
            assertThat(lease.parts()).hasSize(4);
        }
        try (Lease lease = all(keeper, "a").acquire()) {
            assertThat(lease.parts()).hasSize(1);
            assertThat(isTaken(keeper().lock(name("a")))).isTrue();
        }
    }

    @Test
    void duplicatesNothingAndStrangersAreRefused() {
        Lockkeeper keeper = keeper();
        DistributedLock a = keeper.lock(name("a"));
        assertThatIllegalArgumentException().isThrownBy(() -> DistributedLock.all());
        assertThatIllegalArgumentException()
                .isThrownBy(() -> DistributedLock.all(a, a))
                .withMessageContaining(name("a"));
        assertThatIllegalArgumentException().isThrownBy(() -> DistributedLock.all(a, all(keeper, "ba")));
        assertThatIllegalArgumentException()
                .as("another client of the same store")
                .isThrownBy(() -> DistributedLock.all(a, keeper().lock(name("a"))));
        DistributedLock stranger = (DistributedLock) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {DistributedLock.class}, (p, m, args) -> "stranger");
        assertThatIllegalArgumentException().isThrownBy(() -> DistributedLock.all(a, stranger));
        if (keeper.guarantees().has(Guarantee.SHARED)) {
            assertThatIllegalArgumentException()
                    .as("in another mode")
                    .isThrownBy(() -> DistributedLock.all(
                            a, keeper.readWriteLock(name("a")).readLock()));
        }
    }

    @Test
    void storesMayBeMixedAndEachHasItsOwnNames() throws Exception {
        Lockkeeper keeper = keeper();
        Lockkeeper other = keeper();
        Lockkeeper memory = closing(Lockkeeper.connect("memory:"));
        DistributedLock all =
                DistributedLock.all(memory.lock(name("a")), keeper.lock(name("a")), keeper.lock(name("b")));
        try (Lease lease = all.acquire()) {
            assertThat(lease.parts()).hasSize(3);
            assertThat(isTaken(memory.lock(name("a")))).isTrue();
            assertThat(isTaken(other.lock(name("a")))).isTrue();
            assertThat(isTaken(other.lock(name("b")))).isTrue();
        }
        Lease held = memory.lock(name("a")).acquire();
        assertThat(all.tryAcquire()).isEmpty();
        assertThat(isFree(all(other, "ab"))).isTrue();
        CompletableFuture<Lease> waits = all.acquireAsync();
        assertThat(waits).isNotDone();
        assertThat(held.release()).isTrue();
        assertThat(get(waits).release()).isTrue();
        assertThat(isFree(all(other, "ab"))).isTrue();
    }

    @Test
    void readersMayBePartsAndShare() throws Exception {
        Lockkeeper keeper = keeper();
        if (!keeper.guarantees().has(Guarantee.SHARED)) {
            return;
        }
        DistributedLock one = DistributedLock.all(
                keeper.readWriteLock(name("a")).readLock(),
                keeper.readWriteLock(name("b")).readLock());
        Lockkeeper other = keeper();
        DistributedLock two = DistributedLock.all(other.readWriteLock(name("a")).readLock(), other.lock(name("c")));
        try (Lease first = one.acquire();
                Lease second = two.tryAcquire().orElseThrow()) {
            assertThat(first.mode()).isEqualTo(Mode.SHARED);
            assertThat(second.mode()).isEqualTo(Mode.EXCLUSIVE);
            assertThat(isTaken(all(keeper, "a"))).isTrue();
        }
        assertThat(isFree(all(keeper, "abc"))).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"a", "z"})
    void everyPartIsReleasedAlsoWhenOneFails(String failing) throws Exception {
        FaultyStore store = faulty();
        Lockkeeper fails = closing(Lockkeeper.builder(store)
                .operationTimeout(Duration.ofMillis(500))
                .build());
        Lockkeeper keeper = keeper();
        Lockkeeper other = keeper();
        DistributedLock all =
                DistributedLock.all(fails.lock(name(failing)), keeper.lock(name("b")), keeper.lock(name("c")));
        for (boolean closes : new boolean[] {false, true}) {
            Lease lease = all.acquire();
            store.down();
            assertThatExceptionOfType(StoreUnavailableException.class)
                    .isThrownBy(closes ? lease::close : lease::release);
            assertThat(lease.isValid()).isFalse();
            assertThat(isFree(all(other, "bc"))).isTrue();
            store.up();
            awaitFree(other.lock(name(failing)));
        }
    }

    @Test
    void anAttemptThatFailsReleasesItsParts() throws Exception {
        FaultyStore store = faulty();
        Lockkeeper fails = closing(Lockkeeper.builder(store)
                .operationTimeout(Duration.ofMillis(500))
                .build());
        Lockkeeper keeper = keeper();
        DistributedLock all = DistributedLock.all(keeper.lock(name("a")), fails.lock(name("b")));
        store.down();
        assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(all::acquire);
        assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(all::tryAcquire);
        assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(all::lock);
        assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(all::tryLock);
        assertThatExceptionOfType(ExecutionException.class)
                .isThrownBy(() -> get(all.acquireAsync()))
                .withCauseInstanceOf(StoreUnavailableException.class);
        awaitFree(keeper().lock(name("a")));
        store.up();
    }

    @Test
    void theWholeIsLostWithAnyPartAndTheLossNamesIt() throws Exception {
        Lockkeeper keeper = keeper();
        Lockkeeper other = keeper();
        for (String part : List.of("a", "b")) {
            Lease lease = all(keeper, "ab").acquire();
            Queue<LeaseLost> told = new ConcurrentLinkedQueue<>();
            lease.onLost(told::add);
            Lease lost = lease.parts().get(part.equals("a") ? 0 : 1);
            lose(lost, other);
            await("the loss is reported", () -> !told.isEmpty());
            assertThat(lease.isValid()).isFalse();
            assertThat(lease.remaining()).isZero();
            assertThatExceptionOfType(LeaseLostException.class).isThrownBy(lease::ensureValid);
            assertThatExceptionOfType(LeaseLostException.class)
                    .isThrownBy(lease::close)
                    .satisfies(e -> assertThat(e.loss().name()).isEqualTo(name(part)));
            lease.close();
            assertThat(lease.release()).isFalse();
            awaitFree(all(other, "ab"));
            assertThat(told).hasSize(1);
            assertThat(told.element().name()).isEqualTo(name(part));
            assertThat(told.element().token()).isEqualTo(lost.token());
        }
    }

    @Test
    void aPartThatIsLostWhileAHandleAwaitsTheRestIsTakenAgain() throws Exception {
        Queue<LeaseLost> losses = new ConcurrentLinkedQueue<>();
        Lockkeeper keeper = keeper(losses);
        Lockkeeper other = keeper();
        for (boolean async : new boolean[] {false, true}) {
            Lease held = other.lock(name("b")).acquire();
            DistributedLock all = all(keeper, "ab");
            Future<Lease> waits = async ? all.acquireAsync() : async(all::acquire);
            long broken = breakWhileWaiting(other, losses);
            assertThat(waits).isNotDone();
            assertThat(held.release()).isTrue();
            Lease lease = get(waits);
            assertThat(lease.isValid()).isTrue();
            assertThat(lease.parts().get(0).token()).isGreaterThan(broken);
            assertThat(lease.release()).isTrue();
            assertThat(isFree(all(other, "ab"))).isTrue();
        }
    }

    @Test
    void aCancelledFutureLeavesNone() throws Exception {
        Lockkeeper keeper = keeper();
        Lockkeeper other = keeper();
        Lease held = other.lock(name("b")).acquire();
        List<CompletableFuture<?>> ways = List.of(
                all(keeper, "abc").acquireAsync(),
                all(keeper, "abc").tryAcquireAsync(LONG),
                all(keeper, "abc").acquireAsync().orTimeout(20, TimeUnit.MILLISECONDS));
        await("one has a and awaits b", () -> other.lock(name("a")).isLocked());
        awaitQueued(other, name("b"), 1);
        for (CompletableFuture<?> way : ways) {
            way.cancel(true);
        }
        awaitFree(other.lock(name("a")));
        awaitQueued(other, name("b"), 0);
        assertThat(held.release()).isTrue();
        awaitFree(all(other, "abc"));
    }

    @Test
    void allMayBeReleasedWithoutWaiting() throws Exception {
        Lockkeeper keeper = keeper();
        Lease lease = get(all(keeper, "ab").acquireAsync());
        assertThat(get(lease.releaseAsync())).isTrue();
        assertThat(lease.release()).isTrue();
        assertThat(isFree(all(keeper(), "ab"))).isTrue();
    }

    @Test
    void closingOneKeeperEndsTheWaitAndFreesTheOthersPart() throws Exception {
        Lockkeeper keeper = keeper();
        Lockkeeper closes = keeper();
        Lockkeeper other = keeper();
        Lease held = other.lock(name("b")).acquire();
        DistributedLock all = DistributedLock.all(keeper.lock(name("a")), closes.lock(name("b")));
        Future<Lease> waits = async(all::acquire);
        awaitQueued(other, name("b"), 1);
        closes.close();
        assertThatExceptionOfType(ExecutionException.class)
                .isThrownBy(() -> get(waits))
                .withCauseInstanceOf(KeeperClosedException.class);
        assertThat(isFree(other.lock(name("a")))).isTrue();
        assertThat(held.release()).isTrue();
    }

    @Test
    void aFixedLeaseOfAllIsRenewedTogether() throws Exception {
        Lockkeeper keeper = keeper();
        DistributedLock all =
                DistributedLock.all(keeper.lock(name("a"), brief(keeper)), keeper.lock(name("b"), brief(keeper)));
        try (Lease lease = all.acquire()) {
            assertThat(lease.renew(Duration.ofMinutes(5))).isTrue();
            assertThat(expiresIn(name("a"))).isGreaterThan(Duration.ofMinutes(2));
            assertThat(expiresIn(name("b"))).isGreaterThan(Duration.ofMinutes(2));
        }
    }

    @Test
    void eachPartHasItsOwnLeaseAlsoAfterAWait() throws Exception {
        Lockkeeper keeper = keeper();
        Lockkeeper other = keeper();
        Lease held = other.lock(name("b")).acquire();
        LockOptions minutes = LockOptions.defaults().fixedLease(Duration.ofMinutes(4));
        LockOptions hours = LockOptions.defaults().fixedLease(Duration.ofHours(2));
        DistributedLock all = DistributedLock.all(keeper.lock(name("a"), minutes), keeper.lock(name("b"), hours));
        Future<Lease> waits = async(all::acquire);
        awaitQueued(other, name("b"), 1);
        assertThat(held.release()).isTrue();
        try (Lease lease = get(waits)) {
            assertThat(expiresIn(name("a"))).isBetween(Duration.ofMinutes(1), Duration.ofMinutes(5));
            assertThat(expiresIn(name("b"))).isBetween(Duration.ofHours(1), Duration.ofHours(3));
            assertThat(lease.remaining()).isLessThanOrEqualTo(Duration.ofMinutes(4));
        }
    }

    @Test
    void tryCallRunsUnderAll() throws Exception {
        Lockkeeper keeper = keeper();
        DistributedLock other = all(keeper(), "ab");
        assertThat(all(keeper, "ab").tryCall(LONG, lease -> isTaken(other))).contains(true);
        assertThat(isFree(other)).isTrue();
    }
}
