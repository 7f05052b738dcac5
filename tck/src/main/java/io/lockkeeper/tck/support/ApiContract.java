// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.support;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lockkeeper.DistributedLock;
import io.lockkeeper.Guarantee;
import io.lockkeeper.Lease;
import io.lockkeeper.LeaseLostException;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Timeout;

/**
 * What the groups about the primitives need in addition to {@link Contract}: leases that end soon, and holds that are lost. A
 * test that waits forever is interrupted, so that it fails and shows where.
 */
@Timeout(value = 3, unit = TimeUnit.MINUTES)
@SuppressWarnings("LockNotBeforeTry")
public abstract class ApiContract extends Contract {
    /** A fixed lease that ends soon. */
    public static LockOptions brief(Lockkeeper keeper) {
        return LockOptions.defaults().fixedLease(longer(Duration.ofMillis(300), keeper));
    }

    /** The shortest lease that is kept alive, so that a loss is noticed soon even if the store does not push signals. */
    public static LockOptions lively(Lockkeeper keeper) {
        return LockOptions.defaults().lease(longer(Duration.ofSeconds(1), keeper));
    }

    public static Duration longer(Duration wanted, Lockkeeper keeper) {
        Duration shortest = keeper.guarantees().shortestLease();
        return wanted.compareTo(shortest) < 0 ? shortest : wanted;
    }

    /** Takes a hold away from its holder, and waits until the holder knows. */
    public static void lose(Lease lease, Lockkeeper other) throws InterruptedException {
        assertThat(other.inspector().breakHoldNow(lease.name(), lease.token(), Duration.ZERO))
                .as("there was a hold to break")
                .isTrue();
        await("the holder knows", () -> !lease.isValid());
    }

    /** Waits until this many claims are queued, where the store has a queue to look at. */
    protected final void awaitQueued(Lockkeeper keeper, String name, int claims) throws InterruptedException {
        if (keeper.guarantees().has(Guarantee.FAIR)) {
            awaitWaiters(keeper, name, claims);
        }
    }

    /** Continues if the store can do this; otherwise makes sure that it refuses, and ends the test. */
    public static void require(Lockkeeper keeper, Guarantee guarantee, ThrowingCallable use) {
        boolean can = keeper.guarantees().has(guarantee);
        if (!can) {
            assertThatThrownBy(use)
                    .isInstanceOf(UnsupportedOperationException.class)
                    .hasMessageContaining(guarantee.name());
        }
        Promise.needed(keeper.guarantees(), guarantee);
    }

    /** Waits until others can acquire the lock. */
    public static void awaitFree(DistributedLock lock) throws InterruptedException {
        await(lock + " is free", () -> isFree(lock));
    }

    /** Whether another client would have to wait for this lock. */
    public static boolean isTaken(DistributedLock lock) {
        return !isFree(lock);
    }

    /** Asserts that this is refused because the thread does not hold the lock. */
    public static void notHeld(ThrowingCallable use) {
        assertThatExceptionOfType(IllegalMonitorStateException.class).isThrownBy(use);
    }

    /** Asserts that this is refused because the thread has lost the lock. */
    public static void notHeldAfterLoss(ThrowingCallable use) {
        assertThatExceptionOfType(IllegalMonitorStateException.class)
                .isThrownBy(use)
                .withCauseInstanceOf(LeaseLostException.class);
    }

    /** Asserts that this fails because the hold was lost. */
    public static void lost(ThrowingCallable use) {
        assertThatExceptionOfType(LeaseLostException.class).isThrownBy(use);
    }

    /** Null where the compiler does not expect one. */
    @SuppressWarnings({"NullAway", "TypeParameterUnusedInFormals"})
    public static <T> T nothing() {
        return null;
    }
}
