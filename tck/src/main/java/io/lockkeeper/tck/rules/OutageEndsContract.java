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
import io.lockkeeper.tck.support.FaultContract;
import io.lockkeeper.tck.support.Promise;
import io.lockkeeper.tck.support.Recorder;
import io.lockkeeper.testkit.Fate;
import io.lockkeeper.testkit.FaultyStore;
import io.lockkeeper.testkit.StepKind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Rule 11 for what ends while the store is away: waits whose time is up, releases, the first looks at latches. Each takes as
 * long as a step may, and many of them, of many names, do not take longer than a few such times.
 */
@SuppressWarnings("LockNotBeforeTry")
public abstract class OutageEndsContract extends FaultContract {
    private static final Duration TIMEOUT = Duration.ofMillis(300);

    /** About two timeouts are promised; the rest is for busy machines. One after the other, it is 40 timeouts or more. */
    private static final Duration FEW_TIMEOUTS = TIMEOUT.multipliedBy(15);

    /** As many as two threads would end in 40 timeouts. */
    private static final int WAITS = 80;

    /** As many as eight threads would end in 40 timeouts. */
    private static final int STEPS = 320;

    private FaultyStore store;
    private Lockkeeper keeper;
    private Lockkeeper other;

    @BeforeEach
    final void keepers() {
        store = faulty();
        other = keeper();
        keeper = keeper(store, b -> b.operationTimeout(TIMEOUT).patience(LONG));
        closing(store::up);
        assertThat(isFree(keeper.lock(name("before")))).isTrue();
    }

