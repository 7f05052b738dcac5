// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testkit.history;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Rule 2. */
class FenceRuleTest {
    private final Scenario scenario = new Scenario();

    @Test
    void tokensMayFollowEitherOrderWhenTheClaimsOverlap() {
        RecordedClaim one = scenario.exclusive("a", 0, 30, 2);
        scenario.release(one, 30, 40, Outcome.OK);
        RecordedClaim other = scenario.exclusive("b", 10, 30, 1);
        scenario.release(other, 30, 30, Outcome.OK);
        assertThat(scenario.broken()).isEmpty();
    }

    @Test
    void fallingTokenIsAccused() {
        RecordedClaim one = scenario.exclusive("a", 0, 10, 2);
        scenario.release(one, 11, 12, Outcome.OK);
        scenario.exclusive("b", 13, 14, 1);
        assertThat(scenario.broken()).containsExactly(Rule.FENCE);
    }

    @Test
    void eachClaimAfterResetIsAccusedButNotThoseBefore() {
        long[] tokens = {101, 102, 103, 1, 2};
        for (int i = 0; i < tokens.length; i++) {
            RecordedClaim claim = scenario.exclusive("c" + i, i * 10L, i * 10L + 1, tokens[i]);
            scenario.release(claim, i * 10L + 2, i * 10L + 3, Outcome.OK);
        }
        assertThat(scenario.violations())
                .extracting(violation -> violation.operations().get(0).client())
                .containsExactlyInAnyOrder("c3", "c4");
    }

    /** The later holder had been waiting since before the other came: invocations alone do not tell. */
    @Test
    void tokenAgainstTheOrderOfHoldsIsAccused() {
        RecordedClaim one = scenario.exclusive("a", 5, 10, 2);
        scenario.release(one, 20, 21, Outcome.OK);
        RecordedClaim waiter = scenario.exclusive("b", 0, 30, 1);
        scenario.release(waiter, 40, 41, Outcome.OK);
        assertThat(scenario.broken()).containsExactly(Rule.FENCE);
    }

    @Test
    void readersAreNotOrderedAmongThemselves() {
        scenario.shared("a", 0, 10, 8);
        scenario.shared("b", 20, 30, 7);
        assertThat(scenario.broken()).isEmpty();
    }

    @Test
    void readersAreOrderedAgainstWriters() {
        RecordedClaim writer = scenario.exclusive("w", 0, 10, 5);
        scenario.release(writer, 11, 12, Outcome.OK);
        scenario.shared("r", 13, 14, 4);
        assertThat(scenario.broken()).containsExactly(Rule.FENCE);
    }

    @Test
    void writersAreOrderedAgainstReaders() {
        RecordedClaim reader = scenario.shared("r", 0, 10, 5);
        scenario.release(reader, 11, 12, Outcome.OK);
        scenario.exclusive("w", 13, 14, 4);
        assertThat(scenario.broken()).containsExactly(Rule.FENCE);
    }

    @Test
    void permitsAreNotOrderedButUnique() {
        scenario.history.declareSemaphore("s", 3);
        scenario.at(0).history.client("a").acquirePermits("s", 1).ok(9);
        scenario.at(1).history.client("b").acquirePermits("s", 1).ok(8);
        assertThat(scenario.broken()).isEmpty();
        scenario.at(2).history.client("c").acquirePermits("s", 1).ok(9);
        assertThat(scenario.broken()).containsExactly(Rule.FENCE);
    }

    @Test
    void repeatedTokenIsAccused() {
        RecordedClaim one = scenario.exclusive("a", 0, 10, 3);
        scenario.release(one, 11, 12, Outcome.OK);
        scenario.exclusive("b", 11, 14, 3);
        assertThat(scenario.broken()).containsExactly(Rule.FENCE);
    }

    @Test
    void tokenMustBePositive() {
        scenario.exclusive("a", 0, 10, 0);
        assertThat(scenario.broken()).containsExactly(Rule.FENCE);
    }

    @Test
    void reentryKeepsItsToken() {
        RecordedClaim claim = scenario.exclusive("a", 0, 10, 3);
        claim.reenter().ok(3);
        assertThat(scenario.broken()).isEmpty();
        claim.reenter().ok(4);
        assertThat(scenario.broken()).containsExactly(Rule.FENCE);
    }

    @Test
    void downgradeTakesGreaterToken() {
        RecordedClaim claim = scenario.exclusive("a", 0, 10, 3);
        scenario.at(20);
        RecordedClaim shared = claim.downgrade();
        scenario.at(30);
        shared.ok(4);
        assertThat(scenario.broken()).isEmpty();
    }

    @Test
    void downgradeToSmallerTokenIsAccused() {
        RecordedClaim claim = scenario.exclusive("a", 0, 10, 3);
        scenario.at(20);
        RecordedClaim shared = claim.downgrade();
        scenario.at(30);
        shared.ok(2);
        assertThat(scenario.broken()).containsExactly(Rule.FENCE);
    }

    /** No writer fits between readers that follow each other without a gap, whatever the tokens say. */
    @Test
    void writerThatExpiredOnItsWayMustFitBetweenTheReadersAroundIt() {
        RecordedClaim first = scenario.shared("r1", 0, 1, 5);
        scenario.release(first, 9, 9, Outcome.OK);
        RecordedClaim writer = scenario.at(2).exclusive("w");
        scenario.at(20);
        writer.ok(6, 3);
        scenario.shared("r2", 2, 8, 7);
        assertThat(scenario.broken()).contains(Rule.FENCE);
    }

    @Test
    void lockWithoutTokensIsNotAskedForThem() {
        RecordedClaim claim = scenario.at(0).exclusive("a");
        claim.ok();
        scenario.release(claim, 1, 2, Outcome.OK);
        scenario.at(3).exclusive("b").ok();
        assertThat(scenario.broken()).isEmpty();
    }
}
