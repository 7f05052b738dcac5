// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testkit.history;

import java.util.List;

/**
 * One contradiction found in a history.
 *
 * @param rule the rule that is broken
 * @param name the lock, semaphore, latch or storage concerned
 * @param operations the operations that contradict each other; at most ten, where there are more
 * @param sentence what is wrong, in one sentence that names the operations and their times
 */
public record Violation(Rule rule, String name, List<Operation> operations, String sentence) {
    public Violation {
        operations = List.copyOf(operations);
    }

    @Override
    public String toString() {
        return "rule " + rule.number() + " (" + rule + "), \"" + name + "\": " + sentence;
    }
}
