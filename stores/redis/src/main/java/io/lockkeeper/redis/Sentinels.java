// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Connection;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.Protocol;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisException;

/**
 * The master that Sentinels watch over. They are asked who it is at first, and whenever it has failed or says that it is a
 * replica; and it is asked whether it agrees.
 */
final class Sentinels extends Servers {
    private final List<HostAndPort> sentinels;
    private final String masterName;
    private final JedisClientConfig config;
    private final JedisClientConfig sentinelConfig;
    private volatile @Nullable Node current;
    private boolean closed;

    Sentinels(
            List<HostAndPort> sentinels,
            String masterName,
            JedisClientConfig config,
            JedisClientConfig sentinelConfig) {
        this.sentinels = new ArrayList<>(sentinels);
        this.masterName = masterName;
        this.config = config;
        this.sentinelConfig = sentinelConfig;
    }

    @Override
    Node node(int slot) {
        Node known = current;
        return known != null ? known : find();
    }

    private synchronized Node find() {
        Node known = current;
        if (known != null) {
            return known;
        }
        if (closed) {
            throw new JedisConnectionException("the connections to " + masterName + " have been closed");
        }
        Node found = new OwnNode(ask(), config);
        try {
            List<?> role = Words.list(found.command(new CommandArguments(Protocol.Command.ROLE)));
            if (!text(role.get(0)).equals("master")) {
                throw new JedisConnectionException(
                        "the Sentinels name " + found.address() + ", which is not a master (yet)");
            }
        } catch (JedisException e) {
            found.close();
            throw e;
        }
        current = found;
        return found;
    }

    /** The first Sentinel that answers; it is the first to be asked next time. */
    private HostAndPort ask() {
        JedisException last = new JedisConnectionException("there are no Sentinels");
        for (int i = 0; i < sentinels.size(); i++) {
            HostAndPort sentinel = sentinels.get(i);
            try (Connection connection = new Connection(sentinel, sentinelConfig)) {
                Object answer = connection.executeCommand(new CommandArguments(Protocol.Command.SENTINEL)
                        .add("get-master-addr-by-name")
                        .add(masterName));
                if (answer instanceof List<?> address) {
                    sentinels.add(0, sentinels.remove(i));
                    return new HostAndPort(text(address.get(0)), Integer.parseInt(text(address.get(1))));
                }
                last = new JedisConnectionException(
                        "the Sentinel at " + sentinel + " knows of no master '" + masterName + "'");
            } catch (JedisException e) {
                last = e;
            }
        }
        throw last;
    }

    private static String text(Object answer) {
        return new String((byte[]) answer, StandardCharsets.UTF_8);
    }

    @Override
    Collection<Supplier<Node>> masters() {
        return List.of(() -> node(0));
    }

    @Override
    Node listening() {
        return node(0);
    }

    @Override
    Object lane(int slot, Object store) {
        return store;
    }

    @Override
    boolean canFailOver() {
        return true;
    }

    @Override
    boolean needsOneSlot() {
        return false;
    }

    @Override
    Node at(HostAndPort address) {
        return node(0);
    }

    @Override
    synchronized void failed(Node node) {
        if (current == node) {
            current = null;
            node.close();
        }
    }

    @Override
    public synchronized void close() {
        closed = true;
        Node known = current;
        current = null;
        if (known != null) {
            known.close();
        }
    }
}
