// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/**
 * The form of names, labels and client names in keys and records: one word of plain ASCII, so that no brace, glob
 * character, blank or line end in them has a meaning, and an operator can read them. Letters, digits and
 * {@code - . _ ~ : / @ + =} stand for themselves, all other bytes of the UTF-8 form are percent-encoded. Two names
 * never collide, and a name begins with a prefix exactly when its code begins with the prefix's code. Frozen forever.
 */
final class NameCodec {
    private static final String PLAIN = "-._~:/@+=";
    private static final String HEX = "0123456789ABCDEF";

    /** An empty label in a record, where a word must not be empty. No other text is encoded as this alone. */
    private static final String EMPTY = "%";

    private NameCodec() {}

    static String encode(String name) {
        StringBuilder out = new StringBuilder(name.length() + 8);
        for (int i = 0; i < name.length(); i++) {
            char c = name.charAt(i);
            if (isPlain(c)) {
                out.append(c);
            } else {
                return encode(name.getBytes(StandardCharsets.UTF_8));
            }
        }
        return out.toString();
    }

    private static String encode(byte[] bytes) {
        StringBuilder out = new StringBuilder(bytes.length * 2);
        for (byte b : bytes) {
            char c = (char) (b & 0xff);
            if (isPlain(c)) {
                out.append(c);
            } else {
                out.append('%').append(HEX.charAt(c >> 4)).append(HEX.charAt(c & 15));
            }
        }
        return out.toString();
    }

    /** As {@link #encode(String)}; never empty. */
    static String word(String text) {
        return text.isEmpty() ? EMPTY : encode(text);
    }

    private static boolean isPlain(char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || PLAIN.indexOf(c) >= 0;
    }

    /** The text with this code; empty when it is not a valid code. */
    static Optional<String> read(String code) {
        try {
            String text = decode(code);
            return encode(text).equals(code) ? Optional.of(text) : Optional.empty();
        } catch (NumberFormatException | IndexOutOfBoundsException e) {
            return Optional.empty();
        }
    }

    static String decode(String code) {
        if (code.indexOf('%') < 0 || code.equals(EMPTY)) {
            return code.equals(EMPTY) ? "" : code;
        }
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(code.length());
        for (int i = 0; i < code.length(); i++) {
            char c = code.charAt(i);
            if (c == '%') {
                bytes.write(Integer.parseInt(code, i + 1, i + 3, 16));
                i += 2;
            } else {
                bytes.write(c);
            }
        }
        return bytes.toString(StandardCharsets.UTF_8);
    }
}
