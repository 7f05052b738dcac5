// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.primitives;

import io.lockkeeper.Guarantee;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.tck.support.ApiContract;
import io.lockkeeper.testkit.FaultyStore;
import io.lockkeeper.testkit.StepKind;
import java.time.Duration;
import org.junit.jupiter.api.BeforeEach;

/** What the groups about latches share. */
abstract class AbstractLatchContract extends ApiContract {
    @BeforeEach
    final void requireLatch() {
        Lockkeeper keeper = keeper();
        require(keeper, Guarantee.LATCH, () -> keeper.latch(name()));
    }

    /** A keeper that looks again soon when no signal has come. */
    final Lockkeeper impatient(FaultyStore store) {
        return closing(Lockkeeper.builder(store).patience(Duration.ofSeconds(1)).build());
    }

    /** Waits until this many steps were sent to watch the latch. */
    static void awaitWatch(FaultyStore store, int steps) throws InterruptedException {
        await("somebody waits", () -> store.count(StepKind.LATCH) >= steps);
    }
}
