// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testkit.history;

/** What is known about the effect of an operation. */
public enum Outcome {
    /** It happened, at one instant between invocation and return. */
    OK,
    /** It did not happen and never will: not acquired, not released because it was lost, timed out. */
    FAIL,
    /**
     * Unknown: it may have happened, may happen later, or never. A call that threw, and one that has not returned by
     * the end of the history.
     */
    INFO
}
