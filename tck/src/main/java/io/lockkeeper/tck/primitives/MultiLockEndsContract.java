// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.primitives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.lockkeeper.DistributedLock;
import io.lockkeeper.KeeperClosedException;
import io.lockkeeper.KeeperListener;
import io.lockkeeper.Lease;
import io.lockkeeper.LeaseLost;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.tck.support.HandleContract;
import io.lockkeeper.testkit.FaultyStore;
import io.lockkeeper.testkit.Gate;
import io.lockkeeper.testkit.StepKind;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * H85, H91: a call for several locks ends, whatever becomes of a part meanwhile, and then no part is held. The part {@code a}
 * is acquired first; {@code b}, in another store, is held by others, or its step is held up.
 */
@SuppressWarnings("LockNotBeforeTry")
public abstract class MultiLockEndsContract extends HandleContract {
    private FaultyStore storeA;
    private FaultyStore storeB;
    private Lockkeeper keeperA;
    private Lockkeeper keeperB;
    private Lockkeeper other;
    private DistributedLock all;
    private final CompletableFuture<LeaseLost> lossOfA = new CompletableFuture<>();

    /** The ways to ask for several locks. */
    enum Call {
        ACQUIRE,
        TRY_ACQUIRE,
        TRY_ACQUIRE_TIMED,
        ACQUIRE_ASYNC,
        TRY_ACQUIRE_ASYNC,
        LOCK,
        LOCK_INTERRUPTIBLY,
        TRY_LOCK,
        TRY_LOCK_TIMED;

        /** Whether the call got the locks, which are released then; otherwise it fails or gives false. */
        boolean on(DistributedLock lock, Duration wait) throws Exception {
            return switch (this) {
                case ACQUIRE -> release(Optional.of(lock.acquire()));
                case TRY_ACQUIRE -> release(lock.tryAcquire());
                case TRY_ACQUIRE_TIMED -> release(lock.tryAcquire(wait));
                case ACQUIRE_ASYNC -> release(Optional.of(unwrapped(lock.acquireAsync())));
                case TRY_ACQUIRE_ASYNC -> release(unwrapped(lock.tryAcquireAsync(wait)));
                case LOCK -> {
                    lock.lock();
                    yield unlock(lock);
                }
                case LOCK_INTERRUPTIBLY -> {
                    lock.lockInterruptibly();
                    yield unlock(lock);
                }
                case TRY_LOCK -> lock.tryLock() && unlock(lock);
                case TRY_LOCK_TIMED -> lock.tryLock(wait.toNanos(), TimeUnit.NANOSECONDS) && unlock(lock);
            };
        }

        private static boolean release(Optional<Lease> lease) {
            lease.ifPresent(Lease::release);
            return lease.isPresent();
        }

        private static boolean unlock(DistributedLock lock) {
            lock.unlock();
            return true;
        }

        private static <T> T unwrapped(CompletableFuture<T> future) throws Exception {
            try {
                return get(future);
            } catch (ExecutionException e) {
                throw e.getCause() instanceof RuntimeException cause ? cause : e;
            }
        }
    }

    @BeforeEach
    final void twoKeepers() {
        storeA = faulty();
        storeB = faulty();
        KeeperListener listener = new KeeperListener() {
            @Override
            public void lost(LeaseLost loss) {
                lossOfA.complete(loss);
            }
        };
        keeperA = closing(Lockkeeper.builder(storeA)
                .operationTimeout(OPERATION)
                .patience(Duration.ofSeconds(1))
                .listener(listener)
                .build());
        keeperB = impatient(storeB);
        other = keeper();
        all = DistributedLock.all(keeperA.lock(name("a"), outlasting()), keeperB.lock(name("b"), outlasting()));
    }

    private Future<Boolean> start(Call call, Duration wait) {
        return async(() -> call.on(all, wait));
    }

    /** Somebody else has b; the call has a, and waits for b. */
    private Future<Boolean> startBehind(Call call, Duration wait) throws Exception {
        Future<Boolean> waits = start(call, wait);
        await("it has a", () -> other.lock(name("a")).isLocked());
        awaitBehind(storeB, other, name("b"));
        return waits;
    }

    private void allFreeSoon() throws Exception {
        freeSoon(other.lock(name("a")));
        freeSoon(other.lock(name("b")));
    }

