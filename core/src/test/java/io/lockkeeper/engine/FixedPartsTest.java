// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.lockkeeper.DistributedLock;
import io.lockkeeper.LeaseLostException;
import io.lockkeeper.LockOptions;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A part of a lock on several that has a fixed lease is not forgotten before all parts are unlocked. */
final class FixedPartsTest {
    private static final LockOptions SHORT = LockOptions.defaults().fixedLease(Duration.ofMillis(100));

    private final Rig rig = new Rig();

    @AfterEach
    void close() {
        rig.close();
    }

    private void loseMoreThanAreRemembered() throws InterruptedException {
        KeeperLock last = rig.lock("last", SHORT);
        for (int i = 0; i < 3 * ThreadHolds.MOST_REMEMBERED; i++) {
            rig.lock("other" + i, SHORT).lock();
        }
        last.lock();
        Rig.await("all have ended", () -> !last.isHeldByCurrentThread());
        ThreadHolds mine = rig.keeper.threadHolds();
        Rig.await("the first is forgotten", () -> mine.of("other0") == null);
    }

    @Test
    void theOthersAreUnlockedHoweverManyLeasesHaveEnded() throws Exception {
        KeeperLock fixed = rig.lock("fixed", SHORT);
        KeeperLock kept = rig.lock("kept");
        DistributedLock all = DistributedLock.all(fixed, kept);
        all.lock();
        loseMoreThanAreRemembered();
        assertThatExceptionOfType(IllegalMonitorStateException.class)
                .isThrownBy(all::unlock)
                .withCauseInstanceOf(LeaseLostException.class);
        assertThat(kept.isHeldByCurrentThread()).isFalse();
        assertThat(kept.isLocked()).isFalse();
    }

    @Test
    void aPartIsNotLockedAgainInsideTheOthers() throws Exception {
        KeeperLock fixed = rig.lock("fixed", SHORT);
        KeeperLock kept = rig.lock("kept");
        DistributedLock all = DistributedLock.all(fixed, kept);
        all.lock();
        Rig.await("its lease has ended", () -> !fixed.isHeldByCurrentThread());
        for (int i = 0; i < 2; i++) {
            assertThatExceptionOfType(LeaseLostException.class).isThrownBy(fixed::tryLock);
        }
        assertThatExceptionOfType(IllegalMonitorStateException.class).isThrownBy(all::unlock);
        assertThat(kept.isLocked()).isFalse();
    }

    @Test
    void aSecondAttemptThatFailsLeavesTheLossToUnlock() throws Exception {
        KeeperLock lock = rig.lock("x", SHORT);
        lock.lock();
        Rig.await("its lease has ended", () -> !lock.isHeldByCurrentThread());
        try (Rig other = new Rig(rig.core, null)) {
            assertThat(Call.start(() -> {
                                other.lock("x").lock();
                                return true;
                            })
                            .get())
                    .isTrue();
            assertThatExceptionOfType(LeaseLostException.class).isThrownBy(lock::tryLock);
            assertThat(lock.tryLock()).isFalse();
            assertThatExceptionOfType(IllegalMonitorStateException.class)
                    .isThrownBy(lock::unlock)
                    .withCauseInstanceOf(LeaseLostException.class);
        }
    }

    @Test
    void whatWasUnlockedIsNotRemembered() throws Exception {
        KeeperLock lock = rig.lock("x", SHORT);
        for (int i = 0; i < 2 * ThreadHolds.MOST_REMEMBERED; i++) {
            lock.lock();
            Rig.await("its lease has ended", () -> !lock.isHeldByCurrentThread());
            assertThatExceptionOfType(IllegalMonitorStateException.class).isThrownBy(lock::unlock);
        }
        assertThat(rig.keeper.threadHolds().remembered()).isZero();
    }
}
