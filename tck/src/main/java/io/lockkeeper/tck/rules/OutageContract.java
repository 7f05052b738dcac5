// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lockkeeper.DistributedLock;
import io.lockkeeper.Lease;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.ClaimId;
import io.lockkeeper.tck.support.FaultContract;
import io.lockkeeper.tck.support.Recorder;
import io.lockkeeper.tck.support.SignalTap;
import io.lockkeeper.testkit.FaultyStore;
import io.lockkeeper.testkit.Gate;
import io.lockkeeper.testkit.StepKind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Rule 11 for a crowd (H61): when the store goes away, all callers that wait for the same step fail together, and none learns
 * falsely that the lock was taken. Machines may be busy, so it is steps that are counted, not seconds.
 */
@SuppressWarnings("LockNotBeforeTry")
public abstract class OutageContract extends FaultContract {
    private static final Duration TIMEOUT = Duration.ofMillis(300);

    /** A wait that is longer than two operation timeouts, and shorter than one for each thread of a crowd. */
    private static final Duration WAIT = Duration.ofSeconds(3);

    private static final int CROWD = 32;

    /**
     * The first claim, the one that fails all who came while the first was under way, and some for threads that this machine
     * did not let run for a whole timeout. One after the other, the crowd would make as many as it has threads.
     */
    private static final int FEW = 10;

    /** The ways to ask for a lock that differ in how they wait. */
    private enum Asks {
        ACQUIRE,
        TRY_ONCE,
        TRY_FOR_A_WHILE,
        LOCK,
        TRY_LOCK_FOR_A_WHILE,
        ACQUIRE_ASYNC,
        TRY_ASYNC_FOR_A_WHILE;

        /** Asks; says what came of it. */
        String of(DistributedLock lock) throws Exception {
            try {
                return switch (this) {
                    case ACQUIRE -> outcome(Optional.of(lock.acquire()));
                    case TRY_ONCE -> outcome(lock.tryAcquire());
                    case TRY_FOR_A_WHILE -> outcome(lock.tryAcquire(WAIT));
                    case LOCK -> {
                        lock.lock();
                        yield "acquired";
                    }
                    case TRY_LOCK_FOR_A_WHILE ->
                        lock.tryLock(WAIT.toMillis(), TimeUnit.MILLISECONDS) ? "acquired" : "not acquired";
                    case ACQUIRE_ASYNC -> outcome(Optional.of(get(lock.acquireAsync())));
                    case TRY_ASYNC_FOR_A_WHILE -> outcome(get(lock.tryAcquireAsync(WAIT)));
                };
            } catch (StoreUnavailableException e) {
                return UNAVAILABLE;
            } catch (ExecutionException e) {
                return e.getCause() instanceof StoreUnavailableException ? UNAVAILABLE : "failed: " + e.getCause();
            }
        }

        private static String outcome(Optional<Lease> lease) {
            return lease.isPresent() ? "acquired" : "not acquired";
        }

        static Asks nth(int i) {
            return values()[i % values().length];
        }
    }

    private static final String UNAVAILABLE = "unavailable";

    /** A keeper that has spoken to its store before. */
    private Lockkeeper connected(FaultyStore store) {
        closing(store::up);
        Lockkeeper keeper = keeper(store, b -> b.operationTimeout(TIMEOUT));
        assertThat(isFree(keeper.lock(name("before")))).isTrue();
        store.resetCounts();
        return keeper;
    }

    /** What became of a crowd that asks at the same time, each thread in its own way. */
    private List<String> ask(IntFunction<Asks> how, IntFunction<DistributedLock> what) throws Exception {
        CyclicBarrier together = new CyclicBarrier(CROWD);
        List<Future<String>> all = new ArrayList<>();
        for (int i = 0; i < CROWD; i++) {
            Asks asks = how.apply(i);
            DistributedLock lock = what.apply(i);
            all.add(async(() -> {
                together.await();
                return asks.of(lock);
            }));
        }
        List<String> outcomes = new ArrayList<>();
        for (Future<String> each : all) {
            outcomes.add(get(each));
        }
        return outcomes;
    }

    private static int claims(FaultyStore store) {
        return store.count(StepKind.CLAIM) + store.count(StepKind.TIME);
    }

    // ---- A new claim ----

    @ParameterizedTest
    @EnumSource(Asks.class)
    void aCrowdThatWantsOneNameOfAStoreThatHangsFailsTogether(Asks way) throws Exception {
        FaultyStore store = faulty();
        Lockkeeper keeper = connected(store);
        store.hang(TIMEOUT);
        assertThat(ask(i -> way, i -> keeper.lock(name()))).containsOnly(UNAVAILABLE);
        assertThat(claims(store)).as("steps for a crowd").isLessThanOrEqualTo(FEW);
    }