    @ParameterizedTest
    @EnumSource(
            value = Call.class,
            names = {"TRY_ACQUIRE", "TRY_LOCK"},
            mode = EnumSource.Mode.EXCLUDE)
    void theStoreOfTheAwaitedPartBecomesUnreachable(Call call) throws Exception {
        Lease held = other.lock(name("b")).acquire();
        Future<Boolean> waits = startBehind(call, LONG);
        storeB.down();
        assertThat(failure(waits)).isInstanceOf(StoreUnavailableException.class);
        freeSoon(other.lock(name("a")));
        storeB.up();
        assertThat(held.release()).isTrue();
        allFreeSoon();
    }

    @ParameterizedTest
    @EnumSource(
            value = Call.class,
            names = {"TRY_ACQUIRE", "TRY_LOCK"},
            mode = EnumSource.Mode.EXCLUDE)
    void bothStoresGoAway(Call call) throws Exception {
        Lease held = other.lock(name("b")).acquire();
        Future<Boolean> waits = startBehind(call, LONG);
        storeA.down();
        storeB.down();
        assertThat(failure(waits)).isInstanceOf(StoreUnavailableException.class);
        storeA.up();
        storeB.up();
        assertThat(held.release()).isTrue();
        allFreeSoon();
    }

    @ParameterizedTest
    @EnumSource(
            value = Call.class,
            names = {"TRY_ACQUIRE_TIMED", "TRY_ACQUIRE_ASYNC", "TRY_LOCK_TIMED"})
    void aPartCannotBeReleasedWhenTheTimeIsUp(Call call) throws Exception {
        Lease held = other.lock(name("b")).acquire();
        Future<Boolean> waits = startBehind(call, Duration.ofSeconds(1));
        storeA.down();
        try {
            assertThat(get(waits)).isFalse();
        } catch (ExecutionException e) { // a release that failed may be reported as well
            assertThat(e).hasCauseInstanceOf(StoreUnavailableException.class);
        }
        storeA.up();
        assertThat(held.release()).isTrue();
        allFreeSoon();
    }

    @ParameterizedTest
    @EnumSource(
            value = Call.class,
            names = {"TRY_ACQUIRE", "TRY_LOCK"},
            mode = EnumSource.Mode.EXCLUDE)
    void theKeeperOfThePartThatIsAwaitedCloses(Call call) throws Exception {
        Lease held = other.lock(name("b")).acquire();
        Future<Boolean> waits = startBehind(call, LONG);
        keeperB.close();
        assertThat(failure(waits)).isInstanceOf(KeeperClosedException.class);
        freeSoon(other.lock(name("a")));
        assertThat(held.release()).isTrue();
        freeSoon(other.lock(name("b")));
    }

    @ParameterizedTest
    @EnumSource(
            value = Call.class,
            names = {"TRY_ACQUIRE", "TRY_LOCK"},
            mode = EnumSource.Mode.EXCLUDE)
    void theKeeperOfThePartThatIsHeldCloses(Call call) throws Exception {
        Lease held = other.lock(name("b")).acquire();
        Future<Boolean> waits = startBehind(call, LONG);
        keeperA.close();
        freeSoon(other.lock(name("a")));
        assertThat(held.release()).isTrue();
        assertThat(failure(waits)).isInstanceOf(KeeperClosedException.class);
        allFreeSoon();
    }

    @ParameterizedTest
    @EnumSource(Call.class)
    void theKeeperOfTheSecondPartWasClosedBefore(Call call) throws Exception {
        keeperB.close();
        assertThat(failure(start(call, LONG))).isInstanceOf(KeeperClosedException.class);
        allFreeSoon();
    }

    @ParameterizedTest
    @EnumSource(
            value = Call.class,
            names = {"TRY_ACQUIRE", "TRY_LOCK", "TRY_ACQUIRE_TIMED", "TRY_ACQUIRE_ASYNC", "TRY_LOCK_TIMED"})
    void aPartIsLostAtTheDeadline(Call call) throws Exception {
        aIsLively();
        Gate gate = gateAfter(storeB, StepKind.CLAIM);
        Future<Boolean> waits = start(call, Duration.ZERO);
        arrive(gate);
        loseA();
        gate.open();
        assertThat(get(waits)).as("without a valid part a, it is not acquired").isFalse();
        allFreeSoon();
    }

    @ParameterizedTest
    @EnumSource(
            value = Call.class,
            names = {"TRY_ACQUIRE", "TRY_LOCK"},
            mode = EnumSource.Mode.EXCLUDE)
    void aPartIsLostWhileTheRestIsAwaitedAndCannotBeAcquiredAgain(Call call) throws Exception {
        Lease held = other.lock(name("b")).acquire();
        aIsLively();
        Future<Boolean> waits = startBehind(call, LONG);
        loseA();
        storeA.down();
        assertThat(held.release()).isTrue();
        assertThat(failure(waits)).isInstanceOf(StoreUnavailableException.class);
        freeSoon(other.lock(name("b")));
        storeA.up();
        allFreeSoon();
    }

