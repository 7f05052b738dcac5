// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lockkeeper.DistributedLock;
import io.lockkeeper.Lease;
import io.lockkeeper.LeaseLost;
import io.lockkeeper.LeaseLost.Reason;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.spi.Renewals;
import io.lockkeeper.tck.support.FaultContract;
import io.lockkeeper.tck.support.TwoLaneStore;
import io.lockkeeper.testkit.FaultyStore;
import io.lockkeeper.testkit.Gate;
import io.lockkeeper.testkit.StepKind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Future;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Rule 14: lanes are independent. A dead one neither delays nor loses holds on the healthy ones. */
@SuppressWarnings("LockNotBeforeTry")
public abstract class LaneContract extends FaultContract {
    private static final Duration TIMEOUT = Duration.ofMillis(500);

    private FaultyStore sick;
    private FaultyStore healthy;
    private Lockkeeper keeper;

    @BeforeEach
    void connectByTwoLanes() {
        sick = faulty();
        healthy = faulty();
        TwoLaneStore store = new TwoLaneStore(sick, healthy);
        keeper = keeper(store, b -> b.operationTimeout(TIMEOUT));
    }

    private String sickName(String what) {
        return name(TwoLaneStore.SICK + what);
    }

    @Test
    void theHoldsOfADeadLaneAreLostAndNoOthers() throws Exception {
        Lease lost = hold(keeper.lock(sickName(""), kept()));
        Lease kept = hold(keeper.lock(name(), keptSafely()));
        CompletableFuture<LeaseLost> loss = lossOf(lost);
        CompletableFuture<LeaseLost> noLoss = lossOf(kept);
        sick.down();
        assertThat(get(loss).reason()).isEqualTo(Reason.STORE_UNREACHABLE);
        assertRenewed(kept, noLoss);
    }

    @Test
    void theHoldsOfALaneThatDoesNotAnswerAreLostAndNoOthers() throws Exception {
        Gate gate = pauseBefore(sick, StepKind.RENEW);
        Lease lost = hold(keeper.lock(sickName(""), kept()));
        Lease kept = hold(keeper.lock(name(), keptSafely()));
        CompletableFuture<LeaseLost> loss = lossOf(lost);
        CompletableFuture<LeaseLost> noLoss = lossOf(kept);
        awaitArrival(gate);
        assertThat(get(loss).reason()).isEqualTo(Reason.STORE_UNREACHABLE);
        assertRenewed(kept, noLoss);
    }

    /** Renewed so often that its first lease, and more, must have passed. */
    private void assertRenewed(Lease lease, Future<LeaseLost> loss) throws InterruptedException {
        int before = healthy.count(StepKind.RENEW);
        await("renewals go on", () -> healthy.count(StepKind.RENEW) >= before + 4);
        assertThat(lease.isValid()).isTrue();
        assertThat(loss.isDone()).isFalse();
        assertThat(lease.release()).isTrue();
    }

    @Test
    void aDeadLaneIsAnErrorForItsNamesOnly() throws Exception {
        sick.down();
        assertThatThrownBy(() -> keeper.lock(sickName("")).tryAcquire()).isInstanceOf(StoreUnavailableException.class);
        assertThat(isFree(keeper.lock(name()))).isTrue();
        sick.up();
        assertThat(isFree(keeper.lock(sickName("")))).isTrue();
    }

