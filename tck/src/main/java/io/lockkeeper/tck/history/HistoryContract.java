// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.history;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.spi.LockStore;
import io.lockkeeper.tck.Tier;
import io.lockkeeper.tck.support.Contract;
import io.lockkeeper.tck.support.Seed;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What many clients observe could all have been answered by a correct lock. */
public abstract class HistoryContract extends Contract {
    private static final int THREADS = 3;

    @Test
    @DisplayName("the history of many clients has no contradiction")
    void theHistoryOfManyClientsHasNoContradiction() throws Exception {
        check(List.of(store(), store(), store()));
    }

    @Test
    @DisplayName("the history of many clients, some cut off now and then, has no contradiction")
    void theHistoryOfClientsThatAreCutOffNowAndThenHasNoContradiction() throws Exception {
        check(List.of(store(), store(), faulty(), faulty()));
    }

    private void check(List<LockStore> stores) throws InterruptedException {
        long seed = Seed.ofThisRun();
        Duration atMost = Duration.ofSeconds(Tier.pick(5, 20, 600));
        HistoryRun run = new HistoryRun(stores, name(), seed, Tier.pick(3_000, 200_000), atMost);
        assertThat(run.play(THREADS)).as("-Dlockkeeper.seed=" + seed).isEmpty();
    }
}
