// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck;

import java.util.Locale;

/** How much is tested: the system property {@code lockkeeper.tier} is {@code check} (the default), {@code full} or {@code long}. */
public enum Tier {
    /** Small numbers; takes minutes. */
    CHECK,
    /** Large numbers; takes an hour. */
    FULL,
    /** Large numbers, repeated; takes a night. */
    LONG;

    /** The tier of this run. */
    public static Tier current() {
        return valueOf(System.getProperty("lockkeeper.tier", "check").toUpperCase(Locale.ROOT));
    }

    /** The number for this tier; a long run uses the one of the full tier. */
    public static int pick(int check, int full) {
        return pick(check, full, full);
    }

    /** The number for this tier. */
    public static int pick(int check, int full, int night) {
        return switch (current()) {
            case CHECK -> check;
            case FULL -> full;
            case LONG -> night;
        };
    }
}
