// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.zookeeper;

import io.lockkeeper.Mode;
import io.lockkeeper.spi.ClaimId;
import io.lockkeeper.spi.Terms;
import java.util.Optional;

/**
 * A claim's node, as described by its name: {@code MODE_PERMITS_LIMIT_ID_SEQUENCE}, and, where it replaced another of the same
 * claim, that one's place {@code _CZXID}. So one listing says who is before whom, and who conflicts with whom.
 *
 * @param name the node's name
 * @param place the czxid that its order goes by; 0 when the name does not say it
 */
record ClaimNode(String name, Mode mode, int permits, int limit, String id, String sequence, long place) {
    /** The server's counter ends here, and then gives the same number again and again. */
    private static final String LAST = "2147483647";

    /** What a claim's node is called; the server adds the sequence number. */
    static String prefix(ClaimId id, Terms terms) {
        return letter(terms.mode()) + "_" + terms.permits() + "_" + terms.limit() + "_" + id + "_";
    }

    /** The node in a shared mode that takes the place of this one. */
    String downgraded(long czxid) {
        return "S_" + permits + "_" + limit + "_" + id + "_" + sequence + "_"
                + Long.toHexString(place == 0 ? czxid : place);
    }

    private static char letter(Mode mode) {
        return switch (mode) {
            case EXCLUSIVE -> 'X';
            case SHARED -> 'S';
            case PERMITS -> 'P';
        };
    }

    /** Empty when it is no claim's node. */
    static Optional<ClaimNode> parse(String name) {
        String[] parts = name.split("_", -1);
        if (parts.length < 5 || parts[0].length() != 1) {
            return Optional.empty();
        }
        Mode mode;
        switch (parts[0].charAt(0)) {
            case 'X' -> mode = Mode.EXCLUSIVE;
            case 'S' -> mode = Mode.SHARED;
            case 'P' -> mode = Mode.PERMITS;
            default -> {
                return Optional.empty();
            }
        }
        try {
            long place = parts.length > 5 ? Long.parseUnsignedLong(parts[5], 16) : 0;
            return Optional.of(new ClaimNode(
                    name, mode, Integer.parseInt(parts[1]), Integer.parseInt(parts[2]), parts[3], parts[4], place));
        } catch (NumberFormatException e) {
            return Optional.empty();
        }
    }

    /** Whether the number does not determine the order: the counter has come to its end. */
    boolean isPastCounting() {
        return sequence.length() != LAST.length() || sequence.startsWith("-") || sequence.compareTo(LAST) >= 0;
    }

    boolean agreesWith(Mode otherMode, int otherLimit) {
        return limit == otherLimit && (mode == Mode.PERMITS) == (otherMode == Mode.PERMITS);
    }
}
