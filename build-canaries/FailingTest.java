// SPDX-License-Identifier: Apache-2.0
package canary;

import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Test;

// expect: FailingTest.fails
class FailingTest {
    @Test
    void fails() {
        Assertions.fail();
    }
}
