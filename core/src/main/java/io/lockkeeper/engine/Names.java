// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

/** Checks what a user calls a lock. */
final class Names {
    private static final int LONGEST = 512;

    private Names() {}

    /** Gives the name back, or refuses it: empty, too long, or not encodable (a lone surrogate would turn into '?'). */
    static String check(String name) {
        if (name.isEmpty()) {
            throw new IllegalArgumentException("a name is not empty; allowed are 1 to " + LONGEST + " bytes in UTF-8");
        }
        int bytes = 0;
        for (int i = 0; i < name.length(); i++) {
            char c = name.charAt(i);
            if (c < 0x80) {
                bytes++;
            } else if (c < 0x800) {
                bytes += 2;
            } else if (!Character.isSurrogate(c)) {
                bytes += 3;
            } else if (Character.isHighSurrogate(c)
                    && i + 1 < name.length()
                    && Character.isLowSurrogate(name.charAt(i + 1))) {
                bytes += 4;
                i++;
            } else {
                throw new IllegalArgumentException(
                        "a name is Unicode text; this one has a lone surrogate at index " + i);
            }
        }
        if (bytes > LONGEST) {
            throw new IllegalArgumentException("a name has 1 to " + LONGEST + " bytes in UTF-8; this one has " + bytes
                    + ": " + Printable.text(name.substring(0, name.offsetByCodePoints(0, 40))) + "…");
        }
        return name;
    }
}
