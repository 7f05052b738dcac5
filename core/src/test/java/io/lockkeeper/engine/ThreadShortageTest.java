// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lockkeeper.Lease;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Mode;
import io.lockkeeper.memory.MemoryCore;
import io.lockkeeper.memory.MemoryStore;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Threads that cannot be started for a while, as in a process or container at its limit, cost no hold. Hazard H65. */
final class ThreadShortageTest {
    private static final LockOptions SHORT = LockOptions.defaults().lease(Duration.ofSeconds(2));

    private final MemoryCore core = MemoryCore.system();
    private final AtomicInteger refused = new AtomicInteger();
    private final AtomicInteger started = new AtomicInteger();
    private volatile boolean isShort;
    private final Keeper keeper = new Keeper(
            new MemoryStore(core),
            new Config(
                    "short",
                    LockOptions.defaults(),
                    null,
                    null,
                    Duration.ofSeconds(1),
                    Duration.ofSeconds(10),
                    false,
                    false),
            new Threads("short", this::create));

    private final AtomicInteger left = new AtomicInteger(Integer.MAX_VALUE);

    private Thread create(Runnable task) {
        if (isShort || left.getAndUpdate(n -> Math.max(0, n - 1)) == 0) {
            refused.incrementAndGet();
            throw new OutOfMemoryError("unable to create native thread (as the test wants it)");
        }
        started.incrementAndGet();
        return new Thread(task);
    }

    @AfterEach
    void end() {
        isShort = false;
        left.set(Integer.MAX_VALUE);
        keeper.close();
    }

    private KeeperLock lock(String name) {
        return new KeeperLock(keeper, name, Mode.EXCLUSIVE, SHORT);
    }

    /** Waits until a hold was renewed: more remains of it than a moment before. */
    private static void awaitRenewal(Lease lease) throws Exception {
        long[] last = {lease.remaining().toNanos()};
        Rig.await("it is renewed", () -> {
            long now = lease.remaining().toNanos();
            boolean isRenewed = now > last[0];
            last[0] = now;
            return isRenewed;
        });
    }

    @Test
    void aHoldIsRenewedWithoutANewThread() throws Exception {
        Lease lease = lock("x").acquire();
        isShort = true;
        int threads = started.get();
        for (int i = 0; i < 3; i++) {
            awaitRenewal(lease);
        }
        assertThat(lease.isValid()).isTrue();
        assertThat(started).hasValue(threads);
        assertThat(lease.release()).isTrue();
    }

    @Test
    void aRenewalWaitsForAThreadThatComesLater() throws Exception {
        lock("first").acquire().release(); // the timer has its thread now
        Predicate<Thread> renews = thread -> thread.getName().contains("lockkeeper-short-renewal");
        Rig.await(
                "the renewal thread is idle for long enough to end",
                () -> Thread.getAllStackTraces().keySet().stream().noneMatch(renews));
        isShort = true;
        Lease lease = lock("x").acquire();
        Rig.await("it was tried, in vain", () -> refused.get() >= 3);
        isShort = false;
        awaitRenewal(lease);
        assertThat(lease.release()).isTrue();
    }

    @Test
    void anAcquisitionThatNobodyCouldLookAfterFailsAndLeavesNothing() throws Exception {
        isShort = true;
        assertThatThrownBy(() -> lock("x").acquire()).isInstanceOf(OutOfMemoryError.class);
        isShort = false;
        Lease lease =
                lock("x").tryAcquire(Duration.ofSeconds(Race.LONG_SECONDS)).orElseThrow();
        assertThat(lease.release()).isTrue();
        Rig.await("nothing is left", () -> core.size() == 0);
    }

    @Test
    void aLossIsReportedWhenThereIsAThreadAgain() throws Exception {
        Lease lease = new KeeperLock(
                        keeper, "x", Mode.EXCLUSIVE, LockOptions.defaults().fixedLease(Duration.ofMillis(200)))
                .acquire();
        CompletableFuture<String> told = new CompletableFuture<>();
        lease.onLost(loss -> told.complete(loss.name()));
        isShort = true;
        Rig.await("it has ended", () -> !lease.isValid());
        Rig.await("it was tried, in vain", () -> refused.get() >= 3);
        assertThat(told).isNotDone();
        isShort = false;
        assertThat(told.get(Race.LONG_SECONDS, TimeUnit.SECONDS)).isEqualTo("x");
    }

    @Test
    void aFutureWaitsForAThreadThatComesLater() throws Exception {
        Lease held = lock("held").acquire(); // the timer has its thread now
        isShort = true;
        CompletableFuture<Lease> future = lock("x").acquireAsync();
        Rig.await("it was tried, in vain", () -> refused.get() >= 3);
        isShort = false;
        assertThat(future.get(Race.LONG_SECONDS, TimeUnit.SECONDS).release()).isTrue();
        assertThat(held.release()).isTrue();
    }

    @Test
    void aFutureThatNobodyCouldLookAfterFailsAndLeavesTheNameUsable() throws Exception {
        isShort = true;
        assertThatThrownBy(() -> lock("x").acquireAsync()).isInstanceOf(OutOfMemoryError.class);
        assertThatThrownBy(() -> lock("x").tryAcquireAsync(Duration.ofSeconds(1)))
                .isInstanceOf(OutOfMemoryError.class);
        isShort = false;
        assertUsable("x");
    }

    private void assertUsable(String name) throws Exception {
        Call<Boolean> timed = Call.start(() ->
                lock(name).tryAcquire(Duration.ofSeconds(30)).orElseThrow().release());
        assertThat(timed.get()).isTrue();
        Call<Boolean> once =
                Call.start(() -> lock(name).tryAcquire().orElseThrow().release());
        assertThat(once.get()).isTrue();
        Rig.await("nothing is left", () -> core.size() == 0);
    }

    /** The timer has a thread, and perhaps the step; what becomes of it finds none. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void theAnswerToAFutureWaitsForAThreadThatComesLater(int threads) throws Exception {
        Rig other = new Rig(core, null);
        Lease held = other.lock("x").acquire();
        left.set(threads);
        CompletableFuture<Optional<Lease>> future = lock("x").tryAcquireAsync(Duration.ZERO);
        Rig.await("it was tried, in vain", () -> refused.get() >= 3);
        assertThat(future).isNotDone();
        left.set(Integer.MAX_VALUE);
        assertThat(future.get(Race.LONG_SECONDS, TimeUnit.SECONDS)).isEmpty();
        assertThat(held.release()).isTrue();
        assertUsable("x");
        other.close();
    }
}
