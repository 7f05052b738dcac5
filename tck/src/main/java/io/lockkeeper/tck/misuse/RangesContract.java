// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.misuse;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import io.lockkeeper.DistributedLock;
import io.lockkeeper.Guarantee;
import io.lockkeeper.Inspector;
import io.lockkeeper.Lease;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.Mode;
import io.lockkeeper.Sequencer;
import io.lockkeeper.tck.support.ApiContract;
import io.lockkeeper.testkit.FaultyStore;
import io.lockkeeper.testkit.StepKind;
import java.time.Duration;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** Values that are out of range or missing are refused before any step; waits of any length mean what they say. */
@SuppressWarnings("LockNotBeforeTry")
public abstract class RangesContract extends ApiContract {
    private static final Duration SMALLEST = Duration.ofSeconds(Long.MIN_VALUE);
    private static final Duration LARGEST = Duration.ofSeconds(Long.MAX_VALUE, 999_999_999);
    private static final Duration NANO = Duration.ofNanos(1);

    // ---- H7: options ----

    @Test
    void leasesOutOfRangeAreRefusedWithTheValueAndTheRange() {
        refuses(LockOptions.defaults()::lease, "lease", Duration.ofSeconds(1), Duration.ofHours(24));
        refuses(LockOptions.defaults()::fixedLease, "fixedLease", Duration.ofMillis(100), Duration.ofHours(24));
        refuses(LockOptions.defaults()::maxHold, "maxHold", Duration.ofMillis(100), Duration.ofHours(24));
        refuses(LockOptions.defaults()::lockDelay, "lockDelay", Duration.ZERO, Duration.ofHours(1));
    }

