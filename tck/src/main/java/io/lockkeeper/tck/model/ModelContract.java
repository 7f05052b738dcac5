// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.model;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.tck.Tier;
import io.lockkeeper.tck.support.Contract;
import io.lockkeeper.tck.support.OneAfterTheOther;
import io.lockkeeper.tck.support.Seed;
import java.time.Duration;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/**
 * The same random steps get the same answers from the store as from the model. A store may look at what has ended when others
 * use it: with nobody else there it looks when it is asked, as the model does.
 */
public abstract class ModelContract extends Contract implements OneAfterTheOther.Alone {
    private static final Duration AT_MOST = Duration.ofSeconds(Tier.pick(6, 20, 600));

    @Test
    @DisplayName("random scripts are answered as by the model")
    void randomScriptsAreAnsweredAsByTheModel() throws Exception {
        long seed = Seed.ofThisRun();
        try (ModelCheck check = ModelCheck.still(fixture()::connect, seed, ModelCheck.Effort.FULL)) {
            assertThat(check.compare(Tier.pick(200, 5_000), Tier.pick(60, 100), AT_MOST))
                    .isEmpty();
            assertThat(check.conclusive()).as("scripts played in time").isPositive();
        }
    }

    @Test
    @DisplayName("random scripts in which leases, patience and lock-delays end are answered as by the model")
    void randomScriptsInWhichLeasesEndAreAnsweredAsByTheModel() throws Exception {
        long seed = Seed.ofThisRun();
        try (ModelCheck check = ModelCheck.pausing(fixture()::connect, seed, ModelCheck.Effort.FULL)) {
            assertThat(check.compare(Tier.pick(200, 5_000), 36, AT_MOST)).isEmpty();
            assertThat(check.conclusive()).as("scripts played in time").isPositive();
        }
    }
}
