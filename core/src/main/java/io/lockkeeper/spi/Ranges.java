// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.spi;

import java.time.Duration;

/** Checks options before any I/O; what is refused is named with its value and what is allowed. */
public final class Ranges {
    /** The shortest and the longest operation timeout. */
    private static final Duration SHORTEST_TIMEOUT = Duration.ofMillis(10);

    private static final Duration LONGEST_TIMEOUT = Duration.ofMinutes(1);

    private Ranges() {}

    /**
     * Gives the value back.
     *
     * @throws IllegalArgumentException when it is not {@code least} to {@code most}
     */
    public static Duration check(String what, Duration value, Duration least, Duration most) {
        if (value.compareTo(least) < 0 || value.compareTo(most) > 0) {
            throw new IllegalArgumentException(what + " is " + value + "; allowed is " + least + " to " + most);
        }
        return value;
    }

    /**
     * How long one step in a store may take: gives the value back.
     *
     * @throws IllegalArgumentException when it is not 10 ms to 1 min
     */
    public static Duration operationTimeout(Duration value) {
        return check("operationTimeout", value, SHORTEST_TIMEOUT, LONGEST_TIMEOUT);
    }
}
