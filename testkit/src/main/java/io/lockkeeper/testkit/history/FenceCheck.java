// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testkit.history;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * Rule 2: tokens.
 *
 * <p>Tokens of conflicting holds tell in which order the holds were. Walk through them by token, in batches of holds
 * that may coexist (a writer, some readers, a writer, …): each hold must be able to start when all of the earlier
 * batches have ended, so the latest certain end so far must not be behind its latest possible start. This contains the
 * well-known form, "if one claim returned before another was invoked, its token is smaller", since no hold ends before
 * its claim is invoked; that one is walked on its own, too, since it holds where holds may overlap.
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
        Barrier invocations = new Barrier(tenure -> tenure.claim().invoked());
        Barrier ends = new Barrier(Tenure::confirmedEnd);
        Tenure previous = null;
        for (Tenure tenure : byToken) {
            if (previous != null && previous.hold().conflictsWith(tenure.hold())) {
                invocations.nextBatch();
                ends.nextBatch();
            }
            Tenure later = invocations.blocking(tenure);
            Tenure longer = exclusive ? ends.blocking(tenure) : null;
            if (later != null) {
                violations.add(violation(
                        "tokens fell: " + tenure.claim() + " was granted before " + later.claim() + " was invoked",
                        tenure.claim(),
                        later.claim()));
            } else if (longer != null && !clash(tenure, longer)) {
                violations.add(violation(
                        "tokens and holds are in different order: " + longer.claim() + " ended at "
                                + Nanos.show(longer.confirmedEnd()) + " or later, but " + tenure.claim()
                                + ", which has the greater token and conflicts with it or with one between them, had "
                                + "begun by " + Nanos.show(tenure.latestStart()),
                        longer.claim(),
                        tenure.claim()));
            }
            invocations.add(tenure);
            ends.add(tenure);
            previous = tenure;
        }
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

    /** Of the holds in all batches before the current one, the one that is latest in some respect. */
    private static final class Barrier {
        private final ToLongFunction<Tenure> time;
        private @Nullable Tenure before;
        private @Nullable Tenure within;

        Barrier(ToLongFunction<Tenure> time) {
            this.time = time;
        }

        void nextBatch() {
            before = latest(before, within);
            within = null;
        }

        void add(Tenure tenure) {
            within = latest(within, tenure);
        }

        /** What would have to be over before the given one starts, and cannot be. */
        @Nullable
        Tenure blocking(Tenure tenure) {
            return before != null && time.applyAsLong(before) > tenure.latestStart() ? before : null;
        }

        private @Nullable Tenure latest(@Nullable Tenure one, @Nullable Tenure other) {
            if (one == null || other == null) {
                return one == null ? other : one;
            }
            return time.applyAsLong(one) >= time.applyAsLong(other) ? one : other;
        }
    }
}
