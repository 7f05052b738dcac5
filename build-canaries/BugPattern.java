// SPDX-License-Identifier: Apache-2.0
package canary;

import org.jspecify.annotations.NullMarked;

// expect: [DeadException]
@NullMarked
final class BugPattern {
    private BugPattern() {}

    static void check(int value) {
        if (value < 0) {
            new IllegalArgumentException("negative: " + value);
        }
    }
}
