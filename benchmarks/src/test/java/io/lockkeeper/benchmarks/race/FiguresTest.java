// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.benchmarks.race;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

/** What becomes of the counts. */
class FiguresTest {
    @Test
    void quantilesAreWithinThreePercent() {
        Histogram histogram = new Histogram();
        for (long nanos = 1; nanos <= 1_000_000; nanos++) {
            histogram.record(nanos);
        }
        assertThat(histogram.micros(0.5)).isCloseTo(500, within(500 * 0.035));
        assertThat(histogram.micros(0.99)).isCloseTo(990, within(990 * 0.035));
        histogram.record(Long.MAX_VALUE);
        assertThat(histogram.total()).isEqualTo(1_000_001);
        assertThat(new Histogram().micros(0.5)).isNaN();
    }

    @Test
    void ratiosAreTakenRoundByRound() {
        Score floor = score(100, 1_000, 0);
        Score other = score(300, 1_500, 7);
        assertThat(other.ratioTo(floor)).isEqualTo(new Score.Spread(1.5, 2.25, 3));
        assertThat(other.requestsEach()).isEqualTo(30 / 1_807.0);
    }

    private static Score score(long... acquisitions) {
        Score score = new Score("store", Workload.named("one"), "contender");
        for (long count : acquisitions) {
            Slice slice =
                    new Slice(count, count, 1, 2, 0, 0, null, new Histogram(), new Slice.Cost(1_000_000_000, 1_000));
            score.add(slice, OptionalLong.of(10));
        }
        return score;
    }

    @Test
    void jsonEscapesAndKnowsNoNaN() {
        assertThat(Json.of(Map.of("a\"b\n", List.of(1, 2.5, Double.NaN))))
                .isEqualTo("{\"a\\\"b\\u000a\": [\n    1,\n    2.5000,\n    null\n  ]}\n");
    }

    @Test
    void badOptionsAreNamed() {
        assertThatThrownBy(() -> new Options()).hasMessageContaining("which suite");
        assertThatThrownBy(() -> new Options("sql", "--rounds", "0")).hasMessageContaining("--rounds is 0");
        assertThatThrownBy(() -> new Options("sql", "--workloads", "nap")).hasMessageContaining("no workload 'nap'");
        assertThatThrownBy(() -> new Options("sql", "--json")).hasMessageContaining("--json has no value");
        assertThatThrownBy(() -> new Options("sql", "--nap")).hasMessageContaining("unknown option --nap");
    }
}
