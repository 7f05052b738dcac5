// SPDX-License-Identifier: Apache-2.0
package canary;

import org.junit.jupiter.api.Test;

// A mere warning of Error Prone, and in a test: an error all the same.
// expect: [UnusedVariable]
class BugPatternInTest {
    @Test
    void nothing() {
        int forgotten = 1;
    }
}
