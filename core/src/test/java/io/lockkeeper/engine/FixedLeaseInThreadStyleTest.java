// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.lockkeeper.Lease;
import io.lockkeeper.LeaseLostException;
import io.lockkeeper.LockOptions;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A fixed lease that a thread has by {@code lock()} and never unlocks: it ends by itself, and leaves next to nothing. */
final class FixedLeaseInThreadStyleTest {
    private static final LockOptions SHORT = LockOptions.defaults().fixedLease(Duration.ofMillis(100));

    private final Rig rig = new Rig();

    @AfterEach
    void close() {
        rig.close();
    }

    private void awaitLoss(KeeperLock lock) throws InterruptedException {
        Rig.await("its lease has ended", () -> !lock.isHeldByCurrentThread());
    }

    @Test
    void theThreadMayLockAgainOnceItKnowsOfTheLoss() throws Exception {
        KeeperLock lock = rig.lock("x", SHORT);
        lock.lock();
        awaitLoss(lock);
        assertThatExceptionOfType(LeaseLostException.class).isThrownBy(lock::lock);
        lock.lock();
        assertThat(lock.holdCount()).isOne();
        lock.unlock();
        assertThat(lock.isHeldByCurrentThread()).isFalse();
        rig.assertNothingIsLeft();
    }

    @Test
    void aLeaseThatIsKeptAliveMustBeUnlockedFirst() {
        KeeperLock lock = rig.lock("x");
        lock.lock();
        rig.hold().lose(io.lockkeeper.LeaseLost.Reason.BROKEN);
        for (int i = 0; i < 3; i++) {
            assertThatExceptionOfType(LeaseLostException.class).isThrownBy(lock::lock);
        }
        assertThatExceptionOfType(IllegalMonitorStateException.class)
                .isThrownBy(lock::unlock)
                .withCauseInstanceOf(LeaseLostException.class);
    }

    @Test
    void unlockingItLateNamesTheLoss() throws Exception {
        KeeperLock lock = rig.lock("x", SHORT);
        lock.lock();
        lock.lock();
        Lease lease = lock.lease();
        awaitLoss(lock);
        assertThat(lock.lease()).as("it can still be asked").isSameAs(lease);
        for (int i = 0; i < 2; i++) {
            assertThatExceptionOfType(IllegalMonitorStateException.class)
                    .isThrownBy(lock::unlock)
                    .withCauseInstanceOf(LeaseLostException.class);
        }
        assertThatExceptionOfType(IllegalMonitorStateException.class)
                .isThrownBy(lock::unlock)
                .withNoCause();
    }

    @Test
    void onlyTheLastFewThatWereLostAreKept() throws Exception {
        List<WeakReference<Lease>> leases = new ArrayList<>();
        int names = 300;
        for (int i = 0; i < names; i++) {
            KeeperLock lock = rig.lock("x" + i, SHORT);
            lock.lock();
            leases.add(new WeakReference<>(lock.lease()));
        }
        awaitForgotten(leases.subList(0, names - ThreadHolds.MOST_REMEMBERED));
        ThreadHolds mine = rig.keeper.threadHolds();
        Rig.await(
                "only the last few are remembered",
                () -> IntStream.range(0, names)
                                .filter(i -> mine.of("x" + i) != null)
                                .count()
                        == ThreadHolds.MOST_REMEMBERED);
        rig.assertNothingIsLeftHere();
    }

    private static void awaitForgotten(List<WeakReference<Lease>> leases) throws InterruptedException {
        Rig.await("nothing refers to the leases", () -> {
            System.gc();
            return leases.stream().allMatch(lease -> lease.get() == null);
        });
    }
}
