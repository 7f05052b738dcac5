// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis.server;

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
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisException;

/**
 * The master that Sentinels watch over. They are asked who it is at first, and whenever it has failed or says that it
 * is a replica; then it is asked whether it agrees. One thread does that; all steps that need the answer wait for it,
 * each no longer than its own timeout.
 */
final class Sentinels extends Servers {
    private final String masterName;
    private final Login login;
    private final Lookup<Node> lookup;
    /** In the order in which they are asked; used only by the search, of which there is one at a time. */
    private final List<HostAndPort> sentinels;

    private volatile @Nullable Node current;
    private volatile boolean foundBefore;
    private boolean closed;

    /**
     * How the servers are connected to.
     *
     * @param master the config of connections to the master
     * @param sentinels the config of connections to the Sentinels
     * @param poolSize the most connections to the master
     */
    record Login(JedisClientConfig master, JedisClientConfig sentinels, int poolSize) {}

    Sentinels(List<HostAndPort> sentinels, String masterName, Login login) {
        this.sentinels = new ArrayList<>(sentinels);
        this.masterName = masterName;
        this.login = login;
        this.lookup = new Lookup<>("the master '" + masterName + "' of the Sentinels at " + sentinels, this::search);
    }

    @Override
    public Node node(int slot) {
        Node known = current;
        return known != null ? known : lookup.await(limitMillis());
    }

    /** How long a step waits for the master to be found: as long as for an answer; at first, also for connections. */
    private long limitMillis() {
        long operation = login.master.getSocketTimeoutMillis();
        return foundBefore ? operation : operation + login.master.getConnectionTimeoutMillis();
    }

    private Node search() {
        JedisClientConfig config = foundBefore ? OwnNode.impatient(login.master) : login.master;
        Node found = new OwnNode(ask(), config, login.poolSize);
        boolean isMaster;
        try {
            List<?> role = Reply.list(found.command(new CommandArguments(Protocol.Command.ROLE)));
            isMaster = text(role.get(0)).equals("master");
        } catch (JedisException e) {
            found.close();
            throw named(e, "the server at " + found.address() + ", which the Sentinels name as the master");
        }
        if (isMaster && adopt(found)) {
            return found;
        }
        found.close();
        throw new JedisConnectionException(
                isMaster
                        ? "the connections to " + masterName + " have been closed"
                        : "the Sentinels name " + found.address() + ", which is not a master (yet)");
    }

    private synchronized boolean adopt(Node found) {
        if (!closed) {
            current = found;
            foundBefore = true;
        }
        return !closed;
    }

    /** The first Sentinel that answers is the first to be asked next time, one that does not is the last. */
    private HostAndPort ask() {
        JedisException last = new JedisConnectionException("there are no Sentinels");
        for (HostAndPort sentinel : List.copyOf(sentinels)) {
            sentinels.remove(sentinel);
            try (Connection connection = new Connection(sentinel, login.sentinels)) {
                Object answer = connection.executeCommand(new CommandArguments(Protocol.Command.SENTINEL)
                        .add("get-master-addr-by-name")
                        .add(masterName));
                if (answer instanceof List<?> address) {
                    sentinels.add(0, sentinel);
                    return new HostAndPort(text(address.get(0)), Integer.parseInt(text(address.get(1))));
                }
                sentinels.add(sentinel);
                last = new JedisConnectionException(
                        "the Sentinel at " + sentinel + " knows of no master '" + masterName + "'");
            } catch (JedisException e) {
                sentinels.add(sentinel);
                JedisException why = e instanceof JedisConnectionException away ? Tls.hint(away, login.sentinels) : e;
                last = named(why, "the Sentinel at " + sentinel);
            }
        }
        throw last;
    }

    /** Names what failed; a server's error keeps its first word, which is its kind. */
    private static JedisException named(JedisException e, String who) {
        return e instanceof JedisConnectionException
                ? new JedisConnectionException(who + " does not answer: " + e.getMessage(), e)
                : new JedisDataException(e.getMessage() + " (said by " + who + ")", e);
    }

    private static String text(Object answer) {
        return new String((byte[]) answer, StandardCharsets.UTF_8);
    }

    @Override
    public Collection<Supplier<Node>> masters() {
        return List.of(() -> node(0));
    }

    @Override
    public Node listening() {
        return node(0);
    }

    @Override
    public boolean isHeardAt(Node node) {
        Node known = current;
        return known == null || known == node;
    }

    @Override
    public Object lane(int slot, Object store) {
        return store;
    }

    @Override
    public boolean canFailOver() {
        return true;
    }

    @Override
    Node at(HostAndPort address) {
        return node(0);
    }

    @Override
    public void failed(Node node) {
        synchronized (this) {
            if (current != node) {
                return;
            }
            current = null;
        }
        node.close();
    }

    @Override
    public void close() {
        Node known;
        synchronized (this) {
            closed = true;
            known = current;
            current = null;
        }
        lookup.close();
        if (known != null) {
            known.close();
        }
    }
}
