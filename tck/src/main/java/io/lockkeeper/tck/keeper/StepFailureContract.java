// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.keeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.lockkeeper.DistributedLock;
import io.lockkeeper.DistributedReadWriteLock;
import io.lockkeeper.Guarantee;
import io.lockkeeper.Lease;
import io.lockkeeper.LeaseLostException;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.tck.support.HandleContract;
import io.lockkeeper.tck.support.Promise;
import io.lockkeeper.testkit.FaultyStore;
import io.lockkeeper.testkit.Gate;
import io.lockkeeper.testkit.StepKind;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * H93: a step throws something that no store should throw: a defect of a store or its driver, or an {@link Error}. The caller
 * that made the step fails with it, no other caller hangs, and what was or may have been held ends in the store before its lease does.
 */
@SuppressWarnings("LockNotBeforeTry")
public abstract class StepFailureContract extends HandleContract {
    private FaultyStore store;
    private Lockkeeper keeper;
    private Lockkeeper other;

    /** What a step may throw. */
    enum Thrown {
        NULL_POINTER,
        UNDECLARED,
        STACK_OVERFLOW,
        OUT_OF_MEMORY;

        Throwable make() {
            return switch (this) {
                case NULL_POINTER -> new NullPointerException("injected");
                case UNDECLARED -> new IOException("injected, and declared nowhere");
                case STACK_OVERFLOW -> new StackOverflowError("injected");
                case OUT_OF_MEMORY -> new OutOfMemoryError("injected");
            };
        }
    }

    @BeforeEach
    final void keepers() {
        store = faulty();
        keeper = enduring(store);
        other = keeper();
    }

    /** Acquires the lock; fails, and does not wait without end, where an earlier failure has left something behind. */
    private Lease acquire() throws InterruptedException {
        return keeper.lock(name(), outlasting())
                .tryAcquire(LONG)
                .orElseThrow(() -> new AssertionError("'" + name() + "' is not free"));
    }

    private void failNext(StepKind kind, Throwable failure, boolean carriedOut) {
        if (carriedOut) {
            store.failAfter(kind, failure);
        } else {
            store.fail(kind, failure);
        }
    }

    /** It failed with this, or with something that has it as a cause. */
    private static void failedWith(Future<?> future, Throwable failure) {
        failedWith(failure(future), failure);
    }

    private static void failedWith(Throwable thrown, Throwable failure) {
        Throwable e = thrown;
        while (e != failure && e != null) {
            e = e.getCause();
        }
        assertThat(e).as("the cause of " + thrown).isSameAs(failure);
    }

    private static LockOptions fixed() {
        return LockOptions.defaults().fixedLease(LONG);
    }

    @ParameterizedTest
    @EnumSource(Thrown.class)
    void aClaimThatThrows(Thrown thrown) throws Exception {
        for (boolean carriedOut : new boolean[] {false, true}) {
            DistributedLock lock = keeper.lock(name(), outlasting());
            Throwable failure = thrown.make();
            failNext(StepKind.CLAIM, failure, carriedOut);
            failedWith(async(lock::acquire), failure);
            freeSoon(other.lock(name()));
            failNext(StepKind.CLAIM, failure, carriedOut);
            failedWith(async(lock::tryAcquire), failure);
            freeSoon(other.lock(name()));
            failNext(StepKind.CLAIM, failure, carriedOut);
            failedWith(
                    get(async(() -> {
                        Throwable got = catchThrowable(lock::lock);
                        assertThat(lock.isHeldByCurrentThread()).isFalse();
                        return got;
                    })),
                    failure);
            freeSoon(other.lock(name()));
            failNext(StepKind.CLAIM, failure, carriedOut);
            failedWith(lock.acquireAsync(), failure);
            freeSoon(other.lock(name()));
            failNext(StepKind.CLAIM, failure, carriedOut);
            failedWith(lock.tryAcquireAsync(LONG), failure);
            freeSoon(other.lock(name()));
        }
    }

    @ParameterizedTest
    @EnumSource(Thrown.class)
    void aClaimThatThrowsOnAVirtualThread(Thrown thrown) throws Exception {
        if (!hasVirtualThreads()) {
            return;
        }
        for (boolean carriedOut : new boolean[] {false, true}) {
            Throwable failure = thrown.make();
            failNext(StepKind.CLAIM, failure, carriedOut);
            failedWith(onVirtualThread(() -> keeper.lock(name(), outlasting()).acquire()), failure);
            freeSoon(other.lock(name()));
        }
    }

