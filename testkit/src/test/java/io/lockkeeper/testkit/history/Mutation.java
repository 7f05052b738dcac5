// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testkit.history;

import io.lockkeeper.testkit.history.SmallHistory.Claim;
import io.lockkeeper.testkit.history.SmallHistory.Step;
import java.util.ArrayList;
import java.util.List;

/** Small lies about a history, most of which make it illegal. */
final class Mutation {
    private Mutation() {}

    static SmallHistory apply(SmallHistory history, int times, Choices choices) {
        List<Claim> claims = new ArrayList<>(history.claims());
        for (int i = 0; i < times && !claims.isEmpty(); i++) {
            int at = choices.below(claims.size());
            int other = choices.below(claims.size());
            if (choices.below(6) == 0) {
                long token = claims.get(at).token();
                claims.set(at, claims.get(at).withToken(claims.get(other).token()));
                claims.set(other, claims.get(other).withToken(token));
            } else {
                claims.set(at, mutate(claims.get(at), choices));
            }
        }
        return new SmallHistory(List.copyOf(claims), history.limit()).wellFormed();
    }

    private static Claim mutate(Claim claim, Choices choices) {
        int by = choices.below(9) - 4;
        return switch (choices.below(9)) {
            case 0 -> claim.withToken(claim.token() + by);
            case 1 -> claim.withTimes(Math.max(0, claim.invoked() + by), claim.returned());
            case 2 -> claim.withTimes(claim.invoked(), Math.max(0, claim.returned() + by));
            case 3 ->
                claim.outcome() == Outcome.OK || !claim.reentries().isEmpty() ? claim : claim.withOutcome(Outcome.OK);
            case 4 ->
                claim.mode() == HistoryMode.PERMITS
                        ? claim.withMode(HistoryMode.PERMITS, 1 + choices.below(4))
                        : claim.downgradeOf() >= 0 || claim.mode() == HistoryMode.EXCLUSIVE
                                ? claim
                                : claim.withMode(HistoryMode.EXCLUSIVE, 1);
            case 5 ->
                claim.outcome() == Outcome.OK && claim.validUntil() != SmallHistory.NEVER
                        ? claim.withLease(Math.max(0, claim.validUntil() + by), claim.lostAt())
                        : claim;
            case 6 ->
                claim.outcome() == Outcome.OK && claim.lostAt() != SmallHistory.NEVER
                        ? claim.withLease(claim.validUntil(), Math.max(0, claim.lostAt() + by))
                        : claim;
            case 7 -> claim.withSteps(claim.reentries(), mutate(claim.releases(), choices));
            default -> claim.withSteps(claim.reentries(), added(claim, choices));
        };
    }

    private static List<Step> mutate(List<Step> steps, Choices choices) {
        List<Step> mutated = new ArrayList<>();
        for (Step step : steps) {
            Outcome outcome = choices.oneIn(2) ? choices.outcome() : step.outcome();
            long begin = Math.max(0, step.invoked() + choices.below(7) - 3);
            mutated.add(new Step(begin, begin + choices.below(5), outcome));
        }
        return List.copyOf(mutated);
    }

    private static List<Step> added(Claim claim, Choices choices) {
        List<Step> steps = new ArrayList<>(claim.releases());
        long begin = claim.invoked() + choices.below(12);
        steps.add(new Step(begin, begin + choices.below(5), choices.outcome()));
        return List.copyOf(steps);
    }
}
