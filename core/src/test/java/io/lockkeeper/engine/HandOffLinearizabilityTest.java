// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import io.lockkeeper.Lease;
import io.lockkeeper.Mode;
import java.time.Duration;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Validate;
import org.junit.jupiter.api.Test;

/**
 * Threads that wait for one name, and threads that give up waiting at any moment, around a plain counter that only the
 * lock protects. The hold passes from thread to thread; each increment happens once, with a greater token than the one
 * before, nobody waits for ever, and at the end nothing is left.
 */
public class HandOffLinearizabilityTest {
    private final SmallKeeper small = new SmallKeeper();
    private final KeeperLock lock = small.lock(Mode.EXCLUSIVE);
    private int counter;
    private long mark;

    private int inside(Lease lease) {
        if (lease.token() <= mark || !lease.isValid()) {
            throw new IllegalStateException("token " + lease.token() + " after " + mark);
        }
        mark = lease.token();
        int count = ++counter;
        if (!lease.release()) {
            throw new IllegalStateException("lost");
        }
        return count;
    }

    @Operation
    public int increment() throws InterruptedException {
        return inside(lock.acquire());
    }

    /** Waits for some ticks only; what it does inside undoes itself, so that it does not matter whether it got in. */
    @Operation
    public void giveUpSoon() throws InterruptedException {
        Lease lease = lock.tryAcquire(Duration.ofNanos(12 * SmallKeeper.TICK)).orElse(null);
        if (lease != null) {
            counter--;
            inside(lease);
        }
    }

    @Validate
    public void nothingIsLeft() {
        if (small.core.size() != 0 || !small.keeper.claims().all().isEmpty()) {
            throw new IllegalStateException("something is left");
        }
    }

    /** A counter. */
    public static final class Specification {
        private int counter;

        public int increment() {
            return ++counter;
        }

        public void giveUpSoon() {}
    }

    @Test
    void onRealThreads() {
        SmallKeeper.stress(Tier.pick(10, 100, 1_000), Tier.pick(300, 3_000, 10_000))
                .threads(3)
                .actorsPerThread(3)
                .sequentialSpecification(Specification.class)
                .check(HandOffLinearizabilityTest.class);
    }

    @Test
    void inAllInterleavings() {
        SmallKeeper.modelChecking(Tier.pick(2, 10, 200), Tier.pick(25, 300, 5_000))
                .threads(2)
                .actorsPerThread(2)
                .sequentialSpecification(Specification.class)
                .check(HandOffLinearizabilityTest.class);
    }
}
