// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testkit.history;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Rule 5. */
class LeaseRuleTest {
    private final Scenario scenario = new Scenario();

    private RecordedClaim leased(String client, long invoked, long returned, long token, long validUntil) {
        RecordedClaim claim = scenario.at(invoked).exclusive(client);
        scenario.at(returned);
        claim.ok(token, validUntil);
        return claim;
    }

    @Test
    void grantAsDeclaredValidityEndsIsLegal() {
        leased("a", 0, 1, 1, 100);
        scenario.exclusive("b", 50, 100, 2);
        assertThat(scenario.broken()).isEmpty();
    }

    @Test
    void grantBeforeDeclaredValidityEndsIsAccused() {
        leased("a", 0, 1, 1, 100);
        scenario.exclusive("b", 50, 99, 2);
        assertThat(scenario.broken()).containsExactly(Rule.EXCLUSION);
    }

    @Test
    void extensionMovesTheEnd() {
        RecordedClaim claim = leased("a", 0, 1, 1, 100);
        scenario.at(100);
        claim.extended(200);
        scenario.exclusive("b", 50, 199, 2);
        assertThat(scenario.broken()).containsExactly(Rule.EXCLUSION);
    }

    @Test
    void extensionAfterTheEndIsNotBelieved() {
        RecordedClaim claim = leased("a", 0, 1, 1, 100);
        scenario.at(101);
        claim.extended(200);
        scenario.exclusive("b", 50, 199, 2);
        assertThat(scenario.broken()).isEmpty();
    }

    @Test
    void extensionThatShortensIsBelieved() {
        RecordedClaim claim = leased("a", 0, 1, 1, 100);
        scenario.at(10);
        claim.extended(50);
        scenario.exclusive("b", 20, 50, 2);
        assertThat(scenario.broken()).isEmpty();
    }

    @Test
    void toldLossEndsTheHold() {
        RecordedClaim claim = leased("a", 0, 1, 1, 100);
        scenario.at(40);
        claim.lost();
        scenario.exclusive("b", 20, 40, 2);
        assertThat(scenario.broken()).isEmpty();
    }

    @Test
    void grantBeforeLossIsReportedIsAccused() {
        RecordedClaim claim = leased("a", 0, 1, 1, 100);
        scenario.at(50);
        claim.lostAt(40);
        scenario.exclusive("b", 20, 39, 2);
        assertThat(scenario.broken()).containsExactly(Rule.EXCLUSION);
    }

    @Test
    void releaseUnderWayWhenLossIsReportedMaySucceed() {
        RecordedClaim claim = scenario.exclusive("a", 0, 1, 1);
        scenario.at(40);
        claim.lost();
        scenario.release(claim, 40, 60, Outcome.OK);
        assertThat(scenario.broken()).isEmpty();
    }

    @Test
    void nothingSucceedsAfterLossWasReported() {
        RecordedClaim claim = scenario.exclusive("a", 0, 1, 1);
        scenario.at(40);
        claim.lost();
        scenario.at(41);
        claim.reenter().ok(1);
        claim.downgrade().ok(2);
        scenario.release(claim, 41, 60, Outcome.FAIL);
        assertThat(scenario.broken()).containsExactly(Rule.LEASE, Rule.LEASE);
    }

    @Test
    void lossIsReportedOnce() {
        RecordedClaim claim = scenario.exclusive("a", 0, 1, 1);
        claim.lost();
        assertThat(scenario.broken()).isEmpty();
        claim.lost();
        assertThat(scenario.broken()).containsExactly(Rule.LEASE);
    }

    /** K1: a paused holder writes late. The lock is right; only the guard can tell. */
    @Test
    void pausedHolderConcernsOnlyTheGuardRule() {
        leased("a", 0, 1, 33, 100);
        scenario.exclusive("b", 101, 102, 34);
        RecordedStorage storage = scenario.at(110).history.storage("account");
        storage.accepted(34);
        storage.refused(33);
        assertThat(scenario.broken()).isEmpty();
        storage.accepted(33);
        assertThat(scenario.broken()).containsExactly(Rule.GUARD);
    }
}
