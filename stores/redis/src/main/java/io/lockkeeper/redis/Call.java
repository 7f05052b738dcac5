// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Protocol;

/**
 * A script with its keys and arguments.
 *
 * @param slot where the keys are, in a Cluster
 */
record Call(int slot, Script script, List<byte[]> keys, List<byte[]> arguments) {
    /** A step on one name, whose code comes before the arguments. */
    static Call onName(Keys keys, String name, Script script, String... arguments) {
        return onBucketOf(keys, name, script, keys.ofName(name), NameCodec.encode(name), arguments);
    }

    /** Asks who holds a name; with the keys for many holders, if there are that many. */
    static Call check(Keys keys, String name, boolean crowd) {
        int bucket = Keys.bucket(name);
        List<byte[]> all = new ArrayList<>(List.of(keys.names(bucket)));
        if (crowd) {
            all.addAll(keys.ofName(name).subList(2, 4));
        }
        return new Call(Keys.slot(bucket), Script.CHECK, all, List.of(Keys.bytes(NameCodec.encode(name))));
    }

    /** The same step, made by a script that needs only the first of its keys. */
    Call by(Script other) {
        return new Call(slot, other, keys.subList(0, other.keys()), arguments);
    }

    /** A step on a latch. */
    static Call onLatch(Keys keys, String name, String... arguments) {
        return onBucketOf(keys, name, Script.LATCH, keys.ofLatch(name), null, arguments);
    }

    private static Call onBucketOf(
            Keys keys, String name, Script script, List<byte[]> own, @Nullable String first, String... rest) {
        int bucket = Keys.bucket(name);
        List<byte[]> all = new ArrayList<>(7);
        all.addAll(keys.ofBucket(bucket));
        all.addAll(own);
        List<byte[]> words = new ArrayList<>(rest.length + 1);
        if (first != null) {
            words.add(Keys.bytes(first));
        }
        for (String word : rest) {
            words.add(Keys.bytes(word));
        }
        return new Call(Keys.slot(bucket), script, all, words);
    }

    /** What it concerns, as an operator finds it in the server; names are percent-encoded there. */
    String about() {
        String key = text(keys.get(0));
        return switch (script) {
            case CLAIM, CLAIM_FREE, RELEASE, RELEASE_FREE, WITHDRAW, DOWNGRADE, BREAK, INSPECT, CHECK ->
                key + " " + text(arguments.get(0));
            case LATCH -> text(keys.get(3));
            default -> key;
        };
    }

    private static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.ISO_8859_1);
    }

    /** How a server is sent a script. */
    enum Form {
        /** By its hash. */
        HASH,
        /** In full, because the server does not know it. */
        TEXT,
        /** In full, marked as one that the server may run even when its memory is full. */
        TEXT_FOR_FULL_SERVER
    }

    CommandArguments command(Form form) {
        CommandArguments command = new CommandArguments(
                        form == Form.HASH ? Protocol.Command.EVALSHA : Protocol.Command.EVAL)
                .add(
                        switch (form) {
                            case HASH -> script.sha1();
                            case TEXT -> script.text();
                            case TEXT_FOR_FULL_SERVER -> script.textForFullServer();
                        })
                .add(keys.size());
        keys.forEach(command::add);
        arguments.forEach(command::add);
        return command;
    }
}
