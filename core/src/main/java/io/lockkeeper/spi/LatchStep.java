// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.spi;

import java.time.Duration;

/** One step on a latch. Steps that change it carry an id that the store remembers until the deadline. */
public sealed interface LatchStep {
    /** The latch. */
    String name();

    /**
     * Looks at the count, and asks to be told when it reaches zero.
     *
     * @param client whom to tell
     * @param interest how long the wish to be told lasts
     */
    record Watch(String name, String client, Duration interest) implements LatchStep {}

    /** Looks at the count. */
    record Look(String name) implements LatchStep {}

    /** Sets the count if it is zero. */
    record Set(String name, long count, ClaimId id, StoreTime deadline) implements LatchStep {}

    /** Counts down by one, if it is not zero. */
    record CountDown(String name, ClaimId id, StoreTime deadline) implements LatchStep {}
}
