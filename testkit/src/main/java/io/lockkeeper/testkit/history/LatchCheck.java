// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testkit.history;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Rule 7, latches: nobody gets through before the last of the counts was at least on its way. */
final class LatchCheck {
    private LatchCheck() {}

    static List<Violation> check(Timeline timeline) {
        Map<String, List<Operation>> counts = new HashMap<>();
        Map<String, List<Operation>> awaits = new HashMap<>();
        for (Operation operation : timeline.operations()) {
            if (operation.call() instanceof Call.CountDown && operation.mayHaveHappened()) {
                counts.computeIfAbsent(operation.name(), name -> new ArrayList<>())
                        .add(operation);
            } else if (operation.call() instanceof Call.Await && operation.isOk()) {
                awaits.computeIfAbsent(operation.name(), name -> new ArrayList<>())
                        .add(operation);
            }
        }
        List<Violation> violations = new ArrayList<>();
        timeline.limits(Event.Limit.COUNT).forEach((name, count) -> {
            if (count > 0) {
                List<Operation> down = counts.getOrDefault(name, new ArrayList<>());
                check(name, count, down, awaits.getOrDefault(name, List.of()), violations);
            }
        });
        return violations;
    }

    private static void check(
            String name, long count, List<Operation> counts, List<Operation> awaits, List<Violation> violations) {
        counts.sort(Comparator.comparingLong(Operation::invoked));
        for (Operation await : awaits) {
            if (counts.size() < count) {
                violations.add(new Violation(
                        Rule.COUNTING,
                        name,
                        List.of(await),
                        await + " returned, though only " + counts.size() + " of " + count
                                + " count-downs were ever invoked"));
            } else {
                Operation last = counts.get((int) (count - 1));
                if (await.returned() < last.invoked()) {
                    violations.add(new Violation(
                            Rule.COUNTING,
                            name,
                            List.of(await, last),
                            await + " returned before the last of " + count + " count-downs was invoked: " + last));
                }
            }
        }
    }
}
