// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.spi;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/**
 * The percent-encoded form of names, labels and client names, for stores whose keys and records must be plain ASCII:
 * no collation folds its case, no brace, glob character, blank or line end in it has a meaning, and an operator can
 * read it. Letters, digits and a few plain characters stand for themselves; every other byte of the UTF-8 form becomes
 * {@code %} and two upper-case hexadecimal digits. Two texts never have the same code, and as long as no percent sign
 * is plain, a text begins with a prefix exactly when its code begins with the prefix's code.
 *
 * <p>Which characters are plain is part of a stored format and frozen forever; {@link #PLAIN} is what stores use unless
 * their server gives one of these characters a meaning.
 */
public final class NameCodec {
    /** The plain characters besides letters and digits. */
    public static final String PLAIN = "-._~:/@+=";

    private static final String HEX = "0123456789ABCDEF";

    private NameCodec() {}

    /** The code of a text. */
    public static String encode(String text) {
        return encode(text, PLAIN);
    }

    /** The code of a text, with other plain characters than {@link #PLAIN}. */
    public static String encode(String text, String plain) {
        int end = text.length();
        for (int i = 0; i < end; i++) {
            if (!isPlain(text.charAt(i), plain)) {
                return encode(text.getBytes(StandardCharsets.UTF_8), plain);
            }
        }
        return text;
    }

    private static String encode(byte[] bytes, String plain) {
        StringBuilder out = new StringBuilder(bytes.length + 16);
        for (byte b : bytes) {
            char c = (char) (b & 0xff);
            if (isPlain(c, plain)) {
                out.append(c);
            } else {
                out.append('%').append(HEX.charAt(c >> 4)).append(HEX.charAt(c & 15));
            }
        }
        return out.toString();
    }

    private static boolean isPlain(char c, String plain) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || plain.indexOf(c) >= 0;
    }

    /**
     * The text that a code stands for, also if more of it is percent-encoded than need be.
     *
     * @throws IllegalArgumentException if it stands for none; the message says why
     */
    public static String decode(String code) {
        return decode(code, PLAIN);
    }

    /**
     * As {@link #decode(String)}, with other plain characters than {@link #PLAIN}.
     *
     * @throws IllegalArgumentException if it stands for no text; the message says why
     */
    public static String decode(String code, String plain) {
        ByteBuffer bytes = ByteBuffer.allocate(code.length());
        for (int i = 0; i < code.length(); i++) {
            char c = code.charAt(i);
            if (isPlain(c, plain)) {
                bytes.put((byte) c);
            } else if (c == '%') {
                bytes.put(byteAt(code, i + 1));
                i += 2;
            } else {
                throw new IllegalArgumentException("'" + c + "' at " + i + " is not percent-encoded");
            }
        }
        try {
            return StandardCharsets.UTF_8.newDecoder().decode(bytes.flip()).toString();
        } catch (CharacterCodingException e) {
            throw new IllegalArgumentException("its bytes are not UTF-8", e);
        }
    }

    private static byte byteAt(String code, int at) {
        int high = at + 1 < code.length() ? HEX.indexOf(code.charAt(at)) : -1;
        int low = high < 0 ? -1 : HEX.indexOf(code.charAt(at + 1));
        if (low < 0) {
            throw new IllegalArgumentException("'%' is not followed by two hexadecimal digits (0-9, A-F)");
        }
        return (byte) (high << 4 | low);
    }

    /** Whether this is the code of a text. */
    public static boolean isCode(String code) {
        return read(code).isPresent();
    }

    /** The text with this code; empty if no text has it. */
    public static Optional<String> read(String code) {
        return read(code, PLAIN);
    }

    /** The text with this code, with other plain characters than {@link #PLAIN}; empty if no text has it. */
    public static Optional<String> read(String code, String plain) {
        try {
            String text = decode(code, plain);
            return encode(text, plain).equals(code) ? Optional.of(text) : Optional.empty();
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }
}
