// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

/** How much to test: the system property {@code lockkeeper.tier} is {@code check} (the default), {@code full} or {@code long}. */
public final class Tier {
    private Tier() {}

    /** The number for this tier. */
    public static int pick(int check, int full, int night) {
        return switch (System.getProperty("lockkeeper.tier", "check")) {
            case "full" -> full;
            case "long" -> night;
            default -> check;
        };
    }
}