    @ParameterizedTest
    @EnumSource(Thrown.class)
    void otherWaitersOfTheSameClaimFailOrKeepWaiting(Thrown thrown) throws Exception {
        DistributedLock lock = keeper.lock(name(), outlasting());
        Gate gate = gateBefore(store, StepKind.TIME); // the first claim of a keeper asks for the time
        List<Future<Lease>> waits = new ArrayList<>();
        waits.add(lock.acquireAsync());
        arrive(gate);
        for (int i = 0; i < 3; i++) {
            waits.add(lock.acquireAsync());
            waits.add(async(lock::acquire));
        }
        Throwable failure = thrown.make();
        failNext(StepKind.CLAIM, failure, true);
        gate.open();
        List<CompletableFuture<Boolean>> ends = new ArrayList<>();
        for (Future<Lease> each : waits) {
            CompletableFuture<Boolean> ended = new CompletableFuture<>();
            ends.add(ended);
            async(() -> {
                try {
                    ended.complete(get(each).release());
                } catch (ExecutionException e) {
                    failedWith(e, failure);
                    ended.complete(false);
                } catch (Throwable e) {
                    ended.completeExceptionally(e);
                }
                return true;
            });
        }
        int failed = 0;
        for (CompletableFuture<Boolean> each : ends) {
            failed += get(each) ? 0 : 1;
        }
        assertThat(failed).as("who failed").isPositive();
        freeSoon(other.lock(name()));
        assertThat(get(lock.acquireAsync()).release())
                .as("later ones are served")
                .isTrue();
    }

    @ParameterizedTest
    @EnumSource(Thrown.class)
    void aReadingOfTheClockThatThrows(Thrown thrown) throws Exception {
        Throwable failure = thrown.make();
        store.fail(StepKind.TIME, failure);
        failedWith(keeper.lock(name(), outlasting()).acquireAsync(), failure);
        keepers();
        store.fail(StepKind.TIME, failure);
        failedWith(async(() -> keeper.lock(name()).acquire()), failure);
        assertThat(acquire().release()).isTrue();
        freeSoon(other.lock(name()));
    }

