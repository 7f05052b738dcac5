// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis;

import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.redis.server.Node;
import io.lockkeeper.redis.server.Servers;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.BiFunction;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Protocol;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.util.JedisClusterCRC16;

/**
 * The id of a store, which the first client gives it. It is one key; in a Cluster there are copies in other slots, so that a
 * client can start while the shard of that key is down.
 */
final class StoreId {
    /** Every 32nd bucket has a copy: eight of them, whose slots are spread over a Cluster as hashes are. */
    private static final int STEP = 32;

    private static final System.Logger LOG = System.getLogger("io.lockkeeper.redis");

    private final Servers servers;
    private final Keys keys;

    StoreId(Servers servers, Keys keys) {
        this.servers = servers;
        this.keys = keys;
    }

    /** Reads the id; creates one if the store has none. */
    String get() {
        String id;
        try {
            id = original();
        } catch (StoreUnavailableException e) {
            if (!servers.knowsSlots() || !e.worthRepeating()) {
                throw e;
            }
            return anyCopy().orElseThrow(() -> e);
        }
        if (servers.knowsSlots()) {
            onLiveShards((node, bucket) -> {
                set(node, keys.copyOfId(bucket), id, false);
                return Optional.empty();
            });
        }
        return id;
    }

    private String original() {
        int slot = JedisClusterCRC16.getSlot(keys.id());
        return servers.ask(() -> servers.node(slot), node -> {
            set(node, keys.id(), UUID.randomUUID().toString(), true);
            return read(node, keys.id())
                    .orElseThrow(() -> new JedisConnectionException("the store's id was deleted at this moment"));
        });
    }

    private Optional<String> anyCopy() {
        return onLiveShards((node, bucket) -> read(node, keys.copyOfId(bucket)));
    }

    /** Until there is a result. A server that does not answer is not asked again. */
    private Optional<String> onLiveShards(BiFunction<Node, Integer, Optional<String>> step) {
        Set<Node> silent = new HashSet<>();
        for (int bucket = 0; bucket < Keys.BUCKETS; bucket += STEP) {
            int each = bucket;
            try {
                Optional<String> result = servers.ask(() -> servers.node(Keys.slot(each)), node -> {
                    if (silent.contains(node)) {
                        return Optional.empty();
                    }
                    silent.add(node);
                    Optional<String> answer = step.apply(node, each);
                    silent.remove(node);
                    return answer;
                });
                if (result.isPresent()) {
                    return result;
                }
            } catch (StoreUnavailableException e) {
                LOG.log(System.Logger.Level.DEBUG, "no copy of the store's id there", e);
            }
        }
        return Optional.empty();
    }

    private static void set(Node node, String key, String id, boolean onlyIfAbsent) {
        CommandArguments set =
                new CommandArguments(Protocol.Command.SET).add(key).add(id);
        node.command(onlyIfAbsent ? set.add("NX") : set);
    }

    private static Optional<String> read(Node node, String key) {
        Object answer = node.command(new CommandArguments(Protocol.Command.GET).add(key));
        return answer instanceof byte[] bytes
                ? Optional.of(new String(bytes, StandardCharsets.UTF_8))
                : Optional.empty();
    }
}