    private static <T> List<T> many(int count, IntFunction<T> each) {
        List<T> all = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            all.add(each.apply(i));
        }
        return all;
    }

    private List<Lease> holdMany(Lockkeeper by, int count) throws Exception {
        List<Lease> leases = new ArrayList<>();
        for (Future<Lease> each :
                many(count, i -> by.lock(name("n" + i), longLease()).acquireAsync())) {
            leases.add(get(each));
        }
        return leases;
    }

    private static void assertFewTimeouts(String what, long since) {
        assertThat(Duration.ofNanos(System.nanoTime() - since)).as(what).isLessThan(FEW_TIMEOUTS);
    }

    private static void assertUnavailable(Future<?> future) {
        assertThatThrownBy(() -> get(future)).hasCauseInstanceOf(StoreUnavailableException.class);
    }

    // ---- Waits ----

    @Test
    void waitsForManyNamesDoNotEndOneAfterTheOther() throws Exception {
        List<Lease> held = holdMany(other, WAITS);
        Duration wait = Duration.ofSeconds(5);
        store.resetCounts();
        List<CompletableFuture<?>> waits =
                many(WAITS, i -> keeper.lock(name("n" + i)).tryAcquireAsync(wait));
        long deadline = System.nanoTime() + wait.toNanos();
        await("all have claimed", () -> store.count(StepKind.CLAIM) >= WAITS);
        awaitWaiters(other, name("n" + (WAITS - 1)), 1);
        store.hang(TIMEOUT);
        for (CompletableFuture<?> each : waits) {
            assertUnavailable(each);
        }
        assertFewTimeouts("after the last one's time was up", deadline);
        assertThat(held).allMatch(Lease::isValid);
    }

    @Test
    void anInterruptedCallForSeveralLocksDoesNotWaitForOthersToEnd() throws Exception {
        List<Lease> held = holdMany(other, WAITS);
        store.resetCounts();
        List<CompletableFuture<Lease>> waits =
                many(WAITS, i -> keeper.lock(name("n" + i)).acquireAsync());
        CompletableFuture<Throwable> ended = new CompletableFuture<>();
        DistributedLock several = DistributedLock.all(keeper.lock(name("m")), keeper.lock(name("n0")));
        Thread thread = new Thread(() -> ended.complete(catchThrowable(several::acquire)));
        thread.start();
        await("all have claimed", () -> store.count(StepKind.CLAIM) > WAITS);
        await("it has one part", () -> other.lock(name("m")).isLocked());
        awaitWaiters(other, name("n" + (WAITS - 1)), 1);
        store.hang(TIMEOUT);
        long begin = System.nanoTime();
        waits.forEach(each -> each.cancel(true));
        thread.interrupt();
        assertThat(get(ended)).isInstanceOf(InterruptedException.class);
        assertFewTimeouts("after the interrupt", begin);
        assertThat(held).allMatch(Lease::isValid);
    }

    /** No step has failed yet when the time is up, but the last answer is older than a step may take. */
    @Test
    void aTimeoutWhileTheStoreIsSilentIsAnError() throws Exception {
        Duration wait = Duration.ofMillis(2_500);
        hold(other.lock(name(), longLease()));
        DistributedLock lock = keeper.lock(name());
        DistributedLock several = DistributedLock.all(keeper.lock(name("a")), lock);
        DistributedLock others = DistributedLock.all(keeper.lock(name("b")), lock);
        List<Future<?>> waits = List.of(
                async(() -> lock.tryAcquire(wait)),
                lock.tryAcquireAsync(wait),
                async(() -> lock.tryLock(wait.toMillis(), TimeUnit.MILLISECONDS)),
                async(() -> several.tryAcquire(wait)),
                others.tryAcquireAsync(wait));
        await(
                "parts are held",
                () -> other.lock(name("a")).isLocked() && other.lock(name("b")).isLocked());
        awaitWaiters(other, name(), 1);
        store.hang(wait.plus(TIMEOUT)); // a refresh that is under way has not failed yet
        waits.forEach(OutageEndsContract::assertUnavailable);
    }

    // ---- Steps ----

    @Test
    void manyReleasesDoNotEndOneAfterTheOther() throws Exception {
        List<Lease> held = holdMany(keeper, STEPS);
        store.hang(TIMEOUT);
        long begin = System.nanoTime();
        List<CompletableFuture<Boolean>> releases = new ArrayList<>();
        for (Lease each : held) {
            releases.add(each.releaseAsync());
            assertThat(each.isValid()).as("valid after it was released").isFalse();
        }
        CompletableFuture<Lease> acquires = keeper.lock(name("z")).acquireAsync();
        assertUnavailable(acquires);
        assertFewTimeouts("a claim after many releases", begin);
        for (CompletableFuture<Boolean> each : releases) {
            assertUnavailable(each);
        }
        assertFewTimeouts("many releases", begin);
        store.up();
        for (int i = 0; i < STEPS; i += STEPS / 4) {
            String name = name("n" + i);
            await("it is released in the background", () -> isFree(other.lock(name)));
        }
    }

    @Test
    void manyLooksAtLatchesDoNotEndOneAfterTheOther() throws Exception {
        Promise.needed(keeper.guarantees(), Guarantee.LATCH);
        store.hang(TIMEOUT);
        long begin = System.nanoTime();
        List<CompletableFuture<Void>> looks =
                many(STEPS, i -> keeper.latch(name("n" + i)).awaitAsync());
        CompletableFuture<Lease> acquires = keeper.lock(name("z")).acquireAsync();
        assertUnavailable(acquires);
        assertFewTimeouts("a claim after many looks", begin);
        for (CompletableFuture<Void> each : looks) {
            assertUnavailable(each);
        }
        assertFewTimeouts("many looks", begin);
    }

    // ---- What the listener is notified of ----

    /** Where a store knows its id without asking anybody, that answer is no sign that it is back. */
    @Test
    void severalLocksMadeDuringAnOutageDoNotEndIt() throws Exception {
        Recorder told = new Recorder();
        FaultyStore knowsItsId = faulty();
        Lockkeeper mine = keeper(knowsItsId, b -> b.operationTimeout(TIMEOUT).listener(told));
        assertThat(isFree(DistributedLock.all(mine.lock(name("a")), mine.lock(name("b")))))
                .isTrue();
        knowsItsId.disturb((kind, argument) -> kind == StepKind.ID ? Fate.answered() : Fate.requestLost());
        for (int i = 0; i < 3; i++) {
            DistributedLock all = DistributedLock.all(mine.lock(name("a")), mine.lock(name("b")));
            assertThatThrownBy(all::tryAcquire).isInstanceOf(StoreUnavailableException.class);
        }
        assertThat(knowsItsId.count(StepKind.ID)).as("asked for the id").isLessThanOrEqualTo(1);
        knowsItsId.calm();
        assertThat(isFree(mine.lock(name("after")))).isTrue();
        await("it is up again", () -> told.has("storeUp"));
        assertThat(told.kinds()).filteredOn(kind -> kind.startsWith("store")).containsExactly("storeDown", "storeUp");
    }
}
