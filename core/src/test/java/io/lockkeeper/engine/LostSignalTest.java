// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.memory.MemoryCore;
import io.lockkeeper.memory.MemoryStore;
import io.lockkeeper.spi.Signals;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** No signal arrives: what it would have said is found all the same. */
final class LostSignalTest {
    private final MemoryCore core = MemoryCore.system();
    private final Rig other = new Rig(core, null);
    private final Rig rig = new Rig(
            core,
            Intercepted.store(new MemoryStore(core), (step, args, inner) -> {
                if (step.equals("listen")) {
                    args[1] = Intercepted.signals((Signals) args[1], (signal, a, go) -> null);
                }
                return inner.make();
            }),
            Duration.ofSeconds(1),
            false);

    @AfterEach
    void end() {
        rig.close();
        other.close();
    }

    /** The next look at its own interval would come after the waiter's time is up. */
    @Test
    void aLatchThatHasOpenedIsFoundOpenAtTheEndOfTheWait() throws Exception {
        KeeperLatch latch = new KeeperLatch(rig.keeper, "x");
        KeeperLatch elsewhere = new KeeperLatch(other.keeper, "x");
        assertThat(elsewhere.trySetCount(1)).isTrue();
        Call<Boolean> waits = Call.start(() -> latch.await(Duration.ofSeconds(2)));
        Rig.await("it waits", () -> waits.thread.getState() == Thread.State.TIMED_WAITING);
        elsewhere.countDown();
        assertThat(waits.get()).isTrue();
    }
}
