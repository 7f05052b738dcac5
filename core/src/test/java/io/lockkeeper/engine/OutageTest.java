// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lockkeeper.Lease;
import io.lockkeeper.LockInfo;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.memory.MemoryCore;
import io.lockkeeper.memory.MemoryStore;
import io.lockkeeper.spi.Signals;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The store does not answer for a while: each step takes its whole timeout, and then fails. */
final class OutageTest {
    private static final Duration TIMEOUT = Duration.ofMillis(200);
    private static final Set<String> STEPS =
            Set.of("claim", "renew", "withdraw", "release", "downgrade", "latch", "time");

    private final MemoryCore core = MemoryCore.system();
    private final MemoryStore store = new MemoryStore(core);
    private final AtomicReference<Signals> signals = new AtomicReference<>();
    private final AtomicInteger looks = new AtomicInteger();
    private volatile boolean isDown;
    private final Rig other = new Rig(core, null);
    private final Rig rig = new Rig(
            core,
            Intercepted.store(store, (step, args, inner) -> {
                if (isDown && STEPS.contains(step)) {
                    if (step.equals("latch")) {
                        looks.incrementAndGet();
                    }
                    hang();
                    throw new StoreUnavailableException("down (as the test wants it)", null);
                }
                if (step.equals("listen")) {
                    Signals told = (Signals) args[1];
                    signals.set(told);
                    args[1] = Intercepted.signals(told, (signal, a, go) -> isDown ? null : go.make());
                }
                return inner.make();
            }),
            TIMEOUT,
            false);

    private static void hang() {
        long until = System.nanoTime() + TIMEOUT.toNanos();
        while (System.nanoTime() < until) {
            LockSupport.parkNanos(until - System.nanoTime());
        }
    }

    @AfterEach
    void end() {
        isDown = false;
        rig.close();
        other.close();
    }

    private int waiters(String name) {
        return store.inspect(name).map(LockInfo::waiters).orElse(0);
    }

    /** The claim of those who wait has seen the outage; one who only tries asks for itself whether it is over. */
    @Test
    void anOutageThatIsOverIsNotReported() throws Exception {
        Lease held = other.lock("x").acquire();
        Call<Lease> waiter = Call.start(() -> rig.lock("x").acquire());
        Rig.await("it waits", () -> waiters("x") == 1);
        isDown = true;
        signals.get().missed();
        Rig.await("the store could not be asked", () -> rig.keeper.claims().all().stream()
                .anyMatch(c -> c.failure != null));
        assertThatThrownBy(() -> rig.lock("x").tryAcquire()).isInstanceOf(StoreUnavailableException.class);
        isDown = false;
        assertThat(rig.lock("x").tryAcquire()).isEmpty();
        held.release();
        assertThat(waiter.get().release()).isTrue();
    }

    /** Nobody knows yet whether the lock is taken while its release is under way. */
    @Test
    void anOutageDuringAReleaseIsNotReportedAsATakenLock() throws Exception {
        Lease held = rig.lock("x").acquire();
        held.sequencer(); // so that it is not passed on
        Call<Optional<Lease>> waiter =
                Call.start(() -> rig.lock("x").tryAcquire(Duration.ofMillis(TIMEOUT.toMillis() / 2)));
        Rig.await("it waits", () -> waiter.thread.getState() == Thread.State.TIMED_WAITING);
        isDown = true;
        assertThatThrownBy(held::release).isInstanceOf(StoreUnavailableException.class);
        assertThat(waiter.failure()).isInstanceOf(StoreUnavailableException.class);
    }

    /** A single attempt is answered by what is known, whether or not a release is under way. */
    @Test
    void aSingleAttemptDuringAReleaseIsAnswered() throws Exception {
        for (int i = 0; i < 200; i++) {
            Lease held = rig.lock("x").acquire();
            Call<Boolean> release = Call.start(held::release);
            Call<Optional<Lease>> second = Call.start(() -> rig.lock("x").tryAcquire());
            Call<Optional<Lease>> third = Call.start(() -> rig.lock("x").tryAcquire());
            second.get().ifPresent(Lease::release);
            third.get().ifPresent(Lease::release);
            assertThat(release.get()).isTrue();
        }
    }

