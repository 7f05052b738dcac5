// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.support;

import io.lockkeeper.tck.Tier;
import java.time.Duration;

/**
 * How often a test repeats itself: as often as the tier says, or as often as time allows on this store and this machine, but
 * never less often than in a check.
 *
 * @param least the number for a check
 * @param most the number for the tier
 * @param until when to stop after that, by {@link System#nanoTime}
 */
public record Rounds(int least, int most, long until) {
    private static final Duration WHILE = Duration.ofSeconds(Tier.pick(10, 10, 20));

    /** From now on. */
    public static Rounds of(int check, int full) {
        return between(check, Tier.pick(check, full));
    }

    /** From now on, in whatever tier. */
    public static Rounds between(int least, int most) {
        return new Rounds(least, most, System.nanoTime() + WHILE.toNanos());
    }

    /** Whether there is another round after this many. */
    public boolean goOnAfter(int rounds) {
        return rounds < least || (rounds < most && System.nanoTime() < until);
    }
}
