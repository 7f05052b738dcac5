// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.lockkeeper.DistributedLock;
import io.lockkeeper.Guarantee;
import io.lockkeeper.Lease;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.spi.Grant;
import io.lockkeeper.spi.Renewals;
import io.lockkeeper.tck.support.FaultContract;
import io.lockkeeper.tck.support.SignalTap;
import io.lockkeeper.testkit.FaultyStore;
import io.lockkeeper.testkit.Gate;
import io.lockkeeper.testkit.StepKind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** Rule 11: errors are not "busy". */
@SuppressWarnings("LockNotBeforeTry")
public abstract class ErrorsContract extends FaultContract {
    private static final Duration TIMEOUT = Duration.ofMillis(200);

    /** Attempts that one step makes within the timeout are fewer. */
    private static final int MORE_THAN_ONE_STEP = 20;

    private Lockkeeper impatient(FaultyStore store) {
        return keeper(store, b -> b.operationTimeout(TIMEOUT));
    }

    // ---- A new claim ----

    /** All ways to ask the store for something new. */
    private Map<String, ThrowingCallable> waysToAsk(Lockkeeper keeper, String name) {
        DistributedLock lock = keeper.lock(name);
        Map<String, ThrowingCallable> ways = new LinkedHashMap<>();
        ways.put("acquire", lock::acquire);
        ways.put("tryAcquire", lock::tryAcquire);
        ways.put("tryAcquire for a while", () -> lock.tryAcquire(LONG));
        ways.put("tryAcquire for a moment", () -> lock.tryAcquire(Duration.ofMillis(1)));
        ways.put("acquireAsync", () -> get(lock.acquireAsync()));
        ways.put("tryAcquireAsync", () -> get(lock.tryAcquireAsync(LONG)));
        ways.put("tryCall", () -> lock.tryCall(LONG, lease -> "never"));
        ways.put("lock", lock::lock);
        ways.put("lockInterruptibly", lock::lockInterruptibly);
        ways.put("tryLock", lock::tryLock);
        ways.put("tryLock for a while", () -> lock.tryLock(30, TimeUnit.SECONDS));
        ways.put("isLocked", lock::isLocked);
        ways.put("inspect", () -> keeper.inspector().inspect(name));
        ways.put("list", () -> keeper.inspector().list(name, 1));
        ways.put("break", () -> keeper.inspector().breakHold(name, 1, Duration.ZERO));
        if (keeper.guarantees().has(Guarantee.SHARED)) {
            ways.put("readLock", () -> keeper.readWriteLock(name).readLock().tryAcquire());
        }
        if (keeper.guarantees().has(Guarantee.PERMITS)) {
            ways.put("semaphore", () -> keeper.semaphore(name, 2).tryAcquire());
        }
        if (keeper.guarantees().has(Guarantee.LATCH)) {
            ways.put("latch", () -> keeper.latch(name).countDown());
        }
        return ways;
    }

    private static Throwable failureOf(String way, ThrowingCallable call) {
        Throwable failure = catchThrowable(call);
        assertThat(failure).as(way).isNotNull();
        return failure instanceof ExecutionException && failure.getCause() != null ? failure.getCause() : failure;
    }

    @Test
    void everyCallToAStoreThatIsDownFailsAfterTheOperationTimeout() {
        FaultyStore store = faulty();
        store.down();
        waysToAsk(impatient(store), name()).forEach((way, call) -> {
            int before = store.count();
            long start = System.nanoTime();
            assertThat(failureOf(way, call)).as(way).isInstanceOf(StoreUnavailableException.class);
            assertPassed(way, start, System.nanoTime(), TIMEOUT);
            assertThat(store.count() - before).as(way + ": steps").isGreaterThan(1);
        });
    }

    @Test
    void aLockThatIsTakenOnAStoreThatIsDownIsAnErrorAndNotBusy() throws Exception {
        hold(keeper().lock(name()));
        FaultyStore store = faulty();
        Lockkeeper keeper = impatient(store);
        assertThat(keeper.lock(name()).tryAcquire()).as("busy").isEmpty();
        store.down();
        long start = System.nanoTime();
        assertThatThrownBy(() -> keeper.lock(name()).tryAcquire()).isInstanceOf(StoreUnavailableException.class);
        assertPassed("the operation timeout", start, System.nanoTime(), TIMEOUT);
        store.up();
        assertThat(keeper.lock(name()).tryAcquire()).as("busy again").isEmpty();
    }

    @Test
    void anErrorThatPassesWithinTheOperationTimeoutIsNotSeen() throws Exception {
        FaultyStore store = faulty();
        Lockkeeper keeper = keeper(store, b -> b.operationTimeout(LONG));
        store.fail(StepKind.CLAIM);
        store.loseReply(StepKind.CLAIM);
        Lease lease = hold(keeper.lock(name()));
        store.fail(StepKind.RELEASE);
        store.loseReply(StepKind.RELEASE);
        assertThat(lease.release()).isTrue();
        assertThat(isFree(keeper().lock(name()))).isTrue();
    }

