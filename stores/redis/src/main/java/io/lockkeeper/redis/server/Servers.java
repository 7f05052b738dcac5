// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis.server;

import io.lockkeeper.StoreUnavailableException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.Protocol;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisAskDataException;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisException;
import redis.clients.jedis.exceptions.JedisMovedDataException;

/**
 * Who serves what: one server, the master of a Sentinel set, or the masters of a Cluster. A request is sent once; it is sent to
 * another server only if the first one has said that it did not carry it out.
 */
public abstract class Servers implements AutoCloseable {
    /** A slot that moves while it is asked for is found again after one or two hints. */
    private static final int MOST_HINTS = 4;

    /** One server that is alone. */
    public static Servers standalone(HostAndPort address, JedisClientConfig config, int poolSize) {
        return new Standalone(new OwnNode(address, config, poolSize), false);
    }

    /**
     * The master that Sentinels know by a name.
     *
     * @param config of connections to the master
     * @param poolSize the most connections to the master
     */
    public static Servers ofSentinels(
            List<HostAndPort> sentinels,
            JedisClientConfig sentinelConfig,
            String masterName,
            JedisClientConfig config,
            int poolSize) {
        return new Sentinels(sentinels, masterName, new Sentinels.Login(config, sentinelConfig, poolSize));
    }

    /**
     * The masters of a Cluster, of which some servers are known. Asks them who serves what.
     *
     * @param poolSize the most connections to each of them
     */
    public static Servers ofCluster(List<HostAndPort> seeds, JedisClientConfig config, int poolSize) {
        return new Cluster(seeds, address -> new OwnNode(address, config, poolSize), config.getSocketTimeoutMillis());
    }

    /**
     * The servers of a client, which is not closed.
     *
     * @param limitMillis how long a step waits for a free connection of the client
     * @throws IllegalArgumentException if it is a client of an unknown kind
     */
    public static Servers of(UnifiedJedis client, long limitMillis) {
        return ClientAdapter.servers(client, limitMillis);
    }

    /** Whether a node of a Cluster serves all of its slots, so that it may as well be used alone. */
    public static boolean isWholeCluster(Node node) {
        return Cluster.isAlone(node);
    }

    /** Who serves a slot now, as far as is known; asks, if nothing is. */
    public abstract Node node(int slot);

    /** All masters, as far as is known. */
    public abstract Collection<Supplier<Node>> masters();

    /** A server to receive signals from; when one has failed, another one if there is any. */
    public abstract Node listening();

    /** Whether what is published still reaches the listeners on this node, as far as is known. No I/O. */
    public boolean isHeardAt(Node node) {
        return true;
    }

    /** What fails together with a slot. No I/O. */
    public abstract Object lane(int slot, Object store);

    /** A slot of the server of a lane. */
    int slotOf(Object lane) {
        return 0;
    }

    /** Whether another machine may take over. */
    public abstract boolean canFailOver();

    /** Whether it knows which server has which slot. */
    public boolean knowsSlots() {
        return false;
    }

    /** A server that is not known yet. */
    abstract Node at(HostAndPort address);

    /** A node has failed, or said that it is the wrong one. */
    public abstract void failed(Node node);

    /** A slot is elsewhere now, according to its former server. */
    void moved(int slot, HostAndPort to) {
        failed(node(slot));
    }

    @Override
    public abstract void close();

    /** Runs a script. */
    public final Object run(Call call, Node.Priority priority, Replicas replicas) {
        try {
            Node node = node(call.slot());
            Object answer = onNode(node, List.of(call), priority, replicas).get(0);
            return answer instanceof JedisDataException e ? follow(call, node, e, priority, replicas) : answer;
        } catch (JedisException e) {
            throw Failures.of(e);
        }
    }

