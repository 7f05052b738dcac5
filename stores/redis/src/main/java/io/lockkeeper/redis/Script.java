// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Locale;

/**
 * The steps, each a Lua file beside this class. Before it come {@code base.lua}, the quick way of a step that has one, and
 * {@code rules.lua}: a script's text is all of it, but what is not reached costs nothing.
 */
@SuppressWarnings("ImmutableEnumChecker") // nobody writes to the arrays
enum Script {
    CLAIM(true),
    EXTEND,
    RENEW,
    RELEASE(true),
    WITHDRAW,
    DOWNGRADE,
    BREAK,
    INSPECT,
    LATCH,
    TRIAL;

    private final byte[] text;
    private final byte[] sha1;

    Script() {
        this(false);
    }

    Script(boolean hasQuickWay) {
        String name = name().toLowerCase(Locale.ROOT);
        String quick = hasQuickWay ? resource(name + "_quick") : "";
        text = (resource("base") + quick + resource("rules") + resource(name)).getBytes(StandardCharsets.UTF_8);
        sha1 = Keys.bytes(hash(text));
    }

    /** What a server knows a script by. */
    static String hash(String script) {
        return hash(script.getBytes(StandardCharsets.UTF_8));
    }

    private static String hash(byte[] text) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-1").digest(text));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    /** What the server is sent when it does not know the script. */
    byte[] text() {
        return text;
    }

    /** What the server knows it by. */
    byte[] sha1() {
        return sha1;
    }

    /** A Lua file beside this class. */
    static String resource(String name) {
        try (InputStream in = Script.class.getResourceAsStream(name + ".lua")) {
            if (in == null) {
                throw new IllegalStateException("no " + name + ".lua beside " + Script.class);
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
