// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.benchmarks.race;

import java.io.Serializable;

/** Times in ns, to within about 3 %: 16 buckets for each power of two. */
final class Histogram implements Serializable {
    private final long[] counts = new long[16 * 61];
    private long total;

    void record(long nanos) {
        counts[bucket(Math.max(0, nanos))]++;
        total++;
    }

    void add(Histogram other) {
        for (int i = 0; i < counts.length; i++) {
            counts[i] += other.counts[i];
        }
        total += other.total;
    }

    long total() {
        return total;
    }

    /** The time that this part of all does not exceed, in µs; NaN if there is none. */
    double micros(double part) {
        long rank = (long) Math.ceil(part * total);
        for (int i = 0; i < counts.length; i++) {
            rank -= counts[i];
            if (rank <= 0 && total > 0) {
                return middle(i) / 1_000.0;
            }
        }
        return Double.NaN;
    }

    private static int bucket(long value) {
        int shift = Math.max(0, 59 - Long.numberOfLeadingZeros(value));
        return 16 * shift + (int) (value >>> shift);
    }

    private static double middle(int bucket) {
        int shift = Math.max(0, bucket / 16 - 1);
        return (bucket - 16 * shift + 0.5) * (1L << shift);
    }
}
