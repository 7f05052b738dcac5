// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis;

import io.lockkeeper.StoreUnavailableException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.UUID;
import java.util.function.Supplier;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Protocol;

/** Looks around in a store: what the user may do, what time it is. */
final class Survey {
    private final Servers servers;
    private final Keys keys;

    Survey(Servers servers, Keys keys) {
        this.servers = servers;
        this.keys = keys;
    }

    /**
     * Has the scripts tried, by text and by hash, and each command that they use. A script that were denied one in the middle would leave half a step; other
     * failures are left to whoever has something to do.
     */
    void refuseMissingPermissions() {
        int slot = Keys.slot(0);
        Call trial =
                new Call(slot, Script.TRIAL, keys.forTrial(UUID.randomUUID().toString()), List.of());
        // In full, too: a server that knows the scripts today may have forgotten them when a lock is to be renewed.
        refuseIfDenied(
                () -> servers.ask(() -> servers.node(slot), node -> node.command(trial.command(Call.Form.TEXT))));
        refuseIfDenied(() -> servers.run(trial, Node.Way.PLAIN, Replicas.NONE));
    }

    private static void refuseIfDenied(Supplier<Object> trial) {
        try {
            Object unused = trial.get();
        } catch (StoreUnavailableException e) {
            if (Failures.isDenied(e)) {
                throw e;
            }
        }
    }

    /** The time of the server that a lane is on, in µs. */
    long time(Object lane) {
        int slot = lane instanceof Cluster.Shard shard ? shard.slot() : 0;
        List<?> time = Words.list(servers.ask(
                () -> servers.node(slot), node -> node.command(new CommandArguments(Protocol.Command.TIME))));
        return Long.parseLong(text(time.get(0))) * 1_000_000 + Long.parseLong(text(time.get(1)));
    }

    private static String text(Object answer) {
        return new String((byte[]) answer, StandardCharsets.UTF_8);
    }
}