    @Test
    void aMixedCrowdThatWantsOneNameOfAStoreThatHangsFailsTogether() throws Exception {
        FaultyStore store = faulty();
        Lockkeeper keeper = connected(store);
        store.hang(TIMEOUT);
        assertThat(ask(Asks::nth, i -> keeper.lock(name()))).containsOnly(UNAVAILABLE);
        assertThat(claims(store)).as("steps for a crowd").isLessThanOrEqualTo(FEW);
    }

    /** Here a step fails at once and is repeated until the timeout is over: what counts is who has it repeated. */
    @Test
    void aMixedCrowdThatWantsOneNameOfAStoreThatIsDownFailsTogether() throws Exception {
        FaultyStore store = faulty();
        Lockkeeper keeper = connected(store);
        Set<ClaimId> made = ConcurrentHashMap.newKeySet();
        store.observe((kind, argument) -> {
            if (kind == StepKind.CLAIM) {
                made.add(((Claim) argument).id());
            }
        });
        store.down();
        assertThat(ask(Asks::nth, i -> keeper.lock(name()))).containsOnly(UNAVAILABLE);
        assertThat(made).as("claims for a crowd").hasSizeLessThanOrEqualTo(FEW);
    }

    @Test
    void aCrowdThatWantsManyNamesOfAStoreThatIsDownFails() throws Exception {
        FaultyStore store = faulty();
        Lockkeeper keeper = connected(store);
        store.down();
        assertThat(ask(Asks::nth, i -> keeper.lock(name("n" + i)))).containsOnly(UNAVAILABLE);
    }

    @Test
    void aCrowdThatWantsManyNamesOfAStoreThatHangsFails() throws Exception {
        FaultyStore store = faulty();
        Lockkeeper keeper = connected(store);
        store.hang(TIMEOUT);
        assertThat(ask(Asks::nth, i -> keeper.lock(name("n" + i)))).containsOnly(UNAVAILABLE);
    }

    /** In turns of eight, as many as a lane has threads, they would need sixteen timeouts. */
    @Test
    void futuresOfManyNamesDoNotFailOneAfterTheOther() throws Exception {
        FaultyStore store = faulty();
        Lockkeeper keeper = connected(store);
        store.hang(TIMEOUT);
        long start = System.nanoTime();
        List<Future<Lease>> all = new ArrayList<>();
        for (int i = 0; i < 4 * CROWD; i++) {
            all.add(keeper.lock(name("n" + i)).acquireAsync());
        }
        for (Future<Lease> each : all) {
            assertThatThrownBy(() -> get(each)).hasCauseInstanceOf(StoreUnavailableException.class);
        }
        // About two are promised; the rest is for busy machines.
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(TIMEOUT.multipliedBy(8));
    }

    /** A time that ends says only how long somebody would wait for the lock, and not that it was taken. */
    @Test
    void aTimeoutBeforeTheFirstAnswerIsAnError() throws Exception {
        FaultyStore store = faulty();
        Lockkeeper keeper = connected(store);
        Duration moment = TIMEOUT.dividedBy(3);
        store.hang(TIMEOUT);
        CyclicBarrier together = new CyclicBarrier(CROWD);
        List<Future<Optional<Lease>>> all = new ArrayList<>();
        for (int i = 0; i < CROWD; i++) {
            boolean blocks = i % 2 == 0;
            all.add(async(() -> {
                together.await();
                DistributedLock lock = keeper.lock(name());
                return blocks ? lock.tryAcquire(moment) : get(lock.tryAcquireAsync(moment));
            }));
        }
        for (Future<Optional<Lease>> each : all) {
            assertThatThrownBy(() -> get(each)).hasRootCauseInstanceOf(StoreUnavailableException.class);
        }
    }

    /** The counterpart: a step that is merely slow has an answer, and it is that answer that all are told. */
    @Test
    void aTimeoutBeforeASlowAnswerMeansThatTheLockIsTaken() throws Exception {
        hold(keeper().lock(name(), longLease()));
        FaultyStore store = faulty();
        Lockkeeper keeper = keeper(store, b -> b.operationTimeout(LONG));
        Gate gate = pauseAfter(store, StepKind.CLAIM);
        Future<Optional<Lease>> waiting = async(() -> keeper.lock(name()).tryAcquire(Duration.ofMillis(50)));
        awaitArrival(gate);
        gate.open();
        assertThat(get(waiting)).isEmpty();
    }

    @Test
    void aCrowdIsServedWhenTheStoreIsBack() throws Exception {
        FaultyStore store = faulty();
        Lockkeeper keeper = connected(store);
        store.hang(TIMEOUT);
        assertThat(ask(Asks::nth, i -> keeper.lock(name()))).containsOnly(UNAVAILABLE);
        store.up();
        try (Lease lease = keeper.lock(name()).tryAcquire(LONG).orElseThrow()) {
            assertThat(lease.isValid()).isTrue();
        }
        assertThat(keeper().lock(name()).tryAcquire(LONG)).as("nothing is left").isPresent();
    }

