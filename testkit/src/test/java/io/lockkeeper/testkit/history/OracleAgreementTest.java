// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testkit.history;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.testkit.history.SimulatedLock.Features;
import io.lockkeeper.testkit.history.SmallHistory.Claim;
import io.lockkeeper.testkit.history.SmallHistory.Step;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * The checker's interval rules against the {@link ExhaustiveOracle}'s search.
 *
 * <p>Exact agreement, in both directions, is asserted for claims (ok, fail, unknown) of one lock, exclusive and
 * shared, or of one semaphore, with tokens, declared validity, loss, and any number of releases (ok, fail, unknown)
 * each. With re-entries, downgrades and extensions in addition only one direction is asserted: what the checker
 * accuses, the oracle does not allow. The other would be false there: the checker does not judge re-entries and inner
 * releases after the end of declared validity, believes extensions that shorten from the beginning, and does not use
 * that nobody else can have a token between those of a hold and its downgrade.
 */
class OracleAgreementTest {
    private static final HistoryChecker CHECKER = HistoryChecker.everyRule();

    @Test
    void theSimulatedLockIsNeverAccused() {
        forAll(500, choices -> {
            int limit = choices.oneIn(3) ? 1 + choices.below(4) : 0;
            Features features = new Features(30, limit, true, limit == 0, true);
            assertThat(CHECKER.check(SimulatedLock.run(features, choices).recorded()))
                    .isEmpty();
            return null;
        });
    }

    @Test
    void oracleAllowsWhatTheSimulatedLockDoes() {
        forAll(500, choices -> {
            Features features = choices.oneIn(3) ? Features.semaphore(4, 3) : Features.lock(4);
            assertThat(ExhaustiveOracle.allows(SimulatedLock.run(features.withExtras(), choices)))
                    .isTrue();
            return null;
        });
    }

    @Test
    void checkerAndOracleAgreeOnMutatedLocks() {
        forAll(2000, choices -> {
            SmallHistory history = SimulatedLock.run(Features.lock(5), choices);
            return assertAgreement(Mutation.apply(history, choices.below(8), choices));
        });
    }

    @Test
    void checkerAndOracleAgreeOnMutatedSemaphores() {
        forAll(1500, choices -> {
            SmallHistory history = SimulatedLock.run(Features.semaphore(5, 1 + choices.below(4)), choices);
            return assertAgreement(Mutation.apply(history, choices.below(8), choices));
        });
    }

    @Test
    void checkerAndOracleAgreeOnNonsense() {
        forAll(2000, choices -> {
            int limit = choices.oneIn(3) ? 1 + choices.below(3) : 0;
            List<Claim> claims = new ArrayList<>();
            int size = 1 + choices.below(4);
            for (int i = 0; i < size; i++) {
                claims.add(nonsense(limit, choices));
            }
            return assertAgreement(new SmallHistory(List.copyOf(claims), limit).wellFormed());
        });
    }

    @Test
    void everyAccusedHistoryIsIllegal() {
        forAll(2000, choices -> {
            SmallHistory history = SimulatedLock.run(Features.lock(4).withExtras(), choices);
            SmallHistory mutated = Mutation.apply(history, choices.below(8), choices);
            List<Violation> violations = CHECKER.check(mutated.recorded());
            if (!violations.isEmpty()) {
                assertThat(ExhaustiveOracle.allows(mutated))
                        .as(violations.toString())
                        .isFalse();
            }
            return violations.isEmpty();
        });
    }

    private static boolean assertAgreement(SmallHistory history) {
        boolean legal = ExhaustiveOracle.allows(history);
        List<Violation> violations = CHECKER.check(history.recorded());
        assertThat(violations.isEmpty())
                .as("the oracle's verdict; %s", violations)
                .isEqualTo(legal);
        return legal;
    }

    /**
     * Tries a property on this many random choices. A failure names the seed, to be tried again alone with
     * {@code -Dlockkeeper.seed}. Where the property gives verdicts, at least a tenth must be of each kind: agreement would
     * prove little if nearly all histories were legal, or nearly none.
     */
    private static void forAll(int tries, Function<Choices, @Nullable Boolean> property) {
        Long given = Long.getLong("lockkeeper.seed");
        Random seeds = new Random();
        int legal = 0;
        int illegal = 0;
        for (int i = 0; i < (given == null ? tries : 1); i++) {
            long seed = given == null ? seeds.nextLong() : given;
            List<Integer> numbers =
                    new Random(seed).ints(150, 0, 10_000).boxed().toList();
            Boolean verdict;
            try {
                verdict = property.apply(new Choices(numbers));
            } catch (AssertionError e) {
                throw new AssertionError("with -Dlockkeeper.seed=" + seed + ": " + e.getMessage(), e);
            }
            legal += Boolean.TRUE.equals(verdict) ? 1 : 0;
            illegal += Boolean.FALSE.equals(verdict) ? 1 : 0;
        }
        if (given == null && legal + illegal > 0) {
            assertThat(legal).as("legal histories of %d", tries).isGreaterThan(tries / 10);
            assertThat(illegal).as("illegal histories of %d", tries).isGreaterThan(tries / 10);
        }
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
}
