// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testkit.history;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Rule 1. */
class ExclusionRuleTest {
    private final Scenario scenario = new Scenario();

    @Test
    void grantThatReturnsAsTheReleaseIsInvokedIsLegal() {
        RecordedClaim first = scenario.exclusive("a", 0, 10, 1);
        scenario.release(first, 20, 30, Outcome.OK);
        scenario.exclusive("b", 5, 20, 2);
        assertThat(scenario.broken()).isEmpty();
    }

    @Test
    void grantThatReturnsBeforeTheReleaseIsInvokedIsAccused() {
        RecordedClaim first = scenario.exclusive("a", 0, 10, 1);
        scenario.release(first, 20, 30, Outcome.OK);
        scenario.exclusive("b", 5, 19, 2);
        assertThat(scenario.broken()).containsExactly(Rule.EXCLUSION);
    }

    @Test
    void twoClaimsOfOneClientExcludeEachOther() {
        scenario.exclusive("a", 0, 10, 1);
        scenario.exclusive("a", 20, 30, 2);
        assertThat(scenario.broken()).containsExactly(Rule.EXCLUSION);
    }

    @Test
    void differentNamesDoNotMeet() {
        scenario.exclusive("a", 0, 10, 1);
        RecordedClaim other = scenario.at(11).history.client("b").acquire("other", HistoryMode.EXCLUSIVE);
        other.ok(1);
        assertThat(scenario.broken()).isEmpty();
    }

    @Test
    void holdInsideAnotherIsFoundBehindManyShortOnes() {
        scenario.exclusive("long", 0, 1, 1);
        for (long start = 10; start <= 100; start += 10) {
            RecordedClaim claim = scenario.exclusive("short", start, start + 1, start);
            scenario.release(claim, start + 2, start + 3, Outcome.OK);
        }
        assertThat(scenario.violations()).hasSize(10).allSatisfy(violation -> {
            assertThat(violation.rule()).isEqualTo(Rule.EXCLUSION);
            assertThat(violation.operations())
                    .hasSize(2)
                    .anyMatch(operation -> operation.client().equals("long"));
        });
    }

    @Test
    void sentenceNamesRuleLockClientsTokensAndTimes() {
        RecordedClaim first = scenario.exclusive("a", 0, 1_000_000, 33);
        scenario.release(first, 5_000_000, 6_000_000, Outcome.OK);
        scenario.exclusive("b", 2_000_000, 3_000_000, 34);
        assertThat(scenario.violations()).singleElement().satisfies(violation -> {
            assertThat(violation.name()).isEqualTo("lock");
            assertThat(violation.operations()).extracting(Operation::client).containsExactly("b", "a");
            assertThat(violation.toString())
                    .isEqualTo("rule 1 (EXCLUSION), \"lock\": was held by b's exclusive claim #3 (token 34) in "
                            + "[2.000000 ms, 3.000000 ms], certainly from 3.000000 ms to the end, when the history "
                            + "ended and at the same time by a's exclusive claim #1 (token 33) in "
                            + "[0.000000 ms, 1.000000 ms], certainly from 1.000000 ms to 5.000000 ms, when its "
                            + "release was invoked");
        });
    }
}
