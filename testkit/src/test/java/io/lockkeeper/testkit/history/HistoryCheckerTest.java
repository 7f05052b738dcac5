// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testkit.history;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class HistoryCheckerTest {
    private final Scenario scenario = new Scenario();

    @Test
    void emptyHistoryIsLegal() {
        assertThatCode(() -> HistoryChecker.everyRule().assertLegal(scenario.history))
                .doesNotThrowAnyException();
    }

    @Test
    void assertionNamesEveryViolation() {
        scenario.exclusive("a", 0, 1, 1);
        scenario.exclusive("b", 2, 3, 1);
        assertThatThrownBy(() -> HistoryChecker.everyRule().assertLegal(scenario.history))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("2 violations")
                .hasMessageContaining("rule 1 (EXCLUSION), \"lock\"")
                .hasMessageContaining("rule 2 (FENCE), \"lock\"");
    }

    @Test
    void unwantedRulesAreLeftOut() {
        scenario.exclusive("a", 0, 1, 1);
        scenario.exclusive("b", 2, 3, 1);
        assertThat(HistoryChecker.everyRule().without(Rule.FENCE).check(scenario.history))
                .extracting(Violation::rule)
                .containsExactly(Rule.EXCLUSION);
    }

    /** K5: two holders are expected; the guard and the order of tokens still have to hold. */
    @Test
    void overlappingRunsAreCheckedForTokensAndGuardOnly() {
        HistoryChecker overlapping = HistoryChecker.everyRule().overlapping();
        scenario.exclusive("a", 0, 10, 3);
        scenario.exclusive("b", 5, 12, 2);
        scenario.history.storage("s").accepted(3);
        assertThat(overlapping.check(scenario.history)).isEmpty();
        scenario.exclusive("c", 20, 30, 1);
        scenario.history.storage("s").accepted(1);
        assertThat(overlapping.check(scenario.history))
                .extracting(Violation::rule)
                .containsExactly(Rule.FENCE, Rule.GUARD);
    }

    @Test
    void slackIsNotNegative() {
        assertThatThrownBy(() -> HistoryChecker.everyRule().slack(Duration.ofNanos(-1)))
                .isInstanceOf(IllegalArgumentException.class);
    }

    /** A square of this number of holds would take too long. */
    @Test
    void longHistoriesAreCheckedInNearlyLinearTime() {
        int holds = 50_000;
        for (int i = 0; i < holds; i++) {
            long start = i * 10L;
            RecordedClaim claim = scenario.at(start).exclusive("c" + i % 100);
            scenario.at(start + 1);
            if (i % 4 == 0) {
                claim.info();
            } else {
                claim.ok(i + 1, start + 100);
            }
            scenario.release(claim, start + 2, start + 9, Outcome.OK);
        }
        List<Violation> violations = assertTimeoutPreemptively(Duration.ofSeconds(30), scenario::violations);
        assertThat(violations).isEmpty();
    }
}
