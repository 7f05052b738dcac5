// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.lockkeeper.Lease;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.spi.LockStore;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/** Time that stands still until a test makes it jump. */
final class VirtualTimeTest {
    private final VirtualTime time = new VirtualTime();

    @Test
    void timeStandsStillUntilItJumps() {
        long start = time.nanos();
        assertThat(time.nanos()).isEqualTo(start);
        time.jump(Duration.ofNanos(5));
        time.jump(Duration.ZERO);
        assertThat(time.nanos()).isEqualTo(start + 5);
        assertThatIllegalArgumentException().isThrownBy(() -> time.jump(Duration.ofNanos(-1)));
    }

    @Test
    void aParkedThreadWakesAtItsTime() throws Exception {
        AtomicBoolean parks = new AtomicBoolean();
        CompletableFuture<Long> woken = new CompletableFuture<>();
        long deadline = time.nanos() + 1_000;
        Thread thread = new Thread(() -> {
            parks.set(true);
            while (time.nanos() < deadline) {
                time.parkUntil(deadline);
            }
            woken.complete(time.nanos());
        });
        thread.start();
        Waiting.await("it parks", () -> parks.get() && thread.getState() == Thread.State.WAITING);
        time.jump(Duration.ofNanos(999));
        Waiting.giveItAChance();
        assertThat(woken).isNotDone();
        time.jump(Duration.ofNanos(1));
        assertThat(Waiting.get(woken)).isEqualTo(deadline);
    }

    @Test
    void parkingReturnsAtOnceWhenItsTimeHasPassedOrAnInterruptIsPending() {
        time.parkUntil(time.nanos());
        time.parkUntil(0);
        Thread.currentThread().interrupt();
        time.parkUntil(Long.MAX_VALUE);
        assertThat(Thread.interrupted()).isTrue();
        LockSupport.unpark(Thread.currentThread());
        time.parkUntil(Long.MAX_VALUE);
    }

    /** However a jump meets the parking, it is not missed. */
    @Test
    void noJumpIsMissed() throws Exception {
        for (int i = 0; i < 2_000; i++) {
            long deadline = time.nanos() + 1_000;
            CompletableFuture<Void> woken = CompletableFuture.runAsync(() -> {
                while (time.nanos() < deadline) {
                    time.parkUntil(deadline);
                }
            });
            time.jump(Duration.ofNanos(1_000));
            Waiting.get(woken);
        }
    }

    @Test
    void keepersShareTheLocksOfOneStoreAndNotOfTwo() {
        LockStore store = time.newStore();
        try (Lockkeeper a = Lockkeeper.on(store);
                Lockkeeper b = Lockkeeper.on(store);
                Lockkeeper c = Lockkeeper.on(time.newStore())) {
            assertThat(a.lock("x").tryAcquire()).isPresent();
            assertThat(b.lock("x").tryAcquire()).isEmpty();
            assertThat(c.lock("x").tryAcquire()).isPresent();
        }
    }

    @Test
    void theExampleOfItsDocumentationIsTrue() throws Exception {
        try (Lockkeeper keeper = Lockkeeper.on(time.newStore())) {
            Lease lease = keeper.lock("a", LockOptions.defaults().fixedLease(Duration.ofSeconds(5)))
                    .acquire();
            assertThat(lease.isValid()).isTrue();
            time.jump(Duration.ofSeconds(5));
            assertThat(lease.isValid()).isFalse();
        }
    }
}