    /** Runs scripts; those for one server are sent together. */
    public final List<Object> runAll(List<Call> calls, Node.Priority priority, Replicas replicas) {
        if (calls.size() == 1) {
            return List.of(run(calls.get(0), priority, replicas));
        }
        try {
            Map<Node, List<Integer>> byNode = new LinkedHashMap<>();
            for (int i = 0; i < calls.size(); i++) {
                byNode.computeIfAbsent(node(calls.get(i).slot()), n -> new ArrayList<>())
                        .add(i);
            }
            Object[] answers = new Object[calls.size()];
            byNode.forEach((node, indices) -> {
                List<Object> some =
                        onNode(node, indices.stream().map(calls::get).toList(), priority, replicas);
                for (int i = 0; i < indices.size(); i++) {
                    int index = indices.get(i);
                    answers[index] = some.get(i) instanceof JedisDataException e
                            ? follow(calls.get(index), node, e, priority, replicas)
                            : some.get(i);
                }
            });
            return List.of(answers);
        } catch (JedisException e) {
            throw Failures.of(e);
        }
    }

    /** Follows the redirection in an error; throws any other error. */
    private Object follow(Call call, Node asked, JedisDataException first, Node.Priority priority, Replicas replicas) {
        JedisDataException error = first;
        Node node = asked;
        for (int hint = 0; hint < MOST_HINTS; hint++) {
            Object answer;
            if (error instanceof JedisMovedDataException moved) {
                moved(call.slot(), moved.getTargetNode());
                node = at(moved.getTargetNode());
                answer = onNode(node, List.of(call), priority, replicas).get(0);
            } else if (error instanceof JedisAskDataException ask) {
                node = at(ask.getTargetNode());
                answer = onNode(node, List.of(call), Node.Priority.ASKING, replicas)
                        .get(0);
            } else {
                if (Failures.isOfThisServer(error)) {
                    failed(node(call.slot()));
                }
                throw failure(error, node, List.of(call));
            }
            if (!(answer instanceof JedisDataException next)) {
                return answer;
            }
            error = next;
        }
        throw failure(error, node, List.of(call));
    }

    private List<Object> onNode(Node node, List<Call> calls, Node.Priority priority, Replicas replicas) {
        try {
            return node.run(calls, priority, replicas);
        } catch (JedisException e) {
            if (Failures.isOfThisServer(e)) {
                failed(node);
            }
            throw failure(e, node, calls);
        }
    }

    /** Says which server failed, and on what, if that was a single step. */
    private static StoreUnavailableException failure(JedisException e, Node node, List<Call> calls) {
        String step = "";
        if (calls.size() == 1 && !calls.get(0).keys().isEmpty()) {
            step = " on " + calls.get(0).about();
        }
        return Failures.of(e, "Redis at " + node.address() + " failed" + step);
    }

    /** The failure of a step that read a damaged record. */
    public final StoreUnavailableException damaged(Call call, RuntimeException e) {
        String address;
        try {
            address = " at " + node(call.slot()).address();
        } catch (JedisException away) {
            address = "";
        }
        return StoreUnavailableException.lasting(
                "Redis" + address + " failed on " + call.about() + ": " + Failures.DAMAGED, e);
    }

    /** Asks a node for something other than a script. */
    public final <T> T ask(Supplier<Node> who, Function<Node, T> question) {
        try {
            Node node = who.get();
            try {
                return question.apply(node);
            } catch (JedisException e) {
                if (Failures.isOfThisServer(e)) {
                    failed(node);
                }
                throw failure(e, node, List.of());
            }
        } catch (JedisException e) {
            throw Failures.of(e);
        }
    }

    /** The time of the server of a lane, in µs. */
    public final long time(Object lane) {
        int slot = slotOf(lane);
        List<?> time =
                Reply.list(ask(() -> node(slot), node -> node.command(new CommandArguments(Protocol.Command.TIME))));
        return Long.parseLong(Reply.text(time.get(0))) * 1_000_000 + Long.parseLong(Reply.text(time.get(1)));
    }

    /** A failure of the servers that should have said where the others are. */
    static StoreUnavailableException nobodyKnows(String what, JedisException e) {
        StoreUnavailableException failure = Failures.of(e);
        return failure.because(what);
    }
}
