// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lockkeeper.DistributedLock;
import io.lockkeeper.Lease;
import io.lockkeeper.LeaseLost.Reason;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.spi.ClaimId;
import io.lockkeeper.spi.Grant;
import io.lockkeeper.spi.Renewals;
import io.lockkeeper.tck.Tier;
import io.lockkeeper.tck.support.FaultContract;
import io.lockkeeper.tck.support.Recorder;
import io.lockkeeper.tck.support.Warnings;
import io.lockkeeper.testkit.FaultyStore;
import io.lockkeeper.testkit.StepKind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Rule 15: renewal ends with the hold; one timer and one step for all holds. */
@SuppressWarnings("LockNotBeforeTry")
public abstract class RenewalContract extends FaultContract {
    /** Counts how often each hold is named in renewals. */
    private static Map<ClaimId, AtomicInteger> countNamings(FaultyStore store) {
        Map<ClaimId, AtomicInteger> namings = new ConcurrentHashMap<>();
        store.observe((kind, argument) -> {
            if (argument instanceof Renewals batch) {
                batch.holds().forEach(hold -> namings.computeIfAbsent(
                                hold.grant().claim().id(), id -> new AtomicInteger())
                        .incrementAndGet());
            }
        });
        return namings;
    }

    @Test
    void aHoldOutlivesItsLeaseManyTimes() throws Exception {
        FaultyStore store = faulty();
        Lease lease = hold(keeper(store).lock(name(), keptSafely()));
        DistributedLock others = keeper().lock(name());
        while (store.count(StepKind.RENEW) < 7) { // two leases
            assertThat(others.tryAcquire()).isEmpty();
            assertThat(lease.isValid()).isTrue();
        }
        assertThat(lease.release()).isTrue();
        assertThat(isFree(others)).isTrue();
    }

    @Test
    void manyHoldsAreRenewedByFewStepsAndThreads() throws Exception {
        int many = Tier.pick(200, 1_000);
        FaultyStore store = faulty();
        String client = "renewals-" + System.nanoTime();
        Lockkeeper keeper = keeper(store, b -> b.clientName(client));
        Map<ClaimId, AtomicInteger> namings = countNamings(store);
        List<Lease> leases = new ArrayList<>();
        for (int i = 0; i < many; i++) {
            leases.add(hold(keeper.lock(name("n" + i), kept().lease(atLeast(Tier.pick(3_000, 10_000))))));
        }
        await(
                "all were renewed twice",
                () -> namings.size() == many && namings.values().stream().allMatch(count -> count.get() >= 2));
        int named = namings.values().stream().mapToInt(AtomicInteger::get).sum();

        assertThat(leases).allMatch(Lease::isValid);
        assertThat(store.count(StepKind.RENEW))
                .as("steps for " + named + " renewals")
                .isLessThan(named / 10);
        Thread[] threads = new Thread[Thread.activeCount() * 2 + 16];
        long ours = Arrays.stream(threads, 0, Thread.enumerate(threads))
                .filter(thread -> thread.getName().contains(client))
                .count();
        assertThat(ours).as("threads for " + many + " holds").isBetween(1L, 10L);
    }

