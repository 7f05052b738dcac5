// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.benchmarks.race;

import org.jspecify.annotations.Nullable;

/** What one thread counts during a slice. */
final class Tally {
    long acquisitions;
    long inTime;
    long additions;
    long overlaps;
    private long errors;
    private @Nullable String firstError;
    final Histogram waits = new Histogram();

    void failed(Exception e) {
        errors++;
        if (firstError == null) {
            firstError = e.toString();
        }
    }

    Slice slice(long nanos) {
        return new Slice(
                acquisitions, additions, inTime, inTime, overlaps, errors, firstError, waits, new Slice.Cost(nanos, 0));
    }
}
