// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.lockkeeper.Guarantee;
import io.lockkeeper.Guarantees;

/** What a test is about: a store that does not promise it is not asked. */
final class Promise {
    private Promise() {}

    /** Ends the test when the store does not promise this. {@code ./check} knows such tests by these words. */
    static void needed(Guarantees guarantees, Guarantee guarantee) {
        assumeTrue(guarantees.has(guarantee), () -> "the store does not promise " + guarantee);
    }
}
