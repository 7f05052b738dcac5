// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.Lease;
import io.lockkeeper.memory.MemoryCore;
import io.lockkeeper.memory.MemoryStore;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What a watch tells comes in the order in which it happened, though its user is slow. */
final class WatchOrderTest {
    private final MemoryCore core = MemoryCore.system();
    private final AtomicInteger looks = new AtomicInteger();
    private final CountDownLatch begun = new CountDownLatch(1);
    private final CountDownLatch mayEnd = new CountDownLatch(1);
    private final List<Integer> holders = new CopyOnWriteArrayList<>();
    private final Rig rig = new Rig(
            core,
            Intercepted.store(new MemoryStore(core), (step, args, inner) -> {
                if (step.equals("list")) {
                    looks.incrementAndGet();
                }
                return inner.make();
            }),
            Duration.ofSeconds(Race.LONG_SECONDS),
            false);

    @AfterEach
    void end() {
        mayEnd.countDown();
        rig.close();
    }

    private void isSlowAtFirst(int found) {
        if (begun.getCount() > 0) {
            begun.countDown();
            try {
                mayEnd.await(Race.LONG_SECONDS, TimeUnit.SECONDS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
        holders.add(found);
    }

    @Test
    void aSlowUserHearsOfTheFirstChangeFirst() throws Exception {
        try (AutoCloseable watch = new KeeperInspector(rig.keeper)
                .watch("", info -> isSlowAtFirst(info.holders().size()))) {
            Lease lease = rig.lock("x").acquire();
            assertThat(begun.await(Race.LONG_SECONDS, TimeUnit.SECONDS)).isTrue();
            assertThat(lease.release()).isTrue();
            int before = looks.get();
            Rig.await("the release was seen", () -> looks.get() >= before + 2);
            mayEnd.countDown();
            Rig.await("it has heard of both", () -> holders.size() == 2);
            assertThat(holders).containsExactly(1, 0);
        }
    }
}
