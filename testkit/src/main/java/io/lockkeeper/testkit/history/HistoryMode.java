// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testkit.history;

/** How a name is held. A name is a lock (exclusive, shared) or a semaphore (permits), never both. */
public enum HistoryMode {
    /** Alone. */
    EXCLUSIVE,
    /** Together with other shared holds. */
    SHARED,
    /** Some of the permits of a semaphore. */
    PERMITS;

    /**
     * Whether two holds of one name, in this mode and the other, may never coexist, so that their tokens are ordered.
     * Permits are not in conflict pair by pair: they are counted.
     */
    boolean conflictsWith(HistoryMode other) {
        return this == EXCLUSIVE || other == EXCLUSIVE;
    }
}
