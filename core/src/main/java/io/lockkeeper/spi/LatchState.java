// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.spi;

/**
 * A latch after a step.
 *
 * @param count the count; 0 when the latch is not set
 * @param generation grows with each setting; 0 when the latch is not set
 * @param outcome what the step did
 * @param at when
 */
public record LatchState(long count, long generation, Outcome outcome, StoreTime at) {
    /** What a step on a latch did. */
    public enum Outcome {
        /** It was done, now or by an earlier copy of the step. */
        DONE,
        /** There was nothing to do: set while the count was not zero. */
        UNCHANGED,
        /** It came after its deadline and was not done. */
        LATE
    }
}
