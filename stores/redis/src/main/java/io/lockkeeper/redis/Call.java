// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis;

import java.util.ArrayList;
import java.util.List;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Protocol;

/**
 * A script with its keys and arguments.
 *
 * @param slot where the keys are, in a Cluster
 */
record Call(int slot, Script script, List<byte[]> keys, List<byte[]> arguments) {
    /** A step on one name. */
    static Call onName(Keys keys, String name, Script script, String... arguments) {
        int bucket = Keys.bucket(name);
        List<byte[]> all = new ArrayList<>(6);
        all.addAll(keys.ofName(name));
        all.addAll(keys.ofBucket(bucket));
        return new Call(Keys.slot(bucket), script, all, bytes(arguments));
    }

    /** A step on a latch. */
    static Call onLatch(Keys keys, String name, String... arguments) {
        return new Call(Keys.slot(Keys.bucket(name)), Script.LATCH, keys.ofLatch(name), bytes(arguments));
    }

    private static List<byte[]> bytes(String... words) {
        List<byte[]> all = new ArrayList<>(words.length);
        for (String word : words) {
            all.add(Keys.bytes(word));
        }
        return all;
    }

    /** By its hash, or, for a server that does not know it, in full. */
    CommandArguments command(boolean inFull) {
        CommandArguments command = new CommandArguments(inFull ? Protocol.Command.EVAL : Protocol.Command.EVALSHA)
                .add(inFull ? script.text() : script.sha1())
                .add(keys.size());
        keys.forEach(command::add);
        arguments.forEach(command::add);
        return command;
    }
}
