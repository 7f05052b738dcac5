// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
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
    private static final String HEX = "0123456789ABCDEF";

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
        for (byte b : name.getBytes(StandardCharsets.UTF_8)) {
            char c = (char) (b & 0xff);
            if (isPlain(c)) {
                out.append(c);
            } else {
                out.append('%').append(HEX.charAt(c >> 4)).append(HEX.charAt(c & 15));
            }
        }
        return out.toString();
    }

    private static char letter(Mode mode) {
        return switch (mode) {
            case EXCLUSIVE -> 'X';
            case SHARED -> 'S';
            case PERMITS -> 'P';
        };
    }

    private static boolean isPlain(char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || "-._~".indexOf(c) >= 0;
    }

    private static String decode(String encoded, String whole) {
        ByteBuffer bytes = ByteBuffer.allocate(encoded.length());
        for (int i = 0; i < encoded.length(); i++) {
            char c = encoded.charAt(i);
            if (isPlain(c)) {
                bytes.put((byte) c);
            } else if (c == '%' && i + 2 < encoded.length()) {
                int high = HEX.indexOf(encoded.charAt(i + 1));
                int low = HEX.indexOf(encoded.charAt(i + 2));
                if (high < 0 || low < 0) {
                    throw malformed(whole, "'%' is not followed by two hexadecimal digits");
                }
                bytes.put((byte) ((high << 4) | low));
                i += 2;
            } else {
                throw malformed(whole, "the name has '" + c + "' at " + i);
            }
        }
        try {
            String name =
                    StandardCharsets.UTF_8.newDecoder().decode(bytes.flip()).toString();
            if (name.isEmpty()) {
                throw malformed(whole, "the name is empty");
            }
            return name;
        } catch (CharacterCodingException e) {
            throw malformed(whole, "the name is not UTF-8");
        }
    }

    private static IllegalArgumentException malformed(String s, String why) {
        return new IllegalArgumentException(LockkeeperException.printable(
                "'" + s + "' is no sequencer (lk1:X|S|P:token:percent-encoded-name): " + why));
    }
}