    @Test
    void anOutageDuringADowngradeIsNotReportedAsATakenLock() throws Exception {
        Call<Throwable> writer = Call.start(() -> {
            rig.lock("x").lock();
            rig.readLock("x").lock();
            Call<Optional<Lease>> waiter =
                    Call.start(() -> rig.lock("x").tryAcquire(Duration.ofMillis(TIMEOUT.toMillis() / 2)));
            Rig.await("it waits", () -> waiter.thread.getState() == Thread.State.TIMED_WAITING);
            isDown = true;
            assertThatThrownBy(() -> rig.lock("x").unlock()).isNotNull();
            return waiter.failure();
        });
        assertThat(writer.get()).isInstanceOf(StoreUnavailableException.class);
    }

    /** The looks of many latches do not wait for the outage one after the other, with queued claims behind them. */
    @Test
    void manyLatchesDoNotDelayWhatBecomesOfAQueuedClaim() throws Exception {
        int many = 60;
        Lease held = other.lock("x").acquire();
        Call<Lease> waiter = Call.start(() -> rig.lock("x").acquire());
        Rig.await("it waits", () -> waiters("x") == 1);
        List<CompletableFuture<Void>> latches = new ArrayList<>();
        for (int i = 0; i < many; i++) {
            assertThat(new KeeperLatch(other.keeper, "latch" + i).trySetCount(1))
                    .isTrue();
            latches.add(new KeeperLatch(rig.keeper, "latch" + i).awaitAsync());
        }
        Rig.await("all are looked at", () -> latches.stream().noneMatch(CompletableFuture::isDone));
        looks.set(0);
        isDown = true;
        signals.get().missed();
        assertThat(waiter.failure()).isInstanceOf(StoreUnavailableException.class); // after its patience of 10 s
        assertThat(looks).as("steps on latches in that time").hasValueLessThan(many);
        held.release();
    }

    /** One after the other their withdrawals would take a hundred times the timeout, or half of that. */
    @Test
    void timedFuturesEndTogether() throws Exception {
        int many = 100;
        Duration wait = Duration.ofSeconds(1);
        List<Lease> held = new ArrayList<>();
        for (int i = 0; i < many; i++) {
            held.add(other.lock("x" + i).acquire());
        }
        List<CompletableFuture<Optional<Lease>>> futures = new ArrayList<>();
        for (int i = 0; i < many; i++) {
            futures.add(rig.lock("x" + i).tryAcquireAsync(wait));
        }
        long latest = System.nanoTime() + wait.toNanos();
        Rig.await("some are queued", () -> waiters("x0") == 1);
        isDown = true;
        for (CompletableFuture<Optional<Lease>> future : futures) {
            assertThat(future.handle((lease, failure) -> failure != null || lease.isEmpty())
                            .get(Race.LONG_SECONDS, TimeUnit.SECONDS))
                    .as("ended without the lock")
                    .isTrue();
        }
        assertThat(Duration.ofNanos(System.nanoTime() - latest))
                .as("within a few timeouts of the store")
                .isLessThan(TIMEOUT.multipliedBy(20));
        isDown = false;
        held.forEach(Lease::release);
    }

    /** That somebody of this process is queued says that the lock was taken, not that it is. */
    @Test
    void anAttemptFailsThoughSomebodyIsQueuedHere() throws Exception {
        KeeperLock x = rig.lock("x");
        Lease held = other.lock("x").acquire();
        Call<Lease> queued = Call.start(x::acquire);
        Rig.await("it is queued", () -> waiters("x") == 1);
        assertThat(x.tryAcquire()).isEmpty();
        isDown = true;
        assertThat(held.release()).isTrue();
        signals.get().missed(); // so that the claim is refreshed, in vain
        Rig.await("the outage is noticed", () -> fails(x));
        assertThatThrownBy(x::tryAcquire).isInstanceOf(StoreUnavailableException.class);
        assertThatThrownBy(() -> x.tryAcquire(Duration.ofMillis(10))).isInstanceOf(StoreUnavailableException.class);
        assertThat(queued.isDone()).as("who is queued is patient").isFalse();
        isDown = false;
        assertThat(queued.get().release()).isTrue();
        assertThat(x.tryAcquire(Duration.ofSeconds(Race.LONG_SECONDS))
                        .orElseThrow()
                        .release())
                .isTrue();
        rig.assertNothingIsLeft();
    }

    private static boolean fails(KeeperLock lock) {
        try {
            assertThat(lock.tryAcquire()).isEmpty();
            return false;
        } catch (StoreUnavailableException e) {
            return true;
        }
    }
}
