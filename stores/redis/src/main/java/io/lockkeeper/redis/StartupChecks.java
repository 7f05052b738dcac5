// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis;

import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.redis.server.Call;
import io.lockkeeper.redis.server.Failures;
import io.lockkeeper.redis.server.Node;
import io.lockkeeper.redis.server.Replicas;
import io.lockkeeper.redis.server.Servers;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Protocol;

/**
 * What every server is asked before the first lock: whether it would evict locks, whether it is a node of a Cluster
 * that is used as if it were alone, whether the client's pool is large enough. A shard that is down is left out: its
 * names fail until it is back, the others do not.
 */
final class StartupChecks {
    private final Servers servers;
    private final Keys keys;
    private final boolean evictionAllowed;

    StartupChecks(Servers servers, Keys keys, boolean evictionAllowed) {
        this.servers = servers;
        this.keys = keys;
        this.evictionAllowed = evictionAllowed;
    }

    /** @throws StoreUnavailableException if a server is unfit, or none answers */
    void run() {
        StoreUnavailableException down = null;
        boolean answered = false;
        for (Supplier<Node> master : servers.masters()) {
            try {
                answered |= servers.ask(master, this::check);
            } catch (StoreUnavailableException e) {
                if (!e.worthRepeating()) {
                    throw e;
                }
                down = e;
            }
        }
        if (down != null && !answered) {
            throw down;
        }
    }

    private boolean check(Node node) {
        if (node.mostConnections() < Node.LEAST_CONNECTIONS) {
            throw refused(
                    node,
                    "the client's pool has at most " + node.mostConnections() + " connections; "
                            + Node.LEAST_CONNECTIONS
                            + " are needed, one to listen and one or more for steps. Set its maxTotal");
        }
        byte[] answer = (byte[]) node.command(new CommandArguments(Protocol.Command.INFO));
        Map<String, String> info = new String(answer, StandardCharsets.UTF_8)
                .lines()
                .filter(line -> line.indexOf(':') > 0)
                .collect(Collectors.toMap(
                        line -> line.substring(0, line.indexOf(':')),
                        line -> line.substring(line.indexOf(':') + 1).trim(),
                        (first, second) -> first));
        String policy = info.getOrDefault("maxmemory_policy", "noeviction");
        boolean evicts = !policy.equals("noeviction")
                && !info.getOrDefault("maxmemory", "unknown").equals("0"); // no limit: nothing to evict for
        if (evicts && !evictionAllowed) {
            throw refused(
                    node,
                    "it has maxmemory-policy " + policy + ": it would throw locks away when its memory is full. Set"
                            + " it to noeviction, or allow it with allowEviction=true");
        }
        if (info.getOrDefault("cluster_enabled", "0").equals("1")
                && !servers.knowsSlots()
                && !Servers.isWholeCluster(node)) {
            throw refused(
                    node,
                    "it is a node of a Redis Cluster, and serves only a part of all names. Use a redis-cluster: URL"
                            + " (rediss-cluster: over TLS), or a RedisClusterClient");
        }
        return true;
    }

    /**
     * Tries the scripts, by text and by hash, and each command that they use. A script that is denied a command in the
     * middle would leave half a step; other failures are left to the first step that meets them.
     */
    void refuseMissingPermissions() {
        int slot = Keys.slot(0);
        Call trial =
                new Call(slot, Script.TRIAL, keys.forTrial(UUID.randomUUID().toString()), List.of());
        // In full, too: a server that knows the scripts today may have forgotten them when a lock is to be renewed.
        refuseIfDenied(() -> servers.ask(() -> servers.node(slot), node -> node.command(trial.inFull())));
        refuseIfDenied(() -> servers.run(trial, Node.Priority.PLAIN, Replicas.NONE));
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

    private static StoreUnavailableException refused(Node node, String why) {
        return StoreUnavailableException.lasting("Redis at " + node.address() + " cannot keep locks: " + why, null);
    }
}
