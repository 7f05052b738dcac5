// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import io.lockkeeper.LockOptions;
import java.time.Duration;
import java.util.Objects;

/** Ranges that are checked before any I/O, where a method and not an option takes the value. */
final class Checks {
    private static final long MOST_COUNT = (1L << 53) - 1;

    private Checks() {}

    static void fixedLease(Duration lease) {
        // The option has the same range; let it say so.
        LockOptions.defaults().fixedLease(lease);
    }

    static void lockDelay(Duration lockDelay) {
        LockOptions.defaults().lockDelay(lockDelay);
    }

    static void range(String what, long value, long least, long most) {
        if (value < least || value > most) {
            throw new IllegalArgumentException(what + " is " + value + "; allowed is " + least + " to " + most);
        }
    }

    static void latchCount(long count) {
        range("count", count, 1, MOST_COUNT);
    }

    /** A wait in nanoseconds: none for a negative one, forever for one that is too long to count. */
    static long waitNanos(Duration wait) {
        Objects.requireNonNull(wait, "wait");
        if (wait.isNegative()) {
            return 0;
        }
        return wait.toSeconds() >= Long.MAX_VALUE / 1_000_000_000L ? Long.MAX_VALUE : wait.toNanos();
    }

    /** The moment that long after now; never overflows. */
    static long after(long now, long nanos) {
        return nanos >= Long.MAX_VALUE - now ? Long.MAX_VALUE : now + nanos;
    }

    /** What is left until a deadline; never negative, and forever until one that is never. */
    static long left(long deadline, long now) {
        return deadline == Long.MAX_VALUE ? Long.MAX_VALUE : Math.max(0, deadline - now);
    }
}
