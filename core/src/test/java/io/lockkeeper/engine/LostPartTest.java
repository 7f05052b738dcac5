// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lockkeeper.DistributedLock;
import io.lockkeeper.Lease;
import io.lockkeeper.LeaseLostException;
import io.lockkeeper.LockInfo;
import io.lockkeeper.memory.MemoryCore;
import io.lockkeeper.memory.MemoryStore;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Several locks of which the thread has one already: that one may be lost while the others are awaited. */
final class LostPartTest {
    private final MemoryCore core = MemoryCore.system();
    private final MemoryStore store = new MemoryStore(core);
    private final Rig rig = new Rig(core, null);
    private final Rig other = new Rig(core, null);

    /** The ways to wait. */
    enum Way {
        LOCK {
            @Override
            void take(DistributedLock lock) {
                lock.lock();
            }
        },
        INTERRUPTIBLY {
            @Override
            void take(DistributedLock lock) throws InterruptedException {
                lock.lockInterruptibly();
            }
        },
        TIMED {
            @Override
            void take(DistributedLock lock) throws InterruptedException {
                assertThat(lock.tryLock(1, TimeUnit.HOURS)).isTrue();
            }
        };

        abstract void take(DistributedLock lock) throws InterruptedException;
    }

    @AfterEach
    void end() {
        rig.close();
        other.close();
    }

    @ParameterizedTest
    @EnumSource
    void aPartThatWasLostWhileTheRestWasAwaitedIsReportedAndNothingIsKept(Way way) throws Exception {
        Lease held = other.lock("b").acquire();
        KeeperLock a = rig.lock("a");
        KeeperLock b = rig.lock("b");
        DistributedLock both = MultiLock.of(a, b);
        Call<Boolean> call = Call.start(() -> {
            a.lock();
            Lease mine = a.lease();
            assertThatThrownBy(() -> way.take(both)).isInstanceOf(LeaseLostException.class);
            assertThat(mine.isValid()).isFalse();
            assertThat(both.isHeldByCurrentThread()).isFalse();
            assertThat(b.holdCount()).isZero();
            // It was entered once more in vain, and left again: what was there before is there to be left.
            assertThatThrownBy(a::unlock)
                    .isInstanceOf(IllegalMonitorStateException.class)
                    .hasCauseInstanceOf(LeaseLostException.class);
            assertThatThrownBy(a::unlock)
                    .isInstanceOf(IllegalMonitorStateException.class)
                    .hasNoCause();
            return true;
        });
        Rig.await(
                "it waits for b",
                () -> store.inspect("b").map(LockInfo::waiters).orElse(0) == 1);
        long token = store.inspect("a").orElseThrow().holders().get(0).token();
        assertThat(store.breakHold("a", token, Duration.ZERO, true)).isTrue();
        Rig.await("a is lost", () -> store.inspect("a").isEmpty());
        Rig.await("and that is known here", () -> rig.keeper.claims().all().stream()
                .allMatch(claim -> claim.hold == null));
        assertThat(held.release()).isTrue();
        assertThat(call.get()).isTrue();
        rig.assertNothingIsLeft();
    }
}
