// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testkit.history;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Rule 6. */
class GuardRuleTest {
    private final Scenario scenario = new Scenario();
    private final RecordedStorage storage = scenario.history.storage("account");

    @Test
    void equalAndRisingTokensAreAccepted() {
        storage.accepted(33);
        storage.accepted(33);
        storage.accepted(34);
        storage.refused(33);
        assertThat(scenario.broken()).isEmpty();
    }

    @Test
    void olderTokenIsNot() {
        storage.accepted(33);
        storage.accepted(34);
        storage.accepted(33);
        assertThat(scenario.violations()).singleElement().satisfies(violation -> {
            assertThat(violation.rule()).isEqualTo(Rule.GUARD);
            assertThat(violation.name()).isEqualTo("account");
            assertThat(violation.operations())
                    .extracting(operation -> operation.token().getAsLong())
                    .containsExactly(34L, 33L);
        });
    }

    @Test
    void storagesAreIndependent() {
        storage.accepted(34);
        scenario.history.storage("other").accepted(33);
        assertThat(scenario.broken()).isEmpty();
    }

    @Test
    void orderIsTheStoragesNotTheClocks() {
        scenario.at(100);
        storage.accepted(33);
        scenario.at(50);
        storage.accepted(34);
        assertThat(scenario.broken()).isEmpty();
    }

    @Test
    void sharedTokensMayComeInAnyOrder() {
        storage.accepted(33);
        storage.accepted(HistoryMode.SHARED, 36);
        storage.accepted(HistoryMode.SHARED, 35);
        storage.accepted(37);
        assertThat(scenario.broken()).isEmpty();
    }

    @Test
    void sharedTokenMustExceedTheWriters() {
        storage.accepted(33);
        storage.accepted(HistoryMode.SHARED, 33);
        assertThat(scenario.broken()).containsExactly(Rule.GUARD);
    }

    @Test
    void writersTokenMustReachTheReaders() {
        storage.accepted(HistoryMode.SHARED, 36);
        storage.accepted(35);
        assertThat(scenario.broken()).containsExactly(Rule.GUARD);
    }

    @Test
    void permitsGuardNothing() {
        storage.accepted(HistoryMode.PERMITS, 36);
        assertThat(scenario.broken()).containsExactly(Rule.GUARD);
    }
}
