// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis.server;

import java.nio.charset.StandardCharsets;
import java.util.List;

/** What a server replies, which Jedis leaves as it was sent. */
public final class Reply {
    private Reply() {}

    /** A word of plain ASCII. */
    public static String text(Object reply) {
        return new String((byte[]) reply, StandardCharsets.US_ASCII);
    }

    /** A list of replies. */
    public static List<?> list(Object reply) {
        return (List<?>) reply;
    }
}