    @Test
    void noRenewalNamesAHoldAfterItsReleaseReturned() throws Exception {
        FaultyStore store = faulty();
        Lockkeeper keeper = keeper(store);
        Map<ClaimId, AtomicInteger> namings = countNamings(store);
        hold(keeper.lock(name("kept"), keptSafely()));
        List<Lease> leases = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            leases.add(hold(keeper.lock(name("n" + i), keptSafely())));
        }
        await("all were renewed", () -> namings.size() == 11);
        Set<ClaimId> released = ConcurrentHashMap.newKeySet();
        Set<ClaimId> renewedAfter = ConcurrentHashMap.newKeySet();
        store.observe((kind, argument) -> {
            if (kind == StepKind.RELEASE) {
                released.add(((Grant) argument).claim().id());
            }
        });
        leases.forEach(Lease::close);
        store.observe((kind, argument) -> {
            if (argument instanceof Renewals batch) {
                batch.holds()
                        .forEach(hold -> renewedAfter.add(hold.grant().claim().id()));
            }
        });
        int before = store.count(StepKind.RENEW);
        await("renewals go on", () -> store.count(StepKind.RENEW) >= before + 3);
        assertThat(released).hasSize(10);
        assertThat(renewedAfter).hasSize(1).doesNotContainAnyElementsOf(released);
    }

    @Test
    void aLoopOfShortHoldsIsRenewedNoMoreThanALongOne() throws Exception {
        FaultyStore store = faulty();
        hold(keeper(store).lock(name("long"), keptSafely()));
        FaultyStore loops = faulty();
        DistributedLock lock = keeper(loops).lock(name("short"), keptSafely());
        while (store.count(StepKind.RENEW) < 7) { // two leases
            lock.acquire().close();
        }
        assertThat(loops.count(StepKind.RENEW))
                .as("renewals during " + loops.count(StepKind.RELEASE) + " holds")
                .isLessThanOrEqualTo(2 * store.count(StepKind.RENEW));
    }

    @Test
    void aLostHoldIsNotRenewed() throws Exception {
        FaultyStore store = faulty();
        Lockkeeper keeper = keeper(store);
        hold(keeper.lock(name("kept"), keptSafely()));
        Lease broken = hold(keeper.lock(name(), keptSafely()));
        assertThat(keeper().inspector().breakHold(name(), broken.token(), Duration.ZERO))
                .isTrue();
        get(lossOf(broken));
        Map<ClaimId, AtomicInteger> namings = countNamings(store);
        int before = store.count(StepKind.RENEW);
        await("renewals go on", () -> store.count(StepKind.RENEW) >= before + 3);
        assertThat(namings).hasSize(1);
    }

    @Test
    void renewalSurvivesErrorsOfAllKinds() throws Exception {
        FaultyStore store = faulty();
        Lease lease = hold(keeper(store).lock(name(), keptSafely()));
        store.fail(StepKind.RENEW);
        store.loseReply(StepKind.RENEW);
        store.fail(StepKind.RENEW, new IllegalStateException("a bug in the store"));
        store.fail(StepKind.RENEW, StoreUnavailableException.lasting("no right to renew", null));
        await("renewals go on", () -> store.count(StepKind.RENEW) >= 7);
        assertThat(lease.isValid()).isTrue();
        assertThat(lease.release()).isTrue();
    }

    // ---- Nobody is left to release it ----

    @Test
    void theLockOfADeadThreadIsLeftToRunOut() throws Exception { // H22
        FaultyStore store = faulty();
        Recorder told = new Recorder();
        Warnings warnings = closing(new Warnings());
        Lockkeeper keeper = keeper(store, b -> b.listener(told));
        Thread thread = new Thread(() -> keeper.lock(name(), keptSafely()).lock(), "the late owner");
        thread.start();
        thread.join();
        assertAbandoned(store, told, warnings);
    }

    @Test
    void anUnreachableLeaseIsLeftToRunOut() throws Exception { // H23
        FaultyStore store = faulty();
        Recorder told = new Recorder();
        Warnings warnings = closing(new Warnings());
        Lockkeeper keeper = keeper(store, b -> b.listener(told));
        long token = get(async(() -> keeper.lock(name(), keptSafely()).acquire().token()));
        awaitCollecting("its loss is reported", () -> told.has("lost " + Reason.OWNER_DIED));
        assertThat(told.first("lost " + Reason.OWNER_DIED).token()).isEqualTo(token);
        assertAbandoned(store, told, warnings);
    }

    private void assertAbandoned(FaultyStore store, Recorder told, Warnings warnings) throws Exception {
        assertThat(keeper().lock(name()).tryAcquire(LONG)).as("others get in").isPresent();
        await("its loss is reported", () -> told.has("lost " + Reason.OWNER_DIED));
        assertThat(told.kinds()).containsExactly("acquired", "lost " + Reason.OWNER_DIED);
        assertThat(store.count(StepKind.RELEASE)).as("it is never released").isZero();
        List<Warnings.Logged> logged = warnings.of(name());
        assertThat(logged).hasSize(1);
        Throwable stack = Objects.requireNonNull(logged.get(0).thrown(), "no acquiring stack");
        assertThat(Arrays.toString(stack.getStackTrace())).contains(RenewalContract.class.getSimpleName());
    }

    @Test
    void aHandleOutlivesTheThreadThatAcquiredIt() throws Exception {
        FaultyStore store = faulty();
        Lockkeeper keeper = keeper(store);
        List<Lease> leases = new ArrayList<>();
        Thread thread = new Thread(
                () -> leases.add(keeper.lock(name(), keptSafely()).tryAcquire().orElseThrow()));
        thread.start();
        thread.join();
        awaitCollecting("it is renewed", () -> store.count(StepKind.RENEW) >= 4);
        assertThat(leases.get(0).isValid()).isTrue();
        assertThat(leases.get(0).release()).isTrue();
    }

    // ---- Ends ----

    @Test
    void renewalEndsWithTheLongestHold() throws Exception { // K15
        FaultyStore store = faulty();
        Duration lease = atLeast(1_000);
        Duration longest = lease.multipliedBy(2);
        DistributedLock lock =
                keeper(store).lock(name(), LockOptions.defaults().lease(lease).maxHold(longest));
        long sent = System.nanoTime();
        Lease held = hold(lock);
        long acquired = System.nanoTime();
        Future<Long> lastValid = lastValid(held);
        Future<Entry> other = queue(keeper().lock(name()));

        assertThat(get(lossOf(held)).reason()).isEqualTo(Reason.MAX_HOLD);
        assertThat(Duration.ofNanos(get(lastValid) - acquired)).isLessThan(longest);
        assertThat(get(other).at() - get(lastValid)).isPositive();
        assertPassed("it was kept alive", sent, get(other).at(), lease.plus(lease.dividedBy(4)));
        assertThat(store.count(StepKind.RENEW)).isBetween(1, 20);
    }

    @Test
    void theLongestHoldMayBeShorterThanTheLease() throws Exception { // K15
        LockOptions options = longLease().maxHold(atLeast(300));
        Lease held = hold(keeper().lock(name(), options));
        assertThat(held.remaining()).isLessThan(atLeast(300));
        assertThat(get(lossOf(held)).reason()).isEqualTo(Reason.MAX_HOLD);
        assertThat(keeper().lock(name()).tryAcquire(LONG)).isPresent();
    }

    @Test
    void aFixedLeaseIsNotRenewed() throws Exception { // H29
        FaultyStore store = faulty();
        Lease lease = hold(keeper(store).lock(name(), fixed(600)));
        assertThat(get(lossOf(lease)).reason()).isEqualTo(Reason.EXPIRED);
        assertThat(keeper().lock(name()).tryAcquire(LONG)).isPresent();
        assertThat(store.count(StepKind.RENEW)).isZero();
    }

    // ---- Lease.renew ----

    @Test
    void aFixedLeaseIsLengthenedOnDemandAndNeverShortened() throws Exception {
        Duration length = atLeast(20_000);
        Lease lease = hold(keeper().lock(name(), LockOptions.defaults().fixedLease(length)));
        assertThat(lease.renew(length.multipliedBy(3))).isTrue();
        assertThat(expiresIn(name())).isGreaterThan(length.multipliedBy(2)).isLessThan(length.multipliedBy(3));
        assertThat(lease.renew(atLeast(200))).isTrue();
        assertThat(expiresIn(name())).isGreaterThan(length.multipliedBy(2));
        lease.release();
        assertThat(lease.renew(length)).as("after the release").isFalse();
    }

    @Test
    void aLengthenedLeaseKeepsOthersOutForItsNewLength() throws Exception {
        Duration length = atLeast(500);
        Lease lease = hold(keeper().lock(name(), LockOptions.defaults().fixedLease(length)));
        Future<Long> lastValid = lastValid(lease);
        long renewed = System.nanoTime();
        assertThat(lease.renew(length.multipliedBy(2))).isTrue();
        Entry other = get(enter(keeper().lock(name())));
        assertPassed("the new length", renewed, other.at(), length.multipliedBy(2));
        assertThat(other.at() - get(lastValid)).isPositive();
    }

    @Test
    void aKeptAliveLeaseIsNotRenewedByHand() throws Exception {
        Lease lease = hold(keeper().lock(name()));
        assertThatThrownBy(() -> lease.renew(Duration.ofSeconds(10))).isInstanceOf(IllegalStateException.class);
        assertThat(lease.isValid()).isTrue();
    }

    @Test
    void aLeaseThatCannotBeExtendedContinuesUnchanged() throws Exception {
        FaultyStore store = faulty();
        Lockkeeper keeper = keeper(store, b -> b.operationTimeout(Duration.ofMillis(100)));
        Lease lease = hold(keeper.lock(name(), LockOptions.defaults().fixedLease(Duration.ofMinutes(1))));
        store.down();
        assertThatThrownBy(() -> lease.renew(Duration.ofMinutes(5))).isInstanceOf(StoreUnavailableException.class);
        assertThat(lease.isValid()).isTrue();
        assertThat(lease.remaining()).isLessThan(Duration.ofMinutes(1));
        store.up();
        assertThat(lease.renew(Duration.ofMinutes(5))).isTrue();
        assertThat(expiresIn(name())).isGreaterThan(Duration.ofMinutes(1));
    }
}
