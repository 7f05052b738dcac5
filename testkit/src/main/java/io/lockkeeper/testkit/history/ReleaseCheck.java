// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testkit.history;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;

/** Rules 3 and 7 as far as they concern one hold: nothing is released that is not held, and depth has its limits. */
final class ReleaseCheck {
    private ReleaseCheck() {}

    static List<Violation> check(Timeline timeline) {
        List<Violation> violations = new ArrayList<>();
        for (Operation operation : timeline.operations()) {
            if (operation.isOk()
                    && operation.call() instanceof Call.Release release
                    && release.hold().isEmpty()) {
                violations.add(new Violation(
                        Rule.RELEASE,
                        operation.name(),
                        List.of(operation),
                        operation + " was answered ok, though its client has no claim"));
            }
        }
        for (List<Hold> holds : timeline.holds().values()) {
            for (Hold hold : holds) {
                if (hold.claim().mayHaveHappened()) {
                    checkLevels(hold, violations);
                    checkLimit(
                            hold, timeline.limit(Event.Limit.DEPTH, hold.claim().name()), violations);
                } else {
                    hold.okReleases()
                            .forEach(release -> violations.add(violation(
                                    Rule.RELEASE, hold, release, "was answered ok, though the claim was not granted")));
                }
            }
        }
        return violations;
    }

    /** By the upper bound: accused is only what no order of the operations can explain. */
    private static void checkLevels(Hold hold, List<Violation> violations) {
        int depth = 1;
        for (Depth.Change change : Depth.atMost(hold)) {
            boolean up = change.by() > 0;
            if (up && depth == 0) {
                if (change.cause().isOk()) {
                    violations.add(violation(
                            Rule.COUNTING, hold, change.cause(), "was answered ok after the hold was released"));
                }
            } else if (!up && depth == 0) {
                Rule rule = hold.reentries().isEmpty() ? Rule.RELEASE : Rule.COUNTING;
                violations.add(violation(
                        rule, hold, change.cause(), "was answered ok, though all levels were released before"));
            } else {
                depth = change.applyTo(depth);
            }
        }
    }

    private static void checkLimit(Hold hold, OptionalLong limit, List<Violation> violations) {
        if (limit.isEmpty()) {
            return;
        }
        int depth = 1;
        for (Depth.Change change : Depth.atLeast(hold)) {
            depth = change.applyTo(depth);
            if (change.by() > 0 && depth > limit.getAsLong()) {
                violations.add(violation(
                        Rule.COUNTING,
                        hold,
                        change.cause(),
                        "made it " + depth + " deep, though the limit is " + limit.getAsLong()));
            }
        }
    }

    private static Violation violation(Rule rule, Hold hold, Operation step, String what) {
        return new Violation(
                rule, hold.claim().name(), List.of(hold.claim(), step), step + " " + what + ": " + hold.claim());
    }
}
