// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.LockOptions;
import io.lockkeeper.spi.Liveness;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Until when a hold is valid, and how long before the end of its lease it is lost. */
final class ValidityTest {
    private static final long SECOND = 1_000_000_000;

    private final Rig rig = new Rig();

    @AfterEach
    void end() {
        rig.close();
    }

    private Validity validity() throws Exception {
        rig.lock("x", LockOptions.defaults().lease(Duration.ofSeconds(6))).acquire();
        return new Validity(rig.hold().settings, Liveness.FOREVER, 0, 0);
    }

    @Test
    void answersThatOnlySayWhatIsLeftDoNotShortenTheWarningTime() throws Exception {
        Validity validity = validity();
        validity.extend(0, Duration.ofSeconds(6));
        long before = validity.deadline();
        for (long millis = 100; millis < 6_000; millis += 100) {
            validity.extend(millis * 1_000_000, Duration.ofMillis(6_000 - millis));
            assertThat(validity.endsAt() - validity.deadline())
                    .as("after %d ms", millis)
                    .isEqualTo(6 * SECOND / 10);
        }
        assertThat(validity.deadline()).isBetween(before, before + SECOND / 10);
    }

    @Test
    void aRenewalHasAWarningTimeOfItsOwn() throws Exception {
        Validity validity = validity();
        validity.extend(0, Duration.ofSeconds(3));
        assertThat(validity.endsAt() - validity.deadline()).isEqualTo(3 * SECOND / 10);
        validity.extend(SECOND, Duration.ofSeconds(6));
        assertThat(validity.endsAt() - validity.deadline()).isEqualTo(6 * SECOND / 10);
    }
}
