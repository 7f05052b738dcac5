// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.Lease;
import io.lockkeeper.LeaseLost;
import io.lockkeeper.LeaseLost.Reason;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.spi.LockStore;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** How long a holder that is broken has to stop, at exact times. (Rule 16.) */
final class BreakOnVirtualTimeTest {
    private static final Duration NOTICE = Duration.ofSeconds(2);

    private final VirtualTime time = new VirtualTime();
    private final LockStore shared = time.newStore();
    private final Lockkeeper holder = Lockkeeper.on(shared);
    private final Lockkeeper other = Lockkeeper.on(shared);

    @AfterEach
    void end() {
        other.close();
        holder.close();
    }

    private CompletableFuture<LeaseLost> breakIt(Lease lease) {
        CompletableFuture<LeaseLost> lost = new CompletableFuture<>();
        lease.onLost(lost::complete);
        assertThat(other.inspector().breakHold("x", lease.token(), Duration.ZERO))
                .isTrue();
        return lost;
    }

    private void awaitOpen() throws InterruptedException {
        Waiting.await("the name is open", () -> other.lock("x").tryAcquire().isPresent());
    }

    @Test
    void aHolderThatListensHasItsTimeToStopAndNoMore() throws Exception {
        Lease lease = holder.lock("x").acquire();
        LeaseLost loss = Waiting.get(breakIt(lease));
        assertThat(loss.reason()).isEqualTo(Reason.BROKEN);
        assertThat(loss.remaining()).isEqualTo(NOTICE);
        assertThat(lease.isValid()).isFalse();
        time.jump(NOTICE.minusNanos(1));
        Waiting.giveItAChance();
        assertThat(other.lock("x").tryAcquire()).isEmpty();
        time.jump(Duration.ofNanos(1));
        awaitOpen();
    }

    @Test
    void aHolderThatStopsEarlyAdmitsTheNextClientEarly() throws Exception {
        Lease lease = holder.lock("x").acquire();
        Waiting.get(breakIt(lease));
        assertThat(other.lock("x").tryAcquire()).isEmpty();
        assertThat(lease.release()).isFalse();
        awaitOpen();
    }

    @Test
    void closingTheKeeperWithinTheTimeToStopAdmitsTheNextClient() throws Exception {
        Lease lease = holder.readWriteLock("x").readLock().acquire();
        Waiting.get(breakIt(lease));
        assertThat(other.lock("x").tryAcquire()).isEmpty();
        holder.close();
        awaitOpen();
    }

    @Test
    void aHolderThatDoesNotListenIsNotWaitedFor() throws Exception {
        Lease lease = holder.lock("x").acquire();
        assertThat(other.inspector().breakHold("x", lease.token(), Duration.ZERO))
                .isTrue();
        awaitOpen();
        assertThat(lease.isValid()).isFalse();
    }

    @Test
    void theTimeToStopEndsWithTheLease() throws Exception {
        Duration fixed = Duration.ofSeconds(10);
        Lease lease = holder.lock("x", LockOptions.defaults().fixedLease(fixed)).acquire();
        time.jump(lease.remaining().minusMillis(1)); // a tenth of the lease, less margins, is left then
        LeaseLost loss = Waiting.get(breakIt(lease));
        assertThat(loss.remaining()).isPositive().isLessThanOrEqualTo(fixed.dividedBy(10));
        time.jump(loss.remaining());
        awaitOpen();
    }
}