    /** The keeper of a learns soon of its loss, also where the store does not push. */
    private void aIsLively() {
        LockOptions lively = LockOptions.defaults().lease(longer(Duration.ofMillis(2_500), keeperA));
        all = DistributedLock.all(keeperA.lock(name("a"), lively), keeperB.lock(name("b"), outlasting()));
    }

    /** Takes a away from the call that has it, and waits until its keeper knows. */
    private void loseA() throws Exception {
        await("a is held", () -> other.lock(name("a")).isLocked());
        long token = other.inspector()
                .inspect(name("a"))
                .orElseThrow()
                .holders()
                .get(0)
                .token();
        assertThat(other.inspector().breakHoldNow(name("a"), token, Duration.ZERO))
                .isTrue();
        assertThat(get(lossOfA).token()).isEqualTo(token);
    }

    @ParameterizedTest
    @EnumSource(
            value = Call.class,
            names = {"ACQUIRE", "TRY_ACQUIRE_TIMED", "LOCK_INTERRUPTIBLY", "TRY_LOCK_TIMED"})
    void anInterruptEndsItAlsoWhenAPartCannotBeReleased(Call call) throws Exception {
        Lease held = other.lock(name("b")).acquire();
        CompletableFuture<Boolean> ended = new CompletableFuture<>();
        Thread waiter = new Thread(() -> {
            try {
                ended.complete(call.on(all, LONG));
            } catch (Throwable e) {
                ended.completeExceptionally(e);
            }
        });
        waiter.start();
        await("it has a", () -> other.lock(name("a")).isLocked());
        awaitBehind(storeB, other, name("b"));
        storeA.down();
        waiter.interrupt();
        assertThat(failure(ended)).isInstanceOf(InterruptedException.class);
        storeA.up();
        assertThat(held.release()).isTrue();
        allFreeSoon();
    }

    @Test
    void aFutureThatIsCancelledReleasesWhatItGetsAfterwards() throws Exception {
        Gate gate = gateAfter(storeB, StepKind.CLAIM);
        CompletableFuture<Lease> future = all.acquireAsync();
        arrive(gate);
        assertThat(isTaken(other.lock(name("b")))).isTrue();
        assertThat(future.cancel(true)).isTrue();
        gate.open();
        assertThat(failure(future)).isInstanceOf(CancellationException.class);
        allFreeSoon();
    }

    @Test
    void aFutureThatIsCancelledReleasesItsPartsOnceTheirStoreIsBack() throws Exception {
        Lease held = other.lock(name("b")).acquire();
        CompletableFuture<Lease> future = all.acquireAsync();
        await("it has a", () -> other.lock(name("a")).isLocked());
        awaitBehind(storeB, other, name("b"));
        storeA.down();
        assertThat(future.cancel(true)).isTrue();
        awaitQueued(other, name("b"), 0);
        storeA.up();
        assertThat(held.release()).isTrue();
        allFreeSoon();
    }

    // ---- H91 ----

    @Test
    void unlockingAllByAThreadThatHasOneChangesNothing() throws Exception {
        for (String mine : new String[] {"a", "b"}) {
            DistributedLock one = mine.equals("a") ? keeperA.lock(name("a")) : keeperB.lock(name("b"));
            one.lock();
            one.lock();
            Lease lease = one.lease();
            assertThatExceptionOfType(IllegalMonitorStateException.class)
                    .isThrownBy(all::unlock)
                    .withMessageNotContaining("lost");
            assertThat(one.holdCount()).as("nothing has changed").isEqualTo(2);
            assertThat(lease.isValid()).isTrue();
            assertThat(isTaken(other.lock(name(mine)))).isTrue();
            one.unlock();
            assertThatExceptionOfType(IllegalMonitorStateException.class).isThrownBy(all::unlock);
            assertThat(one.holdCount()).isOne();
            one.unlock();
            assertThat(isFree(other.lock(name(mine)))).isTrue();
        }
    }

    @Test
    void unlockingAllMoreOftenThanOneOfThemChangesNothing() throws Exception {
        DistributedLock a = keeperA.lock(name("a"));
        a.lock();
        all.lock();
        all.unlock();
        assertThat(a.holdCount()).isOne();
        assertThatExceptionOfType(IllegalMonitorStateException.class).isThrownBy(all::unlock);
        assertThat(a.holdCount()).isOne();
        assertThat(isTaken(other.lock(name("a")))).isTrue();
        a.unlock();
        allFreeSoon();
    }
}