    @Test
    void anErrorThatRetryingCannotFixIsThrownAtOnce() { // H54
        FaultyStore store = faulty();
        Lockkeeper keeper = keeper(store, b -> b.operationTimeout(LONG));
        StoreUnavailableException refused = StoreUnavailableException.lasting("wrong password", null);
        store.fail(StepKind.CLAIM, refused);
        assertThatThrownBy(() -> keeper.lock(name()).acquire()).isSameAs(refused);
        assertThat(store.count(StepKind.CLAIM)).isEqualTo(1);
        assertThat(refused.worthRepeating()).isFalse();

        store.fail(StepKind.CLAIM, refused);
        assertThat(failureOf("acquireAsync", () -> get(keeper.lock(name()).acquireAsync())))
                .isSameAs(refused);
        store.fail(StepKind.INSPECT, refused);
        assertThatThrownBy(() -> keeper.inspector().inspect(name())).isSameAs(refused);
        assertThat(isFree(keeper.lock(name()))).as("nothing is left").isTrue();
    }

    // ---- A queued claim ----

    @Test
    void aQueuedClaimSurvivesAnOutageShorterThanItsPatience() throws Exception {
        FaultyStore store = faulty();
        Lockkeeper holder = keeper();
        Lease held = hold(holder.lock(name(), keptSafely()));
        Future<Entry> waiting = queue(
                keeper(store, b -> b.operationTimeout(TIMEOUT).patience(LONG)).lock(name()));
        awaitWaiters(holder, name(), 1);
        store.down();
        int before = store.count(StepKind.RENEW);
        await("the store is asked in vain", () -> store.count(StepKind.RENEW) >= before + 3);
        assertThat(waiting.isDone()).isFalse();
        store.up();
        held.release();
        assertThat(get(waiting).lease().token()).isGreaterThan(held.token());
    }

    /** To its user it has been waiting all along: that it has to claim again does not make it a new claim. */
    @Test
    void aWaiterWhoseSessionIsLostSurvivesTheOutageThatFollows() throws Exception {
        FaultyStore store = faulty();
        SignalTap tap = new SignalTap(store);
        Lockkeeper holder = keeper();
        Lease held = hold(holder.lock(name(), longLease()));
        Future<Entry> waiting =
                queue(keeper(tap.store(), b -> b.operationTimeout(TIMEOUT).patience(LONG))
                        .lock(name(), longLease()));
        awaitWaiters(holder, name(), 1);
        store.down();
        int before = store.count(StepKind.CLAIM);
        await("it claims in vain for longer than a step lasts", () -> {
            tap.signals().sessionLost("the test says so"); // again, as its first claim may not have been answered
            return store.count(StepKind.CLAIM) >= before + MORE_THAN_ONE_STEP;
        });
        assertThat(waiting.isDone()).isFalse();
        store.up();
        assertThat(held.release()).isTrue();
        assertThat(get(waiting).lease().token()).isGreaterThan(held.token());
    }

    @Test
    void aWaiterThatCannotTakeUpItsGrantClaimsAgain() throws Exception {
        FaultyStore store = faulty();
        Lockkeeper holder = keeper();
        Lease held = hold(holder.lock(name(), longLease()));
        Future<Entry> waiting = queue(
                keeper(store, b -> b.operationTimeout(TIMEOUT).patience(LONG)).lock(name(), fixed(60_000)));
        awaitWaiters(holder, name(), 1);
        for (int i = 0; i < MORE_THAN_ONE_STEP; i++) {
            store.fail(StepKind.RENEW);
        }
        assertThat(held.release()).isTrue();
        assertThat(get(waiting).lease().token()).isGreaterThan(held.token());
    }

    @Test
    void aQueuedClaimThatWasGrantedDuringAnOutageIsFoundAfterIt() throws Exception {
        FaultyStore store = faulty();
        Lockkeeper holder = keeper();
        Lease held = hold(holder.lock(name(), longLease()));
        Future<Entry> waiting =
                queue(keeper(store, b -> b.patience(Duration.ofSeconds(20))).lock(name(), longLease()));
        awaitWaiters(holder, name(), 1);
        store.down();
        held.release();
        store.up();
        assertThat(get(waiting).lease().isValid()).isTrue();
    }

