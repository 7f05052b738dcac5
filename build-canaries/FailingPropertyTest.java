// SPDX-License-Identifier: Apache-2.0
package canary;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

// expect: FailingPropertyTest.fails
class FailingPropertyTest {
    @Property
    boolean fails(@ForAll int number) {
        return number < 1000;
    }
}
