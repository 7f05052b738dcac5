// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import io.lockkeeper.Lease;
import io.lockkeeper.Mode;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.ThreadIdGen;
import org.junit.jupiter.api.Test;

/**
 * Single attempts and releases, exclusive and shared, of several threads on one name: as if one after the other.
 *
 * <p>With one exception, which is by design. Threads of one keeper do not ask the store side by side: an attempt that meets
 * another thread's attempt in the same mode is answered "not acquired" without I/O, for whoever asks is about to hold. Should
 * the other attempt fail in the end, both have failed, and no order of the two explains that. (Lincheck's shortest example:
 * {@code tryWrite(1)} fails because thread 2 is asking, {@code tryRead(1)} succeeds, and then {@code tryWrite(2)} fails
 * because thread 1 reads.) So here an attempt that failed counts only if it met no other in its mode; else it is made
 * again. What is proved is: an attempt fails only if the name is held in a conflicting way, or another thread is asking
 * for it at the same time.
 */
@Param(name = "slot", gen = ThreadIdGen.class)
public class LockLinearizabilityTest {
    private static final int STALE = -1;
    private static final int BUSY = 0;
    private static final int ACQUIRED = 1;

    private final SmallKeeper small = new SmallKeeper();
    private final KeeperLock write = small.lock(Mode.EXCLUSIVE);
    private final KeeperLock read = small.lock(Mode.SHARED);
    private final Lease[] writes = new Lease[8];
    private final Lease[] reads = new Lease[8];

    /** The marks of a fence: the largest tokens seen. */
    private final AtomicLong lastWrite = new AtomicLong();

    private final AtomicLong lastRead = new AtomicLong();

    /** The attempts under way, in the lower half, and those ever begun, in the upper. */
    private final AtomicLong writeAttempts = new AtomicLong();

    private final AtomicLong readAttempts = new AtomicLong();

    private static final long BEGIN = (1L << 32) + 1;

    /** An attempt, made again as long as it fails and has met another; only one thread at a time makes one again. */
    private static Lease attempt(KeeperLock lock, AtomicLong attempts) {
        AtomicBoolean counts = new AtomicBoolean();
        Lease lease = attempt(lock, attempts, counts);
        if (!counts.get()) {
            synchronized (attempts) {
                while (!counts.get()) {
                    lease = attempt(lock, attempts, counts);
                }
            }
        }
        return lease;
    }

    private static Lease attempt(KeeperLock lock, AtomicLong attempts, AtomicBoolean counts) {
        long begun = attempts.addAndGet(BEGIN);
        Lease lease = lock.tryAcquire().orElse(null);
        long ended = attempts.getAndDecrement();
        counts.set(lease != null || (begun == ended && (int) begun == 1));
        return lease;
    }

    @Operation
    public int tryWrite(@Param(name = "slot") int slot) {
        if (writes[slot] != null) {
            return BUSY;
        }
        Lease lease = attempt(write, writeAttempts);
        writes[slot] = lease;
        if (lease == null) {
            return BUSY;
        }
        boolean rises = lease.token() > lastWrite.get() && lease.token() > lastRead.get();
        lastWrite.set(lease.token());
        return rises && lease.isValid() ? ACQUIRED : STALE;
    }

    @Operation
    public boolean endWrite(@Param(name = "slot") int slot) {
        Lease lease = writes[slot];
        writes[slot] = null;
        return lease != null && lease.release();
    }

    @Operation
    public int tryRead(@Param(name = "slot") int slot) {
        if (reads[slot] != null) {
            return BUSY;
        }
        Lease lease = attempt(read, readAttempts);
        reads[slot] = lease;
        if (lease == null) {
            return BUSY;
        }
        lastRead.accumulateAndGet(lease.token(), Math::max);
        return lease.token() > lastWrite.get() && lease.isValid() ? ACQUIRED : STALE;
    }

    @Operation
    public boolean endRead(@Param(name = "slot") int slot) {
        Lease lease = reads[slot];
        reads[slot] = null;
        return lease != null && lease.release();
    }

    /** What a lock is. */
    public static final class Specification {
        private int writer = -1;
        private int readers;

        public int tryWrite(int slot) {
            if (writer >= 0 || readers != 0) {
                return BUSY;
            }
            writer = slot;
            return ACQUIRED;
        }

        public boolean endWrite(int slot) {
            boolean held = writer == slot;
            writer = held ? -1 : writer;
            return held;
        }

        public int tryRead(int slot) {
            if (writer >= 0 || (readers & (1 << slot)) != 0) {
                return BUSY;
            }
            readers |= 1 << slot;
            return ACQUIRED;
        }

        public boolean endRead(int slot) {
            boolean held = (readers & (1 << slot)) != 0;
            readers &= ~(1 << slot);
            return held;
        }
    }

    @Test
    void onRealThreads() {
        SmallKeeper.stress(Tier.pick(10, 100, 1_000), Tier.pick(300, 3_000, 10_000))
                .threads(3)
                .actorsPerThread(4)
                .sequentialSpecification(Specification.class)
                .check(LockLinearizabilityTest.class);
    }

    @Test
    void inAllInterleavings() {
        SmallKeeper.modelChecking(Tier.pick(2, 10, 200), Tier.pick(25, 300, 5_000))
                .threads(2)
                .actorsPerThread(3)
                .sequentialSpecification(Specification.class)
                .check(LockLinearizabilityTest.class);
    }
}
