// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.benchmarks.race;

import java.io.Serializable;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What came out of one slice.
 *
 * @param acquisitions all of them, those that ended after the slice included
 * @param additions those of them that added to the plain number in the {@link Page}
 * @param fewest acquisitions of the unluckiest thread within the slice
 * @param most acquisitions of the luckiest thread within the slice
 * @param waits how long each acquisition took; in a hand-off, from the release to the acquisition
 */
record Slice(
        long acquisitions,
        long additions,
        long fewest,
        long most,
        long overlaps,
        long errors,
        @Nullable String firstError,
        Histogram waits,
        Cost cost)
        implements Serializable {

    /** Time on the wall and time of processors. */
    record Cost(long nanos, long cpuNanos) implements Serializable {}

    /** The slices of several threads or processes that ran at the same time. */
    static Slice sum(List<Slice> slices) {
        Histogram waits = new Histogram();
        slices.forEach(s -> waits.add(s.waits));
        return new Slice(
                slices.stream().mapToLong(Slice::acquisitions).sum(),
                slices.stream().mapToLong(Slice::additions).sum(),
                slices.stream().mapToLong(Slice::fewest).min().orElse(0),
                slices.stream().mapToLong(Slice::most).max().orElse(0),
                slices.stream().mapToLong(Slice::overlaps).sum(),
                slices.stream().mapToLong(Slice::errors).sum(),
                slices.stream()
                        .map(Slice::firstError)
                        .filter(java.util.Objects::nonNull)
                        .findFirst()
                        .orElse(null),
                waits,
                new Cost(
                        slices.stream().mapToLong(s -> s.cost.nanos).max().orElse(0),
                        slices.stream().mapToLong(s -> s.cost.cpuNanos).sum()));
    }

    /** With overlaps that only the page shows: additions that got lost. */
    Slice withLost(long lost) {
        return new Slice(
                acquisitions, additions, fewest, most, overlaps + Math.abs(lost), errors, firstError, waits, cost);
    }

    double perSecond() {
        return acquisitions * 1e9 / cost.nanos;
    }
}
