// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testkit.history;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.testkit.history.SimulatedLock.Features;
import io.lockkeeper.testkit.history.SmallHistory.Claim;
import io.lockkeeper.testkit.history.SmallHistory.Step;
import java.util.ArrayList;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.RandomDistribution;
import net.jqwik.api.statistics.Statistics;

/**
 * The checker's interval rules against the {@link ExhaustiveOracle}'s search.
 *
 * <p>Exact agreement, in both directions, is asserted for claims (ok, fail, unknown) of one lock, exclusive and shared,
 * or of one semaphore, with tokens, declared validity, loss, and any number of releases (ok, fail, unknown) each. With
 * re-entries, downgrades and extensions in addition only one direction is asserted: what the checker accuses, the oracle
 * does not allow. The other would be false there: the checker does not judge re-entries and inner releases after the end
 * of declared validity, believes extensions that shorten from the beginning, and does not use that nobody else can have
 * a token between those of a hold and its downgrade.
 */
class OracleAgreementTest {
    private static final HistoryChecker CHECKER = HistoryChecker.everyRule();

    @Property(tries = 500)
    void whatTheSimulatedLockDoesIsNeverAccused(@ForAll("numbers") List<Integer> numbers) {
        Choices choices = new Choices(numbers);
        int limit = choices.oneIn(3) ? 1 + choices.below(4) : 0;
        Features features = new Features(30, limit, true, limit == 0, true);
        assertThat(CHECKER.check(SimulatedLock.run(features, choices).recorded()))
                .isEmpty();
    }

    @Property(tries = 500)
    void oracleAllowsWhatTheSimulatedLockDoes(@ForAll("numbers") List<Integer> numbers) {
        Choices choices = new Choices(numbers);
        Features features = choices.oneIn(3) ? Features.semaphore(4, 3) : Features.lock(4);
        assertThat(ExhaustiveOracle.allows(SimulatedLock.run(features.withExtras(), choices)))
                .isTrue();
    }

    @Property(tries = 3000)
    void checkerAndOracleAgreeOnMutatedLocks(@ForAll("numbers") List<Integer> numbers) {
        Choices choices = new Choices(numbers);
        SmallHistory history = SimulatedLock.run(Features.lock(5), choices);
        assertAgreement(Mutation.apply(history, choices.below(8), choices));
    }

    @Property(tries = 2000)
    void checkerAndOracleAgreeOnMutatedSemaphores(@ForAll("numbers") List<Integer> numbers) {
        Choices choices = new Choices(numbers);
        SmallHistory history = SimulatedLock.run(Features.semaphore(5, 1 + choices.below(4)), choices);
        assertAgreement(Mutation.apply(history, choices.below(8), choices));
    }

    @Property(tries = 3000)
    void checkerAndOracleAgreeOnNonsense(@ForAll("numbers") List<Integer> numbers) {
        Choices choices = new Choices(numbers);
        int limit = choices.oneIn(3) ? 1 + choices.below(3) : 0;
        List<Claim> claims = new ArrayList<>();
        int size = 1 + choices.below(4);
        for (int i = 0; i < size; i++) {
            claims.add(nonsense(limit, choices));
        }
        assertAgreement(new SmallHistory(List.copyOf(claims), limit).wellFormed());
    }

    @Property(tries = 3000)
    void whatIsAccusedIsNotAllowed(@ForAll("numbers") List<Integer> numbers) {
        Choices choices = new Choices(numbers);
        SmallHistory history = SimulatedLock.run(Features.lock(4).withExtras(), choices);
        SmallHistory mutated = Mutation.apply(history, choices.below(8), choices);
        List<Violation> violations = CHECKER.check(mutated.recorded());
        Statistics.label("accused").collect(!violations.isEmpty()).coverage(coverage -> coverage.check(true)
                .percentage(percentage -> percentage > 10));
        if (!violations.isEmpty()) {
            assertThat(ExhaustiveOracle.allows(mutated))
                    .as(violations.toString())
                    .isFalse();
        }
    }

    /** Agreement would prove little if nearly all histories were legal, or nearly none. */
    private static void assertAgreement(SmallHistory history) {
        boolean legal = ExhaustiveOracle.allows(history);
        List<Violation> violations = CHECKER.check(history.recorded());
        Statistics.label("legal").collect(legal).coverage(coverage -> {
            coverage.check(true).percentage(percentage -> percentage > 10);
            coverage.check(false).percentage(percentage -> percentage > 10);
        });
        violations.forEach(violation -> Statistics.label("rule").collect(violation.rule()));
        assertThat(violations.isEmpty())
                .as("the oracle's verdict; %s", violations)
                .isEqualTo(legal);
    }

    private static Claim nonsense(int limit, Choices choices) {
        HistoryMode mode =
                limit > 0 ? HistoryMode.PERMITS : choices.oneIn(2) ? HistoryMode.SHARED : HistoryMode.EXCLUSIVE;
        long begin = choices.below(12);
        Outcome outcome = choices.oneIn(4) ? choices.outcome() : Outcome.OK;
        boolean leased = outcome == Outcome.OK && choices.oneIn(3);
        List<Step> releases = new ArrayList<>();
        while (releases.size() < 2 && !choices.oneIn(2)) {
            long at = begin + choices.below(6);
            Outcome answer = choices.oneIn(3) ? choices.outcome() : Outcome.OK;
            releases.add(new Step(at, at + choices.below(6), answer));
        }
        return new Claim(
                mode,
                1 + choices.below(2),
                begin,
                begin + choices.below(6),
                outcome,
                1 + begin + choices.below(8),
                leased ? begin + choices.below(8) : SmallHistory.NEVER,
                List.of(),
                leased && choices.oneIn(3) ? begin + choices.below(8) : SmallHistory.NEVER,
                List.of(),
                List.copyOf(releases),
                -1);
    }

    @Provide
    Arbitrary<List<Integer>> numbers() {
        return Arbitraries.integers()
                .between(0, 9999)
                .withDistribution(RandomDistribution.uniform())
                .list()
                .ofSize(150);
    }
}
