// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.LongSummaryStatistics;
import java.util.Set;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** How long a poll rests. H106 */
class BackoffTest {
    private static final long MILLIS = 1_000_000;

    private final Backoff backoff = new Backoff();
    private final long now = System.nanoTime();

    private LongSummaryStatistics restsAfter(long quietMillis) {
        return LongStream.range(0, 1_000)
                .map(i -> backoff.rest(now + quietMillis * MILLIS))
                .summaryStatistics();
    }

    @Test
    void restsAreJittered() {
        for (long quiet : new long[] {0, 1_000, 60_000}) {
            Set<Long> rests = new HashSet<>();
            for (int i = 0; i < 100; i++) {
                rests.add(backoff.rest(now + quiet * MILLIS));
            }
            assertThat(rests).hasSizeGreaterThan(90);
        }
    }

    @Test
    void aBusyQueueIsLookedAtOften() {
        assertThat(restsAfter(0).getMin()).isGreaterThanOrEqualTo(5 * MILLIS);
        assertThat(restsAfter(1_000).getMax()).isLessThanOrEqualTo(25 * MILLIS);
    }

    @Test
    void aRestIsAboutAnEighthOfTheTimeBeyondASecondThatNothingHappened() {
        assertThat(restsAfter(2_000).getAverage()).isBetween(100.0 * MILLIS, 150.0 * MILLIS);
        assertThat(restsAfter(5_000).getAverage()).isBetween(400.0 * MILLIS, 600.0 * MILLIS);
    }

    @Test
    void anIdleClientLooksAboutOnceASecond() {
        LongSummaryStatistics rests = restsAfter(3_600_000);
        assertThat(rests.getAverage()).isBetween(900.0 * MILLIS, 1_100.0 * MILLIS);
        assertThat(rests.getMax()).isLessThanOrEqualTo(1_250 * MILLIS);
    }

    @Test
    void whenSomethingHappensItIsQuickAgain() {
        assertThat(restsAfter(60_000).getMin()).isGreaterThan(700 * MILLIS);
        backoff.changed();
        assertThat(backoff.rest(System.nanoTime())).isLessThanOrEqualTo(25 * MILLIS);
    }

    @Test
    void aRestEndsWhenTheNameMayOpen() {
        long later = now + 60_000 * MILLIS;
        backoff.opensAt(later + 100 * MILLIS);
        assertThat(backoff.rest(later)).isBetween(100 * MILLIS, 125 * MILLIS);
        assertThat(backoff.rest(later + 100 * MILLIS)).isGreaterThan(700 * MILLIS);
    }
}