    private static void refuses(Function<Duration, ?> option, String what, Duration least, Duration most) {
        assertThat(option.apply(least)).isNotNull();
        assertThat(option.apply(most)).isNotNull();
        for (Duration bad : new Duration[] {SMALLEST, least.minus(NANO), most.plus(NANO), LARGEST}) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> option.apply(bad))
                    .withMessageContaining(what)
                    .withMessageContaining(bad.toString())
                    .withMessageContaining(least.toString())
                    .withMessageContaining(most.toString());
        }
    }

    @Test
    void aLabelHasAtMost200Bytes() {
        LockOptions.defaults().label("");
        LockOptions.defaults().label("é".repeat(100));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> LockOptions.defaults().label("é".repeat(100) + "x"))
                .withMessageContaining("200")
                .withMessageContaining("201");
    }

    @Test
    void aLeaseShorterThanTheStoreCanKeepIsRefusedBeforeAnyStep() {
        FaultyStore store = faulty();
        Lockkeeper keeper = keeper(store);
        Duration shortest = keeper.guarantees().shortestLease();
        Duration shorter = Duration.ofMillis(100);
        if (shortest.compareTo(shorter) > 0) {
            LockOptions options = LockOptions.defaults().fixedLease(shorter);
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> keeper.lock(name(), options))
                    .withMessageContaining("shortestLease")
                    .withMessageContaining(shortest.toString());
        } else {
            keeper.lock(name(), LockOptions.defaults().fixedLease(shorter));
        }
        assertThat(store.count()).isZero();
    }

    @Test
    void aRenewalOutOfRangeIsRefusedAndTheLeaseGoesOn() throws Exception {
        FaultyStore store = faulty();
        Lockkeeper keeper = keeper(store);
        LockOptions fixed = LockOptions.defaults().fixedLease(Duration.ofMinutes(1));
        try (Lease lease = keeper.lock(name(), fixed).acquire()) {
            store.resetCounts();
            for (Duration bad : new Duration[] {
                SMALLEST, Duration.ZERO, Duration.ofHours(24).plus(NANO), LARGEST
            }) {
                assertThatIllegalArgumentException().isThrownBy(() -> lease.renew(bad));
            }
            assertThat(store.count()).isZero();
            assertThat(lease.isValid()).isTrue();
        }
    }

    @Test
    void theBuilderRefusesWhatIsOutOfRange() {
        Lockkeeper.Builder builder = Lockkeeper.builder(store());
        refuses(builder::operationTimeout, "operationTimeout", Duration.ofMillis(10), Duration.ofMinutes(1));
        refuses(builder::patience, "patience", Duration.ofMillis(10), Duration.ofHours(1));
        builder.clientName("x".repeat(200));
        for (String bad : new String[] {"", "  ", "x".repeat(201)}) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> builder.clientName(bad))
                    .withMessageContaining(Integer.toString(bad.length()))
                    .withMessageContaining("200");
        }
    }

    @Test
    void anInspectorRefusesNumbersOutOfRangeBeforeAnyStep() {
        FaultyStore store = faulty();
        Inspector inspector = keeper(store).inspector();
        for (int bad : new int[] {Integer.MIN_VALUE, 0, 10_001}) {
            assertThatIllegalArgumentException().isThrownBy(() -> inspector.list("", bad));
        }
        for (long bad : new long[] {Long.MIN_VALUE, 0}) {
            assertThatIllegalArgumentException().isThrownBy(() -> inspector.breakHold(name(), bad, Duration.ZERO));
            assertThatIllegalArgumentException().isThrownBy(() -> new Sequencer(name(), Mode.EXCLUSIVE, bad));
        }
        for (Duration bad : new Duration[] {SMALLEST, NANO.negated(), LARGEST}) {
            assertThatIllegalArgumentException().isThrownBy(() -> inspector.breakHold(name(), 1, bad));
            assertThatIllegalArgumentException().isThrownBy(() -> inspector.breakHoldNow(name(), 1, bad));
        }
        assertThat(store.count()).isZero();
    }

    // ---- H8: waits ----

    @Test
    void waitingForNoTimeOrLessIsOneAttempt() throws Exception {
        FaultyStore store = faulty();
        DistributedLock mine = keeper(store).lock(name());
        DistributedLock other = keeper().lock(name());
        for (Duration none : new Duration[] {Duration.ZERO, NANO.negated(), SMALLEST}) {
            Lease held = other.acquire();
            store.resetCounts();
            assertThat(mine.tryAcquire(none)).isEmpty();
            assertThat(mine.tryLock(none.isZero() ? 0 : Long.MIN_VALUE, TimeUnit.DAYS))
                    .isFalse();
            assertThat(get(mine.tryAcquireAsync(none))).isEmpty();
            assertThat(store.count(StepKind.CLAIM)).isEqualTo(3);
            assertThat(store.count(StepKind.WITHDRAW)).as("nobody queued").isZero();
            assertThat(held.release()).isTrue();
            assertThat(mine.tryAcquire(none).orElseThrow().release()).isTrue();
            assertThat(get(mine.tryAcquireAsync(none)).orElseThrow().release()).isTrue();
            assertThat(mine.tryLock(none.isZero() ? 0 : Long.MIN_VALUE, TimeUnit.DAYS))
                    .isTrue();
            mine.unlock();
        }
    }

    @Test
    void aWaitLongerThanCanBeCountedIsAWaitForever() throws Exception {
        Lockkeeper one = keeper();
        Lockkeeper two = keeper();
        DistributedLock lock = one.lock(name());
        Lease held = lock.acquire();
        Future<Lease> handle = async(() -> two.lock(name()).tryAcquire(LARGEST).orElseThrow());
        awaitQueued(one, name(), 1);
        assertThat(handle).isNotDone();
        held.release();
        Lease second = get(handle);
        Future<Boolean> thread = async(() -> {
            boolean locked = lock.tryLock(Long.MAX_VALUE, TimeUnit.DAYS);
            lock.unlock();
            return locked;
        });
        awaitQueued(one, name(), 1);
        assertThat(thread).isNotDone();
        second.release();
        assertThat(get(thread)).isTrue();
        assertThat(get(lock.tryAcquireAsync(LARGEST)).orElseThrow().release()).isTrue();
    }

    // ---- H9: null ----

    @Test
    void nullIsRefusedAtOnceAndBeforeAnyStep() throws Exception {
        FaultyStore store = faulty();
        Lockkeeper keeper = keeper(store);
        DistributedLock lock = keeper.lock(name());
        Inspector inspector = keeper.inspector();
        refusesNull(() -> keeper.lock(nothing()));
        refusesNull(() -> keeper.lock(name(), nothing()));
        refusesNull(() -> keeper.readWriteLock(nothing()));
        refusesNull(() -> keeper.semaphore(nothing(), 1));
        refusesNull(() -> keeper.latch(nothing()));
        refusesNull(() -> keeper.election(nothing()));
        refusesNull(() -> keeper.election(name(), nothing()));
        refusesNull(() -> keeper.election(name()).start(nothing()));
        refusesNull(() -> lock.tryAcquire(nothing()));
        refusesNull(() -> lock.tryAcquireAsync(nothing()));
        refusesNull(() -> lock.tryCall(nothing(), lease -> "x"));
        refusesNull(() -> lock.tryCall(Duration.ZERO, nothing()));
        refusesNull(() -> lock.tryLock(1, nothing()));
        refusesNull(() -> DistributedLock.all((DistributedLock[]) nothing()));
        refusesNull(() -> DistributedLock.all(lock, nothing()));
        refusesNull(() -> inspector.inspect(nothing()));
        refusesNull(() -> inspector.list(nothing(), 1));
        refusesNull(() -> inspector.check(nothing()));
        refusesNull(() -> inspector.breakHold(nothing(), 1, Duration.ZERO));
        refusesNull(() -> inspector.breakHold(name(), 1, nothing()));
        refusesNull(() -> inspector.breakHoldNow(name(), 1, nothing()));
        refusesNull(() -> inspector.watch(nothing(), info -> {}));
        refusesNull(() -> inspector.watch(name(), nothing()));
        if (keeper.guarantees().has(Guarantee.SHARED)) {
            refusesNull(() -> keeper.readWriteLock(name(), nothing()));
        }
        if (keeper.guarantees().has(Guarantee.PERMITS)) {
            refusesNull(() -> keeper.semaphore(name(), 1, nothing()));
            refusesNull(() -> keeper.semaphore(name(), 1).tryAcquire(1, nothing()));
        }
        if (keeper.guarantees().has(Guarantee.LATCH)) {
            refusesNull(() -> keeper.latch(name(), nothing()));
            refusesNull(() -> keeper.latch(name()).await(nothing()));
        }
        assertThat(store.count()).isZero();
    }

    @Test
    void nullIsRefusedByLeasesOptionsAndTheBuilder() throws Exception {
        Lockkeeper keeper = keeper();
        LockOptions fixed = LockOptions.defaults().fixedLease(Duration.ofMinutes(1));
        try (Lease lease = keeper.lock(name(), fixed).acquire()) {
            refusesNull(() -> lease.onLost(nothing()));
            refusesNull(() -> lease.renew(nothing()));
            assertThat(lease.isValid()).isTrue();
        }
        refusesNull(() -> LockOptions.defaults().lease(nothing()));
        refusesNull(() -> LockOptions.defaults().fixedLease(nothing()));
        refusesNull(() -> LockOptions.defaults().maxHold(nothing()));
        refusesNull(() -> LockOptions.defaults().lockDelay(nothing()));
        refusesNull(() -> LockOptions.defaults().label(nothing()));
        refusesNull(() -> Lockkeeper.on(nothing()));
        refusesNull(() -> Lockkeeper.connect(nothing()));
        Lockkeeper.Builder builder = Lockkeeper.builder(store());
        refusesNull(() -> builder.clientName(nothing()));
        refusesNull(() -> builder.defaults(nothing()));
        refusesNull(() -> builder.listener(nothing()));
        refusesNull(() -> builder.executor(nothing()));
        refusesNull(() -> builder.operationTimeout(nothing()));
        refusesNull(() -> builder.patience(nothing()));
        refusesNull(() -> Sequencer.parse(nothing()));
    }

    private static void refusesNull(ThrowingCallable use) {
        assertThatNullPointerException().isThrownBy(use);
    }
}
