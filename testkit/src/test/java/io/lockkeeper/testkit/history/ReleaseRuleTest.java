// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testkit.history;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Rules 3 and 4. */
class ReleaseRuleTest {
    private final Scenario scenario = new Scenario();

    @Test
    void foreignReleaseThatIsRefusedIsLegal() {
        scenario.exclusive("a", 0, 10, 1);
        scenario.at(20).history.client("b").release(Scenario.LOCK).fail();
        assertThat(scenario.broken()).isEmpty();
    }

    @Test
    void foreignReleaseThatSucceedsIsAccused() {
        scenario.exclusive("a", 0, 10, 1);
        scenario.at(20).history.client("b").release(Scenario.LOCK).ok();
        assertThat(scenario.broken()).containsExactly(Rule.RELEASE);
    }

    @Test
    void releaseOfRefusedClaimThatSucceedsIsAccused() {
        RecordedClaim claim = scenario.at(0).exclusive("a");
        claim.fail();
        scenario.release(claim, 1, 2, Outcome.OK);
        assertThat(scenario.broken()).containsExactly(Rule.RELEASE);
    }

    @Test
    void secondReleaseIsRefused() {
        RecordedClaim claim = scenario.exclusive("a", 0, 10, 1);
        scenario.release(claim, 11, 12, Outcome.OK);
        scenario.release(claim, 13, 14, Outcome.FAIL);
        assertThat(scenario.broken()).isEmpty();
        scenario.release(claim, 15, 16, Outcome.OK);
        assertThat(scenario.broken()).containsExactly(Rule.RELEASE);
    }

    @Test
    void releaseMayBeRepeatedWhenItsOutcomeIsUnknown() {
        RecordedClaim claim = scenario.exclusive("a", 0, 10, 1);
        scenario.release(claim, 11, 12, Outcome.INFO);
        scenario.release(claim, 13, 14, Outcome.OK);
        assertThat(scenario.broken()).isEmpty();
    }

    @Test
    void failedReleaseEndsNothing() {
        RecordedClaim claim = scenario.exclusive("a", 0, 10, 1);
        scenario.release(claim, 11, 12, Outcome.FAIL);
        assertThat(scenario.broken()).isEmpty();
        scenario.exclusive("b", 13, 14, 2);
        assertThat(scenario.broken()).containsExactly(Rule.EXCLUSION);
    }

    @Test
    void unknownReleaseMayHaveEndedIt() {
        RecordedClaim claim = scenario.exclusive("a", 0, 10, 1);
        scenario.release(claim, 11, 12, Outcome.INFO);
        scenario.exclusive("b", 13, 14, 2);
        assertThat(scenario.broken()).isEmpty();
    }

    /** H2, H3: validity had ended and another was in, so there was nothing to release. */
    @Test
    void releaseAfterAnotherHeldCannotSucceed() {
        RecordedClaim late = scenario.at(0).exclusive("a");
        scenario.at(1);
        late.ok(1, 10);
        RecordedClaim other = scenario.exclusive("b", 11, 12, 2);
        scenario.release(other, 13, 14, Outcome.OK);
        assertThat(scenario.broken()).isEmpty();
        scenario.release(late, 20, 21, Outcome.OK);
        assertThat(scenario.broken()).containsExactly(Rule.RELEASE);
    }

    @Test
    void releaseAfterValidityMaySucceedIfNobodyElseHeld() {
        RecordedClaim late = scenario.at(0).exclusive("a");
        scenario.at(1);
        late.ok(1, 10);
        scenario.release(late, 20, 21, Outcome.OK);
        scenario.exclusive("b", 11, 22, 2);
        assertThat(scenario.broken()).isEmpty();
    }

    @Test
    void unknownClaimMayHaveBeenGrantedWhenNobodyHeld() {
        RecordedClaim unknown = scenario.at(0).exclusive("a");
        scenario.at(1);
        unknown.info();
        scenario.release(unknown, 20, 30, Outcome.OK);
        RecordedClaim other = scenario.exclusive("b", 5, 10, 1);
        scenario.release(other, 30, 31, Outcome.OK);
        assertThat(scenario.broken()).isEmpty();
    }

    @Test
    void unknownClaimCannotHaveBeenGrantedInsideTheHoldOfAnother() {
        RecordedClaim unknown = scenario.at(0).exclusive("a");
        scenario.at(1);
        unknown.info();
        scenario.release(unknown, 20, 30, Outcome.OK);
        RecordedClaim other = scenario.exclusive("b", 5, 10, 1);
        scenario.release(other, 31, 32, Outcome.OK);
        assertThat(scenario.broken()).containsExactly(Rule.UNKNOWN_OUTCOME);
    }

    @Test
    void unknownWriterCannotHaveBeenGrantedUnderReadersThatCoverItTogether() {
        RecordedClaim unknown = scenario.at(0).exclusive("w");
        scenario.release(unknown, 20, 30, Outcome.OK);
        RecordedClaim first = scenario.shared("r1", 5, 10, 1);
        scenario.release(first, 26, 27, Outcome.OK);
        RecordedClaim second = scenario.shared("r2", 5, 25, 2);
        scenario.release(second, 40, 41, Outcome.OK);
        assertThat(scenario.broken()).containsExactly(Rule.UNKNOWN_OUTCOME);
    }

    @Test
    void unknownWriterMayHaveBeenGrantedBetweenReaders() {
        RecordedClaim unknown = scenario.at(0).exclusive("w");
        scenario.release(unknown, 20, 30, Outcome.OK);
        RecordedClaim first = scenario.shared("r1", 5, 10, 1);
        scenario.release(first, 25, 27, Outcome.OK);
        RecordedClaim second = scenario.shared("r2", 5, 25, 2);
        scenario.release(second, 40, 41, Outcome.OK);
        assertThat(scenario.broken()).isEmpty();
    }

    @Test
    void unknownClaimThatWasNeverReleasedAccusesNobody() {
        scenario.at(0).exclusive("a").info();
        scenario.at(1).exclusive("never answered");
        scenario.exclusive("b", 5, 10, 1);
        assertThat(scenario.broken()).isEmpty();
    }
}
