// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis;

import io.lockkeeper.redis.server.LuaScript;
import io.lockkeeper.redis.server.Reply;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/**
 * The steps, each a Lua file in the package of this class. Before it come the clock, {@code format.lua}, which says how a record
 * is written, the shortest path of a step that leaves a name free or finds it free, {@code record.lua}, the fast path
 * of a step that has one, and, where the step needs them, {@code name.lua} and {@code rules.lua}. What a script does not reach costs nothing, so the most frequent parts come
 * first.
 */
@SuppressWarnings("ImmutableEnumChecker") // nobody writes to the arrays
enum Script implements LuaScript {
    CLAIM(Parts.FREE_WAY, Parts.QUICK_WAY, Parts.RULES),
    EXTEND,
    RENEW(Parts.QUICK_WAY, Parts.RULES),
    RELEASE(Parts.FREE_WAY, Parts.QUICK_WAY, Parts.RULES),
    WITHDRAW(Parts.RULES),
    DOWNGRADE(Parts.RULES),
    BREAK(Parts.RULES),
    INSPECT(Parts.RULES),
    CHECK,
    NAMES,
    LATCH(Parts.RULES),
    TRIAL,
    /** Only the fast path of a claim of a free name, which needs the records and the floor; otherwise 'M'. */
    CLAIM_FREE("claim", 2, Parts.FREE_WAY, Parts.QUICK_WAY),
    /** Only the shortest path of a release, which needs the records; otherwise 'M'. */
    RELEASE_FREE("release", 1, Parts.FREE_WAY);

    /** The optional parts of a script. */
    private enum Parts {
        FREE_WAY,
        QUICK_WAY,
        RULES
    }

    /** The answer of a script that leaves the step to another one. */
    private static final String MORE = "M";

    private final byte[] text;
    private final byte[] sha1;
    private final int keys;

    Script(Parts... parts) {
        this.keys = Integer.MAX_VALUE;
        String name = name().toLowerCase(Locale.ROOT);
        this.text = bytes(before(name, parts) + resource(name));
        this.sha1 = Keys.bytes(hash(text));
    }

    Script(String step, int keys, Parts... parts) {
        this.keys = keys;
        this.text = bytes(before(step, parts) + "return '" + MORE + "'");
        this.sha1 = Keys.bytes(hash(text));
    }

    private static byte[] bytes(String script) {
        return script.getBytes(StandardCharsets.UTF_8);
    }

    /** What comes before the step itself. */
    private static String before(String name, Parts... parts) {
        Set<Parts> has = Set.of(parts);
        StringBuilder all = new StringBuilder(resource("clock")).append(resource("format"));
        if (has.contains(Parts.FREE_WAY)) {
            all.append(resource(name + "_free"));
        }
        all.append(resource("record"));
        if (has.contains(Parts.QUICK_WAY)) {
            all.append(resource(name + "_quick"));
        }
        if (has.contains(Parts.RULES)) {
            all.append(resource("name")).append(resource("rules"));
        }
        return all.toString();
    }

    @Override
    public boolean needsNoRoom() {
        return switch (this) {
            case EXTEND, RENEW, RELEASE, RELEASE_FREE, WITHDRAW, DOWNGRADE -> true;
            default -> false;
        };
    }

    @Override
    public byte[] textForFullServer() {
        return bytes("#!lua flags=allow-oom\n" + new String(text, StandardCharsets.UTF_8));
    }

    /** What it concerns, as an operator finds it in the server; names are percent-encoded there. */
    @Override
    public String about(List<byte[]> keysOfCall, List<byte[]> arguments) {
        String key = ascii(keysOfCall.get(0));
        return switch (this) {
            case CLAIM, CLAIM_FREE, RELEASE, RELEASE_FREE, WITHDRAW, DOWNGRADE, BREAK, INSPECT, CHECK ->
                key + " " + ascii(arguments.get(0));
            case LATCH -> ascii(keysOfCall.get(3));
            default -> key;
        };
    }

    private static String ascii(byte[] bytes) {
        return new String(bytes, StandardCharsets.ISO_8859_1);
    }

    /** How many of the keys of a step it needs. */
    int keys() {
        return keys;
    }

    /** Whether a script has left the step to another one. */
    static boolean needsMore(Object answer) {
        return answer instanceof byte[] && Reply.text(answer).equals(MORE);
    }

    /** The hash by which a server knows a script. */
    static String hash(String script) {
        return hash(bytes(script));
    }

    private static String hash(byte[] text) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-1").digest(text));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public byte[] text() {
        return text;
    }

    @Override
    public byte[] sha1() {
        return sha1;
    }

    /** A Lua file in the package of this class. */
    static String resource(String name) {
        try (InputStream in = Script.class.getResourceAsStream(name + ".lua")) {
            if (in == null) {
                throw new IllegalStateException("no " + name + ".lua in the package of " + Script.class);
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