    @ParameterizedTest
    @EnumSource(Thrown.class)
    void aConfirmationThatThrows(Thrown thrown) throws Exception {
        Promise.needed(keeper.guarantees(), Guarantee.FAIR); // otherwise nothing is handed over
        for (boolean carriedOut : new boolean[] {false, true}) {
            for (boolean async : new boolean[] {false, true}) {
                keepers();
                Lease held = other.lock(name()).acquire();
                DistributedLock lock = keeper.lock(name(), fixed());
                Future<Lease> waits = async ? lock.acquireAsync() : async(lock::acquire);
                awaitBehind(store, other, name());
                Throwable failure = thrown.make();
                failNext(StepKind.RENEW, failure, carriedOut);
                assertThat(held.release()).isTrue();
                failedWith(waits, failure);
                freeSoon(other.lock(name()));
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Thrown.class)
    void aRenewalThatThrowsIsMadeAgain(Thrown thrown) throws Exception {
        LockOptions lively = LockOptions.defaults().lease(longer(Duration.ofMillis(2_500), keeper));
        Lease lease = keeper.lock(name("kept"), lively).acquire();
        Lease held = other.lock(name()).acquire();
        CompletableFuture<Lease> waits = keeper.lock(name(), outlasting()).acquireAsync();
        awaitBehind(store, other, name());
        store.resetCounts();
        store.fail(StepKind.RENEW, thrown.make());
        store.failAfter(StepKind.RENEW, thrown.make());
        await("it is renewed again", () -> store.count(StepKind.RENEW) >= 4);
        assertThat(lease.isValid()).isTrue();
        assertThat(held.release()).isTrue();
        assertThat(get(waits).release()).isTrue();
        assertThat(lease.release()).isTrue();
    }

    @ParameterizedTest
    @EnumSource(Thrown.class)
    void aReleaseThatThrows(Thrown thrown) throws Exception {
        for (boolean carriedOut : new boolean[] {false, true}) {
            Throwable failure = thrown.make();
            Lease lease = acquire();
            failNext(StepKind.RELEASE, failure, carriedOut);
            failedWith(catchThrowable(lease::release), failure);
            assertThat(lease.isValid()).isFalse();
            freeSoon(other.lock(name()));

            Lease closed = acquire();
            failNext(StepKind.RELEASE, failure, carriedOut);
            failedWith(catchThrowable(closed::close), failure);
            freeSoon(other.lock(name()));

            Lease later = acquire();
            failNext(StepKind.RELEASE, failure, carriedOut);
            failedWith(later.releaseAsync(), failure);
            assertThat(later.isValid()).isFalse();
            freeSoon(other.lock(name()));

            DistributedLock lock = keeper.lock(name(), outlasting());
            assertThat(lock.tryLock(LONG.toSeconds(), TimeUnit.SECONDS)).isTrue();
            failNext(StepKind.RELEASE, failure, carriedOut);
            failedWith(catchThrowable(lock::unlock), failure);
            assertThat(lock.isHeldByCurrentThread()).isFalse();
            freeSoon(other.lock(name()));
        }
    }

    @ParameterizedTest
    @EnumSource(Thrown.class)
    void aWaiterAfterAReleaseThatThrowsIsServed(Thrown thrown) throws Exception {
        DistributedLock lock = keeper.lock(name(), outlasting());
        Lease lease = lock.acquire();
        assertThat(lease.sequencer().token()).isEqualTo(lease.token()); // so that it is not passed on
        CompletableFuture<Lease> next = lock.acquireAsync();
        CompletableFuture<Lease> others = other.lock(name(), outlasting()).acquireAsync();
        awaitQueued(other, name(), 1);
        Throwable failure = thrown.make();
        store.fail(StepKind.RELEASE, failure);
        failedWith(catchThrowable(lease::release), failure);
        soon("one of them is served", () -> next.isDone() || others.isDone());
        next.thenAccept(Lease::release);
        others.thenAccept(Lease::release);
        get(next);
        get(others);
        freeSoon(other.lock(name()));
    }

    @ParameterizedTest
    @EnumSource(Thrown.class)
    void aDowngradeThatThrows(Thrown thrown) throws Exception {
        Promise.needed(keeper.guarantees(), Guarantee.SHARED);
        for (boolean carriedOut : new boolean[] {false, true}) {
            DistributedReadWriteLock both = keeper.readWriteLock(name(), outlasting());
            assertThat(both.writeLock().tryLock(LONG.toSeconds(), TimeUnit.SECONDS))
                    .isTrue();
            both.readLock().lock();
            Throwable failure = thrown.make();
            failNext(StepKind.DOWNGRADE, failure, carriedOut);
            failedWith(catchThrowable(both.writeLock()::unlock), failure);
            assertThat(both.writeLock().isHeldByCurrentThread()).isFalse();
            Throwable lost = catchThrowable(both.readLock()::unlock);
            if (lost != null) {
                assertThat(lost)
                        .isInstanceOf(IllegalMonitorStateException.class)
                        .hasCauseInstanceOf(LeaseLostException.class);
            }
            assertThat(both.readLock().isHeldByCurrentThread()).isFalse();
            freeSoon(other.lock(name()));
        }
    }

    @ParameterizedTest
    @EnumSource(Thrown.class)
    void aWithdrawalThatThrows(Thrown thrown) throws Exception {
        Promise.needed(keeper.guarantees(), Guarantee.FAIR);
        for (boolean carriedOut : new boolean[] {false, true}) {
            for (boolean async : new boolean[] {false, true}) {
                Lease held = other.lock(name()).acquire();
                DistributedLock lock = keeper.lock(name(), outlasting());
                Throwable failure = thrown.make();
                failNext(StepKind.WITHDRAW, failure, carriedOut);
                Duration wait = Duration.ofMillis(200);
                Future<Optional<Lease>> tries = async ? lock.tryAcquireAsync(wait) : async(() -> lock.tryAcquire(wait));
                try {
                    assertThat(get(tries)).isEmpty();
                } catch (ExecutionException e) { // or it reports what was thrown
                    failedWith(e, failure);
                }
                soon("it has left the queue", () -> other.inspector()
                        .inspect(name())
                        .filter(info -> info.waiters() == 0)
                        .isPresent());
                assertThat(held.release()).isTrue();
                freeSoon(other.lock(name()));
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Thrown.class)
    void aStepOnALatchThatThrows(Thrown thrown) throws Exception {
        Promise.needed(keeper.guarantees(), Guarantee.LATCH);
        Lockkeeper mine = impatient(store); // looks three times a second
        Throwable failure = thrown.make();
        assertThat(other.latch(name()).trySetCount(1)).isTrue();
        store.loseSignals(true); // a signal would cause a look, which might meet the failure meant for another step
        store.fail(StepKind.LATCH, failure);
        failedWith(catchThrowable(mine.latch(name())::count), failure);
        store.fail(StepKind.LATCH, failure);
        failedWith(catchThrowable(() -> mine.latch(name()).await(LONG)), failure);
        store.fail(StepKind.LATCH, failure);
        failedWith(mine.latch(name()).awaitAsync(), failure);

        CompletableFuture<Void> first = mine.latch(name()).awaitAsync();
        Future<Boolean> second = async(() -> mine.latch(name()).await(LONG));
        store.resetCounts();
        await("it looks again", () -> store.count(StepKind.LATCH) >= 3);
        store.resetCounts();
        store.fail(StepKind.LATCH, failure);
        await("the look that throws", () -> store.count(StepKind.LATCH) >= 1);
        other.latch(name()).countDown();
        for (Future<?> each : List.of(first, second)) {
            try {
                get(each);
            } catch (ExecutionException e) { // it may fail with it; it must not hang
                failedWith(e, failure);
            }
        }
    }
}
