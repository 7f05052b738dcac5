// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testkit.history;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Rule 6: accepted writes of a storage, in its own order. With exclusive tokens alone this says that they never fall.
 * Shared tokens are not ordered among themselves, so there are two marks: an exclusive token must reach both, a shared
 * one must exceed the exclusive mark. Tokens of permits have no order that could protect anything, so that a guard must
 * not accept them.
 */
final class GuardCheck {
    private GuardCheck() {}

    static List<Violation> check(Timeline timeline) {
        List<Violation> violations = new ArrayList<>();
        for (List<Operation> writes : timeline.writes().values()) {
            Operation exclusive = null;
            Operation shared = null;
            for (Operation write : writes) {
                if (!write.isOk() || !(write.call() instanceof Call.Write call)) {
                    continue;
                }
                long token = token(write);
                switch (call.mode()) {
                    case EXCLUSIVE -> {
                        if (isBelow(token, exclusive)) {
                            add(violations, write, exclusive);
                        } else if (isBelow(token, shared)) {
                            add(violations, write, shared);
                        } else {
                            exclusive = write;
                        }
                    }
                    case SHARED -> {
                        if (exclusive != null && token <= token(exclusive)) {
                            add(violations, write, exclusive);
                        } else if (shared == null || token > token(shared)) {
                            shared = write;
                        }
                    }
                    case PERMITS ->
                        violations.add(new Violation(
                                Rule.GUARD,
                                write.name(),
                                List.of(write),
                                write + " was accepted, though a token of permits protects nothing"));
                }
            }
        }
        return violations;
    }

    private static boolean isBelow(long token, @Nullable Operation mark) {
        return mark != null && token < token(mark);
    }

    private static void add(List<Violation> violations, Operation write, @Nullable Operation mark) {
        if (mark != null) {
            violations.add(new Violation(
                    Rule.GUARD, write.name(), List.of(mark, write), write + " was accepted after " + mark));
        }
    }

    private static long token(Operation write) {
        return write.token().orElseThrow();
    }
}
