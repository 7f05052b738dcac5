// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.Lease;
import io.lockkeeper.LockOptions;
import io.lockkeeper.memory.MemoryCore;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Leaders that do not do what is expected of them. */
final class ElectionTest {
    private final MemoryCore core = MemoryCore.system();
    private final Rig rig = new Rig(core, null);
    private final Rig other = new Rig(core, null);
    private final KeeperElection election = new KeeperElection(rig.keeper, "x", LockOptions.defaults());
    private final CountDownLatch leads = new CountDownLatch(1);
    private final CountDownLatch mayEnd = new CountDownLatch(1);

    @AfterEach
    void end() {
        mayEnd.countDown();
        rig.close();
        other.close();
    }

    /** As some library would. */
    private void swallowInterrupts(Lease lease) {
        leads.countDown();
        while (lease.isValid()) {
            Thread.interrupted();
            Thread.onSpinWait();
        }
    }

    @Test
    void aLeaderSeesThatItHasResignedThoughTheInterruptWasSwallowed() throws Exception {
        AtomicInteger terms = new AtomicInteger();
        election.start(lease -> {
            swallowInterrupts(lease);
            terms.incrementAndGet();
        });
        assertThat(leads.await(Race.LONG_SECONDS, TimeUnit.SECONDS)).isTrue();
        election.resign();
        Rig.await("it has ended", () -> terms.get() > 0);
    }

    @Test
    void codeThatReturnsAtOnceIsNoBusyLoop() throws Exception {
        AtomicInteger terms = new AtomicInteger();
        long begun = System.nanoTime();
        election.start(lease -> terms.incrementAndGet());
        Rig.await("it has led several times", () -> terms.get() >= 3);
        int most = terms.get();
        assertThat(System.nanoTime() - begun)
                .as("%d terms", most)
                .isGreaterThanOrEqualTo(TimeUnit.MILLISECONDS.toNanos(100L * (most - 1)));
    }

    @Test
    void aCandidateThatWasClosedKeepsItsLockAsLongAsItsLeaderRuns() throws Exception {
        election.start(lease -> {
            leads.countDown();
            while (mayEnd.getCount() > 0) {
                Thread.interrupted();
                Thread.onSpinWait();
            }
        });
        assertThat(leads.await(Race.LONG_SECONDS, TimeUnit.SECONDS)).isTrue();
        election.close();
        assertThat(election.isLeader()).isFalse();
        assertThat(other.lock("x").tryAcquire()).as("while it runs").isEmpty();
        mayEnd.countDown();
        Lease next = other.lock("x").acquire();
        assertThat(next.release()).isTrue();
    }
}
