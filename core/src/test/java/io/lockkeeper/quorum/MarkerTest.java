// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.quorum;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lockkeeper.StoreUnavailableException;
import java.time.Duration;
import java.util.Random;
import org.junit.jupiter.api.Test;

final class MarkerTest {
    private static Marker random(Random random) {
        int members = 3 + random.nextInt(5);
        return new Marker(
                random.nextInt(Marker.QUORUMS),
                random.nextInt(Marker.NONCES),
                Duration.ofSeconds(1 + random.nextInt(90_000)),
                members,
                random.nextInt(members),
                random.nextBoolean());
    }

    @Test
    void aMarkerIsReadAsItWasWritten() {
        Random random = new Random(1);
        for (int i = 0; i < 100_000; i++) {
            Marker marker = random(random);
            assertThat(marker.count()).isBetween(1L, (1L << 53) - 1);
            assertThat(Marker.of(marker.count())).isEqualTo(marker);
        }
    }

    @Test
    void countingDownMakesItFinalAndNothingElse() {
        Marker provisional = new Marker(7, 3, Duration.ofSeconds(60), 5, 2, false);
        for (int confirmations = 1; confirmations < 1_000; confirmations++) { // several may do so at once
            assertThat(Marker.of(provisional.count() - confirmations))
                    .isEqualTo(new Marker(7, 3, Duration.ofSeconds(60), 5, 2, true));
        }
    }

    @Test
    void whatIsNoMarkerIsRefused() {
        for (long count : new long[] {1024, 1L << 53, Long.MAX_VALUE}) {
            assertThatThrownBy(() -> Marker.of(count))
                    .isInstanceOfSatisfying(StoreUnavailableException.class, e -> assertThat(e.worthRepeating())
                            .isFalse());
        }
    }
}