    @Test
    void stepsThatHangInOneLaneHoldUpNoneInAnother() throws Exception {
        assertThat(isFree(keeper.lock(sickName("")))).isTrue();
        List<Gate> gates = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            gates.add(pauseBefore(sick, StepKind.CLAIM));
        }
        List<Future<Lease>> hanging = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            hanging.add(keeper.lock(sickName("a" + i)).acquireAsync());
            DistributedLock lock = keeper.lock(sickName("b" + i));
            hanging.add(async(lock::acquire));
        }
        awaitArrival(gates.get(0));
        Lease lease = get(keeper.lock(name()).acquireAsync());
        assertThat(lease.isValid()).isTrue();
        assertThat(get(lease.releaseAsync())).isTrue();
        assertThat(isFree(keeper.lock(name()))).isTrue();
        DistributedLock lock = keeper.lock(name());
        lock.lock();
        lock.unlock();
        assertThat(keeper.inspector().inspect(name())).isEmpty();
        assertThat(hanging).noneMatch(Future::isDone);

        gates.forEach(Gate::open);
        await("all go on", () -> hanging.stream().allMatch(Future::isDone));
    }

    @Test
    void waitersOfAHealthyLaneAreServedWhileAnotherHangs() throws Exception {
        Lockkeeper other = keeper();
        Lease others = hold(other.lock(name(), longLease()));
        Lease sickOthers = hold(other.lock(sickName(""), longLease()));
        Future<Entry> sickWaiter = queue(keeper.lock(sickName(""), keptSafely()));
        awaitWaiters(other, sickName(""), 1);
        Gate gate = pauseBefore(sick, StepKind.RENEW);
        sick.loseSignals(true);
        Future<Entry> waiter = queue(keeper.lock(name(), keptSafely()));
        awaitWaiters(other, name(), 1);
        others.release();
        assertThat(get(waiter).lease().isValid()).isTrue();
        assertThat(sickWaiter.isDone()).isFalse();
        gate.open();
        sick.loseSignals(false);
        sickOthers.release();
        assertThat(get(sickWaiter).lease().isValid()).isTrue();
    }

    @Test
    void aRenewalContainsOnlyHoldsOfItsLane() throws Exception {
        List<String> bySick = new CopyOnWriteArrayList<>();
        List<String> byHealthy = new CopyOnWriteArrayList<>();
        sick.observe((kind, argument) -> noteNames(argument, bySick));
        healthy.observe((kind, argument) -> noteNames(argument, byHealthy));
        Lockkeeper other = keeper();
        hold(other.lock(sickName("q"), longLease()));
        hold(other.lock(name("q"), longLease()));
        for (int i = 0; i < 5; i++) {
            hold(keeper.lock(sickName("h" + i), keptSafely()));
            hold(keeper.lock(name("h" + i), keptSafely()));
        }
        Future<Entry> unused = queue(keeper.lock(sickName("q")));
        Future<Entry> unused2 = queue(keeper.lock(name("q")));
        await("both are renewed", () -> bySick.size() > 12 && byHealthy.size() > 12);
        assertThat(bySick).allMatch(name -> name.contains(TwoLaneStore.SICK));
        assertThat(byHealthy).noneMatch(name -> name.contains(TwoLaneStore.SICK));
        assertThat(unused.isDone() || unused2.isDone()).isFalse();
    }

    private static void noteNames(Object argument, List<String> names) {
        if (argument instanceof Renewals batch) {
            batch.holds().forEach(hold -> names.add(hold.grant().claim().name()));
            batch.queued().forEach(claim -> names.add(claim.name()));
        }
    }

    @Test
    void releasesThatAreRepeatedInOneLaneHoldUpNoneInAnother() throws Exception {
        Lease stuck = hold(keeper.lock(sickName(""), longLease()));
        sick.down();
        assertThatThrownBy(stuck::release).isInstanceOf(StoreUnavailableException.class);
        Lease lease = hold(keeper.lock(name(), longLease()));
        assertThat(lease.release()).isTrue();
        sick.up();
        assertThat(keeper().lock(sickName("")).tryAcquire(LONG)).isPresent();
    }

    @Test
    void closingReleasesTheHoldsOfHealthyLanesWhileAnotherHangs() throws Exception {
        Gate gate = pauseBefore(sick, StepKind.RENEW);
        Gate release = pauseBefore(sick, StepKind.RELEASE);
        hold(keeper.lock(sickName(""), keptSafely()));
        hold(keeper.lock(name(), longLease()));
        awaitArrival(gate);
        keeper.close();
        assertThat(isFree(keeper().lock(name()))).isTrue();
        gate.open();
        release.open();
    }

    @Test
    void breakingInAHealthyLaneIsHeardWhileAnotherIsDead() throws Exception {
        hold(keeper.lock(sickName(""), kept()));
        Lease lease = hold(keeper.lock(name(), keptSafely()));
        CompletableFuture<LeaseLost> loss = lossOf(lease);
        sick.down();
        Lockkeeper breaker = keeper();
        assertThat(breaker.inspector().breakHold(name(), lease.token(), Duration.ZERO))
                .isTrue();
        assertThat(get(loss).reason()).isEqualTo(Reason.BROKEN);
        assertThat(breaker.lock(name()).tryAcquire(LONG)).isPresent();
    }
}
