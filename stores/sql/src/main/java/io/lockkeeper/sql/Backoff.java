// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import java.util.concurrent.ThreadLocalRandom;

/**
 * How long a poll rests: for milliseconds while something happens; from a second on, for an eighth of the time for which nothing
 * has happened. So a hand-over is found quickly in a busy queue, and within about a second when a holder stays for minutes. It
 * never lasts much beyond the moment at which a name may open by itself. All times are those of {@link System#nanoTime}, in ns.
 */
final class Backoff {
    /** A busy queue is looked at after 5 to 25 ms: about the time of a few transactions. */
    static final long SHORTEST = 5_000_000;

    static final long QUICK = 15_000_000;

    /** More rests than this are not short: news wakes the resting thread. */
    static final long LONGEST_QUICK = 25_000_000;

    /** An idle client looks about once a second. */
    static final long SLOW = 1_000_000_000;

    private static final long MOST_JITTER = 250_000_000;
    private static final int SHARE = 8;

    /** Holds of up to this long are handed over as quickly as if there were no back-off. */
    private static final long GRACE = 1_000_000_000;

    private volatile long changedAt = System.nanoTime();
    private volatile long opensAt = changedAt;

    /** Something has happened to what is awaited. */
    void changed() {
        changedAt = System.nanoTime();
    }

    /** The first of the awaited names may open by itself at this time, if that is still to come. */
    void opensAt(long nanos) {
        opensAt = nanos;
    }

    /** Whether nothing has happened for long. */
    boolean isSlow(long now) {
        return (now - changedAt - GRACE) / SHARE >= SLOW / 2;
    }

    /** How long to rest now. */
    long rest() {
        return rest(System.nanoTime());
    }

    long rest(long now) {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        long mean = Math.max(QUICK, Math.min((now - changedAt - GRACE) / SHARE, SLOW));
        long jitter = Math.min(mean * 2 / 3, MOST_JITTER);
        long rest = mean + random.nextLong(-jitter, jitter + 1);
        long left = opensAt - now;
        return left > 0 ? Math.min(rest, left + random.nextLong(SHORTEST, LONGEST_QUICK)) : rest;
    }
}
