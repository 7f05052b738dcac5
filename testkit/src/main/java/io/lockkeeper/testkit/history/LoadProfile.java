// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testkit.history;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.ToLongFunction;
import java.util.stream.LongStream;

/**
 * How much is certainly held at each time, and the least of it within a window.
 *
 * <p>The load at time t counts who started before t and ended after it, both strictly: who starts or ends exactly then
 * may have done so just behind or just before. So the load is lowest at the points where something starts or ends, and
 * only those (and the edges of the windows that will be asked for) have to be looked at. The least of a range comes
 * from a table of the least of all ranges whose length is a power of two.
 */
final class LoadProfile {
    private final long[] times;
    /** {@code least.get(k)[i]}: the least load at the 2^k times from i on. */
    private final List<long[]> least = new ArrayList<>();

    LoadProfile(List<Tenure> lasting, List<Tenure> windows, ToLongFunction<Hold> weight) {
        times = LongStream.concat(edges(lasting), edges(windows))
                .sorted()
                .distinct()
                .toArray();
        least.add(loads(lasting, weight));
        for (int width = 2; width <= times.length; width *= 2) {
            least.add(pairwiseLeast(least.get(least.size() - 1), times.length - width + 1, width / 2));
        }
    }

    /** The least load at any time from one to the other, both of which are edges of windows given before. */
    long least(long from, long to) {
        int first = Arrays.binarySearch(times, from);
        int last = Arrays.binarySearch(times, to);
        int power = 31 - Integer.numberOfLeadingZeros(last - first + 1);
        long[] row = least.get(power);
        return Math.min(row[first], row[last + 1 - (1 << power)]);
    }

    private static LongStream edges(List<Tenure> tenures) {
        return tenures.stream().flatMapToLong(tenure -> LongStream.of(tenure.latestStart(), tenure.earliestEnd()));
    }

    /** A claim that has ended by a time has started before it, so the load is the sum of starts less the sum of ends. */
    private long[] loads(List<Tenure> lasting, ToLongFunction<Hold> weight) {
        long[] change = new long[times.length + 1];
        for (Tenure tenure : lasting) {
            change[Arrays.binarySearch(times, tenure.latestStart()) + 1] += weight.applyAsLong(tenure.hold());
            change[Arrays.binarySearch(times, tenure.earliestEnd())] -= weight.applyAsLong(tenure.hold());
        }
        Arrays.parallelPrefix(change, Long::sum);
        return Arrays.copyOf(change, times.length);
    }

    private static long[] pairwiseLeast(long[] row, int length, int distance) {
        long[] next = new long[length];
        Arrays.setAll(next, i -> Math.min(row[i], row[i + distance]));
        return next;
    }
}
