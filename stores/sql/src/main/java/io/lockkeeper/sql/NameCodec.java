// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.regex.Pattern;

/**
 * Names as they stand in the tables: plain ASCII, so that no collation can fold case, pad blanks or choke on a NUL, and
 * an operator can read them. Letters, digits and {@code - . _ ~ : / @ + =} stand for themselves, all other bytes of the
 * UTF-8 form are percent-encoded. Two names never meet, and a name begins with a prefix exactly when its code begins
 * with the prefix's code. Frozen forever.
 */
final class NameCodec {
    private static final String PLAIN = "-._~:/@+=";
    private static final String HEX = "0123456789ABCDEF";

    private static final Pattern CODE = Pattern.compile("([-._~:/@+=A-Za-z0-9]|%[0-9A-F]{2})+");

    private NameCodec() {}

    static String encode(String name) {
        StringBuilder out = new StringBuilder(name.length() + 8);
        for (byte b : name.getBytes(StandardCharsets.UTF_8)) {
            char c = (char) (b & 0xff);
            if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || PLAIN.indexOf(c) >= 0) {
                out.append(c);
            } else {
                out.append('%').append(HEX.charAt(c >> 4)).append(HEX.charAt(c & 15));
            }
        }
        return out.toString();
    }

    /** Whether a text stands for a name. */
    static boolean isCode(String text) {
        return CODE.matcher(text).matches();
    }

    static String decode(String code) {
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
