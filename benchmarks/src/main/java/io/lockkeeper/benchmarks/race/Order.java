// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.benchmarks.race;

import java.io.Serializable;
import java.time.Duration;

/** What a {@link Worker} must do, and what it answers. */
sealed interface Order extends Serializable {
    /**
     * Runs a slice; the answer is a {@link Slice}.
     *
     * @param process the number of this process among those of the contender
     * @param startAt on the monotonic clock, which all processes of a machine share
     */
    record Run(Workload workload, int process, long startAt, Duration length) implements Order {}

    /** Takes many names and keeps them; the answer is how many it has. */
    record Keep(int names, Duration lease) implements Order {}

    /** Does nothing else for that long; the answer is the {@link Slice.Cost} of that. */
    record Idle(Duration length) implements Order {}

    /** Gives back what it keeps; the answer is how many were still held. */
    record Drop() implements Order {}

    /** The answer if something went wrong. */
    record Failed(String message) implements Serializable {}
}
