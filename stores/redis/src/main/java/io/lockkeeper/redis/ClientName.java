// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis;

import java.nio.charset.StandardCharsets;

/** The keeper's client name as the name of its connections, which {@code CLIENT LIST} shows. */
final class ClientName {
    /** Redis has no limit, but shows it in every line; hosts have at most 253 characters. */
    private static final int LONGEST = 300;

    private ClientName() {}

    /** Percent-encodes what Redis does not allow: blanks, control characters and everything that is not ASCII. */
    static String encode(String name) {
        StringBuilder out = new StringBuilder();
        for (byte b : name.getBytes(StandardCharsets.UTF_8)) {
            String next =
                    b > ' ' && b < 0x7f && b != '%' ? String.valueOf((char) b) : String.format("%%%02X", b & 0xff);
            if (out.length() + next.length() > LONGEST) {
                break;
            }
            out.append(next);
        }
        return out.toString();
    }
}
