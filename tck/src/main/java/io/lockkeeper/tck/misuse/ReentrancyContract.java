// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.misuse;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.lockkeeper.DeadlockException;
import io.lockkeeper.DistributedLock;
import io.lockkeeper.Lease;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.tck.support.ApiContract;
import io.lockkeeper.testkit.FaultyStore;
import io.lockkeeper.testkit.StepKind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** {@code lock()} belongs to its thread, counts, costs nothing to re-enter and never acquires again silently. */
@SuppressWarnings("LockNotBeforeTry")
public abstract class ReentrancyContract extends ApiContract {
    @Test
    void reentryIsCountedAndTheLastUnlockReleases() throws Exception {
        DistributedLock lock = keeper().lock(name());
        DistributedLock other = keeper().lock(name());
        assertThat(lock.holdCount()).isZero();
        lock.lock();
        assertThat(lock.tryLock()).isTrue();
        assertThat(lock.tryLock(1, TimeUnit.SECONDS)).isTrue();
        lock.lockInterruptibly();
        for (int count = 4; count > 0; count--) {
            assertThat(lock.holdCount()).isEqualTo(count);
            assertThat(lock.isHeldByCurrentThread()).isTrue();
            assertThat(isTaken(other)).isTrue();
            lock.unlock();
        }
        assertThat(lock.holdCount()).isZero();
        assertThat(lock.isHeldByCurrentThread()).isFalse();
        assertThat(isFree(other)).isTrue();
    }

    @Test
    void reentryCostsNoStep() throws Exception {
        FaultyStore store = faulty();
        DistributedLock lock = keeper(store).lock(name());
        lock.lock();
        store.resetCounts();
        for (int i = 0; i < 100; i++) {
            lock.lock();
            assertThat(lock.tryLock()).isTrue();
            lock.unlock();
            lock.unlock();
        }
        lock.lease().ensureValid();
        assertThat(lock.holdCount()).isOne();
        assertThat(store.count()).isZero();
        lock.unlock();
        assertThat(store.count(StepKind.RELEASE)).isOne();
    }

    @Test
    void allObjectsForANameAreTheSameLock() {
        Lockkeeper keeper = keeper();
        DistributedLock lock = keeper.lock(name());
        assertThat(keeper.lock(name()))
                .isEqualTo(lock)
                .hasSameHashCodeAs(lock)
                .isEqualTo(keeper.lock(name(), lively(keeper)))
                .isNotEqualTo(keeper.lock(name("y")))
                .isNotEqualTo(keeper().lock(name()));
        lock.lock();
        assertThat(keeper.lock(name()).holdCount()).isOne();
        assertThat(keeper.lock(name(), lively(keeper)).tryLock()).isTrue();
        assertThat(lock.holdCount()).isEqualTo(2);
        keeper.lock(name()).unlock();
        lock.unlock();
        assertThat(lock.isLocked()).isFalse();
    }

    @Test
    void theLeaseOfAThreadIsOneAndTheSameUntilItsLastUnlock() {
        DistributedLock lock = keeper().lock(name());
        notHeld(lock::lease);
        lock.lock();
        Lease lease = lock.lease();
        long token = lease.token();
        lock.lock();
        assertThat(lock.lease().token()).isEqualTo(token);
        lock.unlock();
        assertThat(lock.lease().token()).isEqualTo(token);
        assertThat(lease.isValid()).isTrue();
        lock.unlock();
        assertThat(lease.isValid()).isFalse();
        notHeld(lock::lease);
        lock.lock();
        assertThat(lock.lease().token()).isGreaterThan(token);
        lock.unlock();
    }

    @Test
    void aHoldBelongsToItsThreadOnly() throws Exception { // H1
        DistributedLock lock = keeper().lock(name());
        lock.lock();
        get(async(() -> {
            assertThat(lock.isHeldByCurrentThread()).isFalse();
            assertThat(lock.holdCount()).isZero();
            assertThat(lock.tryLock()).isFalse();
            assertThat(lock.tryLock(10, TimeUnit.MILLISECONDS)).isFalse();
            assertThat(lock.tryAcquire()).isEmpty();
            assertThat(lock.isLocked()).isTrue();
            notHeld(lock::lease);
            notHeld(lock::unlock);
            return true;
        }));
        assertThat(lock.holdCount()).isOne();
        assertThat(lock.lease().isValid()).isTrue();
        assertThat(isTaken(keeper().lock(name()))).isTrue();
        lock.unlock();
    }