    @Test
    void queuedClaimsFailWhenTheOutageIsLongerThanTheirPatience() throws Exception {
        Duration patience = Duration.ofSeconds(1);
        FaultyStore store = faulty();
        Lockkeeper holder = keeper();
        Lease held = hold(holder.lock(name(), longLease()));
        Lockkeeper keeper = keeper(store, b -> b.operationTimeout(TIMEOUT).patience(patience));
        long start = System.nanoTime();
        List<Future<Lease>> waiting = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            waiting.add(async(() -> keeper.lock(name()).acquire()));
        }
        awaitWaiters(holder, name(), 1); // of one keeper there is one
        store.down();
        for (Future<Lease> each : waiting) {
            assertThat(failureOf("a waiter", () -> get(each)))
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining(name());
        }
        assertPassed("patience", start, System.nanoTime(), patience);
        store.up();
        awaitWaiters(holder, name(), 0);
        held.release();
        assertThat(isFree(holder.lock(name()))).as("nothing is granted later").isTrue();
    }

    @Test
    void aQueuedClaimFailsAtOnceWithAnErrorThatRetryingCannotFix() throws Exception { // H54
        FaultyStore store = faulty();
        Lockkeeper holder = keeper();
        hold(holder.lock(name(), keptSafely()));
        Future<Entry> waiting =
                queue(keeper(store, b -> b.patience(Duration.ofHours(1))).lock(name()));
        awaitWaiters(holder, name(), 1);
        StoreUnavailableException refused = StoreUnavailableException.lasting("the password was changed", null);
        store.fail(StepKind.RENEW, refused);
        assertThat(failureOf("the waiter", () -> get(waiting)))
                .isInstanceOfSatisfying(StoreUnavailableException.class, e -> {
                    assertThat(e.worthRepeating()).isFalse();
                    assertThat(e.getMessage()).contains("the password was changed");
                });
        awaitWaiters(holder, name(), 0);
    }

    @Test
    void aWaiterTimesOutOnItsOwnDeadlineDuringAnOutage() throws Exception { // H42
        FaultyStore store = faulty();
        Lockkeeper holder = keeper();
        Lease held = hold(holder.lock(name(), longLease()));
        Lockkeeper keeper = keeper(store);
        Duration wait = Duration.ofMillis(700);
        long start = System.nanoTime();
        Future<Boolean> waiting = async(() -> {
            try {
                return keeper.lock(name()).tryAcquire(wait).isPresent();
            } catch (StoreUnavailableException e) {
                return false; // that it is not known, when it has been noticed that the store is away
            }
        });
        awaitWaiters(holder, name(), 1);
        store.down();
        assertThat(get(waiting)).isFalse();
        assertPassed("the wait", start, System.nanoTime(), wait);
        store.up();
        awaitWaiters(holder, name(), 0);
        held.release();
        assertThat(isFree(holder.lock(name()))).isTrue();
    }

    // ---- A release ----

    @Test
    void aLeaseIsInvalidAsSoonAsItIsBeingReleased() throws Exception {
        FaultyStore store = faulty();
        Lease lease = hold(keeper(store).lock(name(), longLease()));
        Gate gate = pauseBefore(store, StepKind.RELEASE);
        Future<Boolean> releasing = async(lease::release);
        awaitArrival(gate);
        assertThat(lease.isValid()).isFalse();
        assertThat(lease.remaining()).isZero();
        gate.open();
        assertThat(get(releasing)).isTrue();
    }

    @Test
    void aReleaseThatDoesNotReachTheStoreFailsAndIsRetriedInTheBackground() throws Exception {
        FaultyStore store = faulty();
        Lockkeeper keeper = impatient(store);
        Map<String, ThrowingCallable> ways = new LinkedHashMap<>();
        Lease released = hold(keeper.lock(name("release"), longLease()));
        ways.put("release", released::release);
        Lease closed = hold(keeper.lock(name("close"), longLease()));
        ways.put("close", closed::close);
        Lease async = hold(keeper.lock(name("releaseAsync"), longLease()));
        ways.put("releaseAsync", () -> get(async.releaseAsync()));
        DistributedLock lock = keeper.lock(name("unlock"), longLease());
        lock.lock();
        Lease unlocked = lock.lease();
        ways.put("unlock", lock::unlock);

        store.down();
        ways.forEach((way, call) -> {
            long start = System.nanoTime();
            assertThat(failureOf(way, call)).as(way).isInstanceOf(StoreUnavailableException.class);
            assertPassed(way, start, System.nanoTime(), TIMEOUT);
        });
        for (Lease lease : List.of(released, closed, async, unlocked)) {
            assertThat(lease.isValid()).as(lease.name()).isFalse();
        }
        assertThat(lock.isHeldByCurrentThread()).isFalse();
        closed.close();
        List<Grant> renewed = new ArrayList<>();
        store.observe((kind, argument) -> {
            if (argument instanceof Renewals batch) {
                batch.holds().forEach(hold -> renewed.add(hold.grant()));
            }
        });
        store.up();
        Lockkeeper other = keeper();
        for (String way : ways.keySet()) { // long before the leases would end
            assertThat(other.lock(name(way)).tryAcquire(LONG)).as(way).isPresent();
        }
        assertThat(renewed).isEmpty();
    }
}
