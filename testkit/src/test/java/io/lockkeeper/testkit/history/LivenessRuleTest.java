// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testkit.history;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Rule 8. */
class LivenessRuleTest {
    private final Scenario scenario = new Scenario();

    private List<Rule> broken() {
        return HistoryChecker.everyRule().slack(Duration.ofNanos(10)).check(scenario.history).stream()
                .map(Violation::rule)
                .toList();
    }

    @Test
    void answerWithinTheSlackIsLegal() {
        RecordedClaim claim = scenario.at(0).exclusive("a").answeredBy(100);
        scenario.at(110);
        claim.fail();
        assertThat(broken()).isEmpty();
    }

    @Test
    void answerAfterTheSlackIsAccused() {
        RecordedClaim claim = scenario.at(0).exclusive("a").answeredBy(100);
        scenario.at(111);
        claim.ok(1);
        assertThat(broken()).containsExactly(Rule.LIVENESS);
    }

    @Test
    void missingAnswerIsAccusedOnceItIsOverdue() {
        scenario.at(0).exclusive("a").answeredBy(100);
        scenario.at(110).history.look();
        assertThat(broken()).isEmpty();
        scenario.at(111).history.look();
        assertThat(broken()).containsExactly(Rule.LIVENESS);
    }

    @Test
    void aClaimThatMustBeGrantedNeedsMoreThanAnAnswer() {
        scenario.at(0).exclusive("a").grantedBy(100).ok(1);
        assertThat(broken()).isEmpty();
        scenario.at(1)
                .history
                .client("b")
                .acquire("other", HistoryMode.SHARED)
                .grantedBy(100)
                .fail();
        assertThat(broken()).containsExactly(Rule.LIVENESS);
    }

    @Test
    void awaitHasDeadlinesToo() {
        scenario.history.declareLatch("l", 1);
        RecordedStep await = scenario.at(0).history.client("a").await("l").answeredBy(100);
        scenario.at(200);
        await.fail();
        assertThat(broken()).containsExactly(Rule.LIVENESS);
    }

    @Test
    void aClaimWithoutADeadlineMayWait() {
        RecordedClaim claim = scenario.at(0).exclusive("a");
        scenario.at(Long.MAX_VALUE / 2);
        claim.ok(1);
        assertThat(broken()).isEmpty();
    }
}