    @Test
    void handlesNeverReenter() throws Exception {
        DistributedLock lock = keeper().lock(name());
        lock.lock();
        assertThatExceptionOfType(DeadlockException.class)
                .isThrownBy(lock::acquire)
                .withMessageContaining(name());
        assertThat(lock.tryAcquire()).isEmpty();
        assertThat(lock.tryAcquire(Duration.ofMillis(20))).isEmpty();
        assertThat(lock.holdCount()).isOne();
        lock.unlock();
        Lease lease = lock.acquire();
        assertThat(lock.isHeldByCurrentThread()).as("a handle is no thread's").isFalse();
        assertThat(lock.tryLock()).isFalse();
        notHeld(lock::unlock);
        assertThat(lease.release()).isTrue();
    }

    // ---- H2, H3, H4, H6: after the end ----

    @Test
    void unlockWithoutALockIsRefusedWithoutAStep() { // H4
        FaultyStore store = faulty();
        DistributedLock lock = keeper(store).lock(name());
        notHeld(lock::unlock);
        assertThat(store.count()).isZero();
        lock.lock();
        lock.unlock();
        notHeld(lock::unlock);
        Lease other = keeper().lock(name()).tryAcquire().orElseThrow();
        notHeld(lock::unlock);
        assertThat(other.release()).as("the other's hold is untouched").isTrue();
    }

    @Test
    void reentryAfterLossThrowsAndNeverAcquiresAgain() throws Exception { // H6
        FaultyStore store = faulty();
        Lockkeeper keeper = keeper(store);
        DistributedLock lock = keeper.lock(name(), lively(keeper));
        lock.lock();
        lose(lock.lease(), keeper());
        store.resetCounts();
        lost(lock::lock);
        lost(lock::lockInterruptibly);
        lost(lock::tryLock);
        lost(() -> lock.tryLock(1, TimeUnit.SECONDS));
        assertThat(store.count(StepKind.CLAIM)).isZero();
        assertThat(lock.holdCount()).isZero();
        assertThat(lock.isHeldByCurrentThread()).isFalse();
        notHeldAfterLoss(lock::unlock);
        lock.lock();
        assertThat(lock.holdCount()).as("unlocked, the thread may begin again").isOne();
        lock.unlock();
    }

    @Test
    void eachUnlockAfterLossReportsIt() throws Exception { // H2
        Lockkeeper keeper = keeper();
        DistributedLock lock = keeper.lock(name(), lively(keeper));
        for (int i = 0; i < 3; i++) {
            lock.lock();
        }
        lose(lock.lease(), keeper());
        for (int i = 0; i < 3; i++) {
            notHeldAfterLoss(lock::unlock);
        }
        assertThatExceptionOfType(IllegalMonitorStateException.class)
                .isThrownBy(lock::unlock)
                .withNoCause();
    }

    @Test
    void unlockAfterExpiryLeavesTheSuccessorAlone() throws Exception { // H3
        Lockkeeper keeper = keeper();
        DistributedLock lock = keeper.lock(name(), brief(keeper));
        lock.lock();
        long token = lock.lease().token();
        Lockkeeper other = keeper();
        Lease successor = other.lock(name()).acquire();
        assertThat(successor.token()).isGreaterThan(token);
        notHeldAfterLoss(lock::unlock);
        assertThat(other.inspector().check(successor.sequencer())).isTrue();
        assertThat(isTaken(keeper().lock(name()))).isTrue();
        assertThat(successor.release()).isTrue();
    }

    @Test
    void manyThreadsOfOneClientTakeTurns() throws Exception {
        DistributedLock lock = keeper().lock(name());
        DistributedLock other = keeper().lock(name());
        int[] count = new int[1];
        List<Future<Boolean>> all = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            DistributedLock mine = i < 6 ? lock : other;
            all.add(async(() -> {
                for (int n = 0; n < 25; n++) {
                    mine.lock();
                    mine.lock();
                    count[0]++;
                    mine.unlock();
                    mine.unlock();
                }
                return true;
            }));
        }
        for (Future<Boolean> each : all) {
            get(each);
        }
        lock.lock();
        assertThat(count[0]).isEqualTo(200);
        lock.unlock();
    }
}
