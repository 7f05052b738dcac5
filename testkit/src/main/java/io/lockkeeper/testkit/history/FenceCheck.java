// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testkit.history;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Rule 2: tokens.
 *
 * <p>Tokens of conflicting holds tell in which order the holds were. Walk through them from the greatest token to the
 * smallest, in batches of holds that may coexist (a writer, some readers, a writer, …): each hold must have been able
 * to end before all of the batches with greater tokens started, so its certain end must not be behind the earliest of
 * their latest possible starts. This contains the well-known form, "if one claim returned before another was invoked,
 * its token is smaller", since no hold ends before its claim is invoked; only that form is left where holds may
 * overlap.
 */
final class FenceCheck {
    private FenceCheck() {}

    /** @param exclusive whether holds are promised not to overlap, so that tokens must follow the order of holds */
    static List<Violation> check(Timeline timeline, boolean exclusive) {
        List<Violation> violations = new ArrayList<>();
        for (List<Hold> holds : timeline.holds().values()) {
            List<Tenure> byToken = holds.stream()
                    .filter(hold -> hold.claim().token().isPresent())
                    .flatMap(hold -> Tenure.of(hold).stream())
                    .sorted(Comparator.comparingLong(FenceCheck::token))
                    .toList();
            checkValues(byToken, violations);
            checkOrder(byToken, exclusive, violations);
            holds.forEach(hold -> checkReentries(hold, violations));
        }
        return violations;
    }

    private static void checkValues(List<Tenure> byToken, List<Violation> violations) {
        for (int i = 0; i < byToken.size(); i++) {
            Operation claim = byToken.get(i).claim();
            if (token(byToken.get(i)) <= 0) {
                violations.add(violation("the token of " + claim + " is not positive", claim));
            }
            if (i > 0 && token(byToken.get(i - 1)) == token(byToken.get(i))) {
                Operation other = byToken.get(i - 1).claim();
                violations.add(violation("two holds have one token: " + other + ", and " + claim, other, claim));
            }
        }
    }

    private static void checkOrder(List<Tenure> byToken, boolean exclusive, List<Violation> violations) {
        Tenure successor = null;
        Tenure earliest = null; // of the batches with greater tokens
        Tenure earliestOfBatch = null;
        for (int i = byToken.size() - 1; i >= 0; i--) {
            Tenure tenure = byToken.get(i);
            if (successor != null && tenure.hold().conflictsWith(successor.hold())) {
                earliest = earlier(earliest, earliestOfBatch);
                earliestOfBatch = null;
            }
            if (earliest != null) {
                checkPair(tenure, earliest, exclusive, violations);
            }
            earliestOfBatch = earlier(earliestOfBatch, tenure);
            successor = tenure;
        }
    }

    /** The second has the greater token, and conflicts with the first or with one between them. */
    private static void checkPair(Tenure first, Tenure second, boolean exclusive, List<Violation> violations) {
        if (first.claim().invoked() > second.latestStart()) {
            violations.add(violation(
                    "tokens fell: " + first.claim() + " was invoked after " + second.claim() + " was granted",
                    first.claim(),
                    second.claim()));
        } else if (exclusive && first.confirmedEnd() > second.latestStart() && !clash(first, second)) {
            violations.add(violation(
                    "tokens and holds are in different order: " + first.claim() + " ended at "
                            + Nanos.show(first.confirmedEnd()) + " or later, but " + second.claim()
                            + ", which has the greater token and conflicts with it or with one between them, had "
                            + "begun by " + Nanos.show(second.latestStart()),
                    first.claim(),
                    second.claim()));
        }
    }

    private static @Nullable Tenure earlier(@Nullable Tenure one, @Nullable Tenure other) {
        if (one == null || other == null) {
            return one == null ? other : one;
        }
        return one.latestStart() <= other.latestStart() ? one : other;
    }

    /** Two that overlap have no order; who let them is accused by another rule. */
    private static boolean clash(Tenure one, Tenure other) {
        return one.hold().conflictsWith(other.hold()) && one.confirmed().overlaps(other.confirmed());
    }

    private static void checkReentries(Hold hold, List<Violation> violations) {
        for (Operation reentry : hold.reentries()) {
            if (reentry.token().isPresent()
                    && !reentry.token().equals(hold.claim().token())) {
                violations.add(violation(
                        reentry + " sees another token than its hold, " + hold.claim(), hold.claim(), reentry));
            }
        }
    }

    private static long token(Tenure tenure) {
        return tenure.claim().token().orElseThrow();
    }

    private static Violation violation(String sentence, Operation... operations) {
        return new Violation(Rule.FENCE, operations[0].name(), List.of(operations), sentence);
    }
}
