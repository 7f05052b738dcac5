// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis.server;

import java.util.List;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Protocol;

/**
 * A script with its keys and arguments.
 *
 * @param slot where the keys are, in a Cluster
 */
public record Call(int slot, LuaScript script, List<byte[]> keys, List<byte[]> arguments) {
    /** How a server is sent a script. */
    enum Form {
        /** By its hash. */
        HASH,
        /** In full, because the server does not know it. */
        TEXT,
        /** In full, marked as one that the server may run even when its memory is full. */
        TEXT_FOR_FULL_SERVER
    }

    /** What it concerns, as an operator finds it in the server. */
    String about() {
        return script.about(keys, arguments);
    }

    /** The command that has the server run it, whether or not the server knows the script. */
    public CommandArguments inFull() {
        return command(Form.TEXT);
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
