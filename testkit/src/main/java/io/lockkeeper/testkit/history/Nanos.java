// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testkit.history;

import java.util.Locale;

/** Times since the beginning of a history. */
final class Nanos {
    /** Later than every time that is recorded: "not yet", "forever". */
    static final long NEVER = Long.MAX_VALUE;

    private Nanos() {}

    /** Like {@code a + b}, but forever stays forever. */
    static long plus(long time, long nanos) {
        long sum = time + nanos;
        return time > 0 && nanos > 0 && sum < 0 ? NEVER : sum;
    }

    static String show(long nanos) {
        return nanos == NEVER ? "the end" : String.format(Locale.ROOT, "%.6f ms", nanos / 1e6);
    }

    static String show(long from, long to) {
        return "[" + show(from) + ", " + show(to) + "]";
    }
}
