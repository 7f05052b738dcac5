// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.Lease;
import io.lockkeeper.LockInfo;
import io.lockkeeper.LockOptions;
import io.lockkeeper.memory.MemoryCore;
import io.lockkeeper.memory.MemoryStore;
import io.lockkeeper.spi.LockStore;
import io.lockkeeper.spi.Ticker;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The moments that races rarely meet, brought about on purpose: the clock and the store are asked at known places, and
 * do something there first. Time stands still otherwise, so that nothing is rescued by a later look. (Law 4, 8 and 13.)
 */
final class LastMomentTest {
    /** A clock that does something when a certain thread looks at it after having parked once. */
    private static final class Clock implements Ticker {
        private final AtomicLong now = new AtomicLong(1_000_000_000);
        private final AtomicReference<Runnable> hook = new AtomicReference<>();
        private volatile Thread victim;
        private volatile boolean armed;

        @Override
        public long nanos() {
            if (armed && Thread.currentThread() == victim) {
                armed = false;
                hook.get().run();
            }
            return now.get();
        }

        @Override
        public void parkUntil(long deadline) {
            if (Thread.currentThread() == victim && hook.get() != null && !armed) {
                armed = true; // wakes for no reason, as parked threads may
                return;
            }
            if (now.get() < deadline) {
                LockSupport.parkNanos(this, 50_000_000);
            }
        }
    }

    private final Clock clock = new Clock();
    private final MemoryCore core = MemoryCore.on(clock);
    private final AtomicReference<BiConsumer<String, Object>> afterStep = new AtomicReference<>((step, answer) -> {});
    private final AtomicReference<BiConsumer<String, Object[]>> beforeStep = new AtomicReference<>((step, args) -> {});
    private final Rig holders = new Rig(core, null);
    private final Rig waiters = new Rig(core, hooked(), null);

    @AfterEach
    void end() {
        waiters.close();
        holders.close();
    }

    private LockStore hooked() {
        LockStore store = new MemoryStore(core);
        return (LockStore) Proxy.newProxyInstance(
                LastMomentTest.class.getClassLoader(), new Class<?>[] {LockStore.class}, (proxy, method, args) -> {
                    try {
                        beforeStep.get().accept(method.getName(), args);
                        Object answer = method.invoke(store, args);
                        afterStep.get().accept(method.getName(), answer);
                        return answer;
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    private int queued() {
        return new MemoryStore(core).inspect("x").map(LockInfo::waiters).orElse(0);
    }

    private KeeperLock holderLock(HandOffRaceTest.Way way) {
        return (way == HandOffRaceTest.Way.REMOTE ? holders : waiters)
                .lock("x", LockOptions.defaults().fair(way == HandOffRaceTest.Way.FAIR));
    }

    private KeeperLock waiterLock(HandOffRaceTest.Way way) {
        return waiters.lock("x", LockOptions.defaults().fair(way == HandOffRaceTest.Way.FAIR));
    }

    /** Has the waiter's thread look at the clock, do {@code hook} there, and go on; gives what it got, and its flag. */
    private <T> T onThread(Callable<T> wait, Runnable hook, AtomicReference<Boolean> flag) throws Exception {
        CompletableFuture<T> result = new CompletableFuture<>();
        clock.hook.set(hook);
        Thread thread = new Thread(() -> {
            clock.victim = Thread.currentThread();
            try {
                T got = wait.call();
                flag.set(Thread.currentThread().isInterrupted());
                result.complete(got);
            } catch (Exception e) {
                result.completeExceptionally(e);
            }
        });
        thread.start();
        return result.get(Race.LONG_SECONDS, TimeUnit.SECONDS);
    }

    private void assertFree() throws Exception {
        waiters.assertNothingIsLeft();
        holders.assertNothingIsLeft();
    }

    /** Hazard H20. */
    @ParameterizedTest
    @EnumSource
    void anInterruptAtTheInstantOfTheGrantTakesTheGrantAndKeepsTheFlag(HandOffRaceTest.Way way) throws Exception {
        Lease first = holderLock(way).acquire();
        AtomicReference<Boolean> flag = new AtomicReference<>();
        Optional<Lease> second = onThread(
                () -> waiterLock(way).tryAcquire(Duration.ofHours(1)),
                () -> {
                    first.release();
                    Thread.currentThread().interrupt();
                },
                flag);
        assertThat(second).isPresent();
        assertThat(second.get().token()).isGreaterThan(first.token());
        assertThat(flag).as("the interrupt is not swallowed").hasValue(true);
        assertThat(second.get().release()).isTrue();
        assertFree();
    }

    @ParameterizedTest
    @EnumSource
    void aTimeoutAtTheInstantOfTheGrantTakesTheGrant(HandOffRaceTest.Way way) throws Exception {
        Lease first = holderLock(way).acquire();
        Optional<Lease> second = onThread(
                () -> waiterLock(way).tryAcquire(Duration.ofMillis(1)),
                () -> {
                    first.release();
                    clock.now.addAndGet(1_000_000);
                },
                new AtomicReference<>());
        assertThat(second).isPresent();
        assertThat(second.get().isValid()).isTrue();
        assertThat(second.get().release()).isTrue();
        assertFree();
    }

    @ParameterizedTest
    @EnumSource
    void aTimeoutJustBeforeTheGrantLeavesIt(HandOffRaceTest.Way way) throws Exception {
        Lease first = holderLock(way).acquire();
        Optional<Lease> second = onThread(
                () -> waiterLock(way).tryAcquire(Duration.ofMillis(1)),
                () -> clock.now.addAndGet(1_000_000),
                new AtomicReference<>());
        assertThat(second).isEmpty();
        assertThat(queued()).isZero();
        assertThat(first.release()).isTrue();
        assertFree();
    }

    @Test
    void aGrantSignalledBeforeTheClaimIsKnownToBeQueuedIsNotMissed() throws Exception {
        Lease first = holders.lock("x").acquire();
        AtomicInteger times = new AtomicInteger();
        afterStep.set((step, answer) -> {
            if (step.equals("claim") && times.getAndIncrement() == 0) {
                first.release(); // the store tells the waiter, who has not been told yet that it is queued
            }
        });
        CompletableFuture<Lease> future = waiters.lock("x").acquireAsync();
        Lease second = future.get(Race.LONG_SECONDS, TimeUnit.SECONDS);
        assertThat(second.isValid()).isTrue();
        assertThat(times).as("one claim was enough").hasValue(1);
        assertThat(second.release()).isTrue();
        assertFree();
    }

    @Test
    void aCancelWhileTheClaimIsOnItsWayLeavesNothing() throws Exception {
        Lease first = holders.lock("x").acquire();
        AtomicReference<CompletableFuture<Lease>> future = new AtomicReference<>();
        CountDownLatch known = new CountDownLatch(1);
        beforeStep.set((step, args) -> {
            if (step.equals("claim")) {
                await(known);
                future.get().cancel(false);
            }
        });
        CountDownLatch answered = new CountDownLatch(1);
        afterStep.set((step, answer) -> {
            if (step.equals("claim")) {
                answered.countDown();
            }
        });
        future.set(waiters.lock("x").acquireAsync());
        known.countDown();
        await(answered);
        waiters.assertNothingIsLeftHere();
        Rig.await("nobody is queued", () -> queued() == 0);
        assertThat(first.release()).isTrue();
        assertFree();
    }

    private static void await(CountDownLatch latch) {
        try {
            assertThat(latch.await(Race.LONG_SECONDS, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
