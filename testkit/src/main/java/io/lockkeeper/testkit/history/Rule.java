// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testkit.history;

/** The rules a history is checked against, by the numbers under which the documentation explains them. */
public enum Rule {
    /** Exclusive holds do not overlap. Only where the store promises it. */
    EXCLUSION(1),
    /**
     * Tokens are positive and unique; those of conflicting holds rise in the order of the holds; a re-entry sees the
     * token of its hold.
     */
    FENCE(2),
    /** Only the holder releases, once; a release that was answered ok had something to release. */
    RELEASE(3),
    /** A claim with unknown outcome that was released ok had been granted, at an instant when nobody else held. */
    UNKNOWN_OUTCOME(4),
    /**
     * Loss is reported once, and no operation on the hold succeeds that was invoked after the report. (The other half of
     * rule 5, that a hold counts until its loss was reported or its declared validity ended, is in how the other rules
     * measure holds.)
     */
    LEASE(5),
    /** What a guarded storage accepts never goes back to an older token. In all runs, on all stores. */
    GUARD(6),
    /**
     * Writers exclude readers, permits in use never exceed the limit, re-entrance stays between nothing and its limit,
     * and a latch opens only after enough count-downs.
     */
    COUNTING(7),
    /** A claim with a deadline was answered by it. */
    LIVENESS(8);

    private final int number;

    Rule(int number) {
        this.number = number;
    }

    /** The number in the list of rules, from 1. */
    public int number() {
        return number;
    }
}
