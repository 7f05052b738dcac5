// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper;

import io.lockkeeper.spi.NameCodec;
import java.util.Objects;

/**
 * Names a hold so that a third party can check it: lock, mode and token. The printable form is
 * {@code lk1:X|S|P:token:percent-encoded-name}; any party may hand it on and have it checked with
 * {@link Inspector#check}.
 *
 * @param name the name that is held
 * @param mode how
 * @param token the fencing token
 */
public record Sequencer(String name, Mode mode, long token) {
    private static final String VERSION = "lk1";
    private static final String PLAIN = "-._~";

    /** Checks the parts. */
    public Sequencer {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(mode, "mode");
        if (token <= 0) {
            throw new IllegalArgumentException("token " + token + " is not positive");
        }
    }

    /**
     * Reads the printable form.
     *
     * @throws IllegalArgumentException when it is not of that form
     */
    public static Sequencer parse(String s) {
        Objects.requireNonNull(s, "s");
        String[] parts = s.split(":", 4);
        if (parts.length != 4 || !parts[0].equals(VERSION)) {
            throw malformed(s, "it does not begin with lk1:MODE:TOKEN:");
        }
        Mode mode =
                switch (parts[1]) {
                    case "X" -> Mode.EXCLUSIVE;
                    case "S" -> Mode.SHARED;
                    case "P" -> Mode.PERMITS;
                    default -> throw malformed(s, "mode '" + parts[1] + "' is none of X, S, P");
                };
        long token;
        try {
            token = Long.parseLong(parts[2]);
        } catch (NumberFormatException e) {
            throw malformed(s, "token '" + parts[2] + "' is not a number");
        }
        if (token <= 0 || !Long.toString(token).equals(parts[2])) {
            throw malformed(s, "token '" + parts[2] + "' is not a positive number in its plain form");
        }
        return new Sequencer(decode(parts[3], s), mode, token);
    }

    /** The printable form: letters, digits, {@code - . _ ~ % :} only. */
    @Override
    public String toString() {
        StringBuilder out = new StringBuilder(32 + name.length());
        out.append(VERSION).append(':').append(letter(mode)).append(':');
        out.append(token).append(':');
        out.append(NameCodec.encode(name, PLAIN));
        return out.toString();
    }

    private static char letter(Mode mode) {
        return switch (mode) {
            case EXCLUSIVE -> 'X';
            case SHARED -> 'S';
            case PERMITS -> 'P';
        };
    }

    private static String decode(String encoded, String whole) {
        String name;
        try {
            name = NameCodec.decode(encoded, PLAIN);
        } catch (IllegalArgumentException e) {
            throw malformed(whole, "the name cannot be read: " + e.getMessage());
        }
        if (name.isEmpty()) {
            throw malformed(whole, "the name is empty");
        }
        return name;
    }

    private static IllegalArgumentException malformed(String s, String why) {
        return new IllegalArgumentException(LockkeeperException.printable(
                "'" + s + "' is no sequencer (lk1:X|S|P:token:percent-encoded-name): " + why));
    }
}
