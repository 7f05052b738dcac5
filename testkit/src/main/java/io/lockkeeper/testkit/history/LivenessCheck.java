// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testkit.history;

import java.util.ArrayList;
import java.util.List;

/** Rule 8: answers that came too late, or had not come when the history was last looked at. */
final class LivenessCheck {
    private LivenessCheck() {}

    static List<Violation> check(Timeline timeline, long slack) {
        List<Violation> violations = new ArrayList<>();
        for (Timeline.Due due : timeline.dues()) {
            Operation operation = due.operation();
            long latest = Nanos.plus(due.deadline(), slack);
            long known = Math.min(operation.returned(), due.watchedUntil());
            boolean refused = due.granted() && operation.returned() != Nanos.NEVER && !operation.isOk();
            if (refused || known > latest) {
                String what = refused
                        ? " was not granted"
                        : operation.returned() == Nanos.NEVER
                                ? " had not been answered by " + Nanos.show(known)
                                : " was answered too late";
                violations.add(new Violation(
                        Rule.LIVENESS,
                        operation.name(),
                        List.of(operation),
                        operation + what + ", though it was due by " + Nanos.show(due.deadline()) + " and "
                                + Nanos.show(slack) + " of slack"));
            }
        }
        return violations;
    }
}