    // ---- A queued claim ----

    /** Fails one refresh of a queued claim, after the store has gone away; the claim itself may go on for long. */
    private static void failARefresh(FaultyStore store, SignalTap tap) throws InterruptedException {
        int before = store.count(StepKind.RENEW);
        await("a refresh fails", () -> {
            tap.signals().missed(); // again, as its claim may not have been answered yet
            return store.count(StepKind.RENEW) > before;
        });
    }

    @Test
    void aQueuedWaiterThatTimesOutDuringAnOutageGetsAnError() throws Exception {
        FaultyStore store = faulty();
        closing(store::up);
        SignalTap tap = new SignalTap(store);
        Lockkeeper holder = keeper();
        hold(holder.lock(name(), longLease()));
        Lockkeeper keeper = keeper(tap.store(), b -> b.operationTimeout(TIMEOUT).patience(LONG));
        Future<Optional<Lease>> blocked = async(() -> keeper.lock(name()).tryAcquire(WAIT));
        Future<Optional<Lease>> future = keeper.lock(name()).tryAcquireAsync(WAIT);
        Future<Boolean> locking = async(() -> keeper.lock(name()).tryLock(WAIT.toMillis(), TimeUnit.MILLISECONDS));
        awaitWaiters(holder, name(), 1);
        store.down();
        failARefresh(store, tap);
        for (Future<?> each : List.of(blocked, future, locking)) {
            assertThatThrownBy(() -> get(each)).hasCauseInstanceOf(StoreUnavailableException.class);
        }
        store.up();
        awaitWaiters(holder, name(), 0);
    }

    @Test
    void aQueuedWaiterThatTimesOutAfterAnOutageLearnsThatTheLockIsTaken() throws Exception {
        FaultyStore store = faulty();
        SignalTap tap = new SignalTap(store);
        Lockkeeper holder = keeper();
        hold(holder.lock(name(), longLease()));
        Lockkeeper keeper = keeper(tap.store(), b -> b.operationTimeout(TIMEOUT).patience(LONG));
        Future<Optional<Lease>> waiting = async(() -> keeper.lock(name()).tryAcquire(WAIT));
        awaitWaiters(holder, name(), 1);
        store.down();
        failARefresh(store, tap);
        store.up(); // and the claim is refreshed
        assertThat(get(waiting)).isEmpty();
    }

    // ---- What the listener is notified of ----

    @Test
    void anOutageIsReportedOnceHoweverManyThreadsMeetIt() throws Exception {
        FaultyStore store = faulty();
        closing(store::up);
        Recorder told = new Recorder();
        Lockkeeper keeper = keeper(store, b -> b.operationTimeout(TIMEOUT).listener(told));
        assertThat(isFree(keeper.lock(name("before")))).isTrue();
        store.down();
        assertThat(ask(Asks::nth, i -> keeper.lock(name("n" + i)))).containsOnly(UNAVAILABLE);
        store.up();
        assertThat(ask(Asks::nth, i -> keeper.lock(name("m" + i)))).containsOnly("acquired");
        await("it is up again", () -> told.has("storeUp"));
        assertToldOnce(told);
    }

    /** An answer to what was asked before the store went away is no sign that it is back. */
    @Test
    void anAnswerFromBeforeTheOutageDoesNotEndIt() throws Exception {
        FaultyStore store = faulty();
        closing(store::up);
        Recorder told = new Recorder();
        Lockkeeper keeper = keeper(store, b -> b.operationTimeout(TIMEOUT).listener(told));
        assertThat(isFree(keeper.lock(name("before")))).isTrue();
        List<Gate> gates = new ArrayList<>();
        List<Future<Entry>> slow = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            gates.add(pauseAfter(store, StepKind.CLAIM));
            slow.add(queue(keeper.lock(name("slow" + i), longLease())));
            awaitArrival(gates.get(i));
        }
        store.down();
        for (int i = 0; i < 4; i++) {
            String name = name("n" + i);
            assertThatThrownBy(() -> keeper.lock(name).tryAcquire()).isInstanceOf(StoreUnavailableException.class);
            gates.get(i).open();
            get(slow.get(i));
        }
        store.up();
        assertThat(isFree(keeper.lock(name("after")))).isTrue();
        await("it is up again", () -> told.has("storeUp"));
        await(
                "everything is reported",
                () -> told.kinds().stream().filter("acquired"::equals).count() >= 6);
        assertToldOnce(told);
    }

    private static void assertToldOnce(Recorder told) {
        assertThat(told.kinds()).filteredOn(kind -> kind.startsWith("store")).containsExactly("storeDown", "storeUp");
    }
}
