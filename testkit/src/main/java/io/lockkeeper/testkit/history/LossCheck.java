// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testkit.history;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * Rule 5 as far as it is not in the measure of holds: loss is reported once, and it is final.
 *
 * <p>Success after the end of declared validity is no violation here: extensions need not be recorded, and a hold that
 * nobody else wanted may well have been there to be released.
 */
final class LossCheck {
    private LossCheck() {}

    static List<Violation> check(Timeline timeline) {
        List<Violation> violations = new ArrayList<>();
        for (List<Hold> holds : timeline.holds().values()) {
            for (Hold hold : holds) {
                check(hold, violations);
            }
        }
        return violations;
    }

    private static void check(Hold hold, List<Violation> violations) {
        Operation claim = hold.claim();
        if (hold.losses().size() > 1) {
            violations.add(new Violation(
                    Rule.LEASE,
                    claim.name(),
                    List.of(claim),
                    "the loss of " + claim + " was reported " + hold.losses().size() + " times"));
        }
        long lost = hold.firstLoss();
        Stream.of(hold.reentries(), hold.releases(), hold.downgrades())
                .flatMap(List::stream)
                .filter(step -> step.isOk() && step.invoked() > lost)
                .map(step -> new Violation(
                        Rule.LEASE,
                        claim.name(),
                        List.of(claim, step),
                        step + " was answered ok, though the loss of " + claim + " had been reported at "
                                + Nanos.show(lost)))
                .forEach(violations::add);
    }
}
