// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis;

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
import redis.clients.jedis.Protocol;
import redis.clients.jedis.exceptions.JedisAskDataException;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisException;
import redis.clients.jedis.exceptions.JedisMovedDataException;

/**
 * Who serves what: one server, the master of a Sentinel set, or the masters of a Cluster. A request is sent once; it is sent to
 * another server only if the first one has said that it did not carry it out.
 */
abstract class Servers implements AutoCloseable {
    /** A slot that moves while it is asked for is found again after one or two hints. */
    private static final int MOST_HINTS = 4;

    /** Who serves a slot now, as far as is known; asks, if nothing is. */
    abstract Node node(int slot);

    /** All masters, as far as is known. */
    abstract Collection<Supplier<Node>> masters();

    /** A server to receive signals from; when one has failed, another one if there is any. */
    abstract Node listening();

    /** Whether what is published still reaches the listeners on this node, as far as is known. No I/O. */
    boolean isHeardAt(Node node) {
        return true;
    }

    /** What fails together with a slot. No I/O. */
    abstract Object lane(int slot, Object store);

    /** Whether another machine may take over. */
    abstract boolean canFailOver();

    /** Whether it knows which server has which slot. */
    boolean knowsSlots() {
        return false;
    }

    /** A server that is not known yet. */
    abstract Node at(HostAndPort address);

    /** A node has failed, or said that it is the wrong one. */
    abstract void failed(Node node);

    /** A slot is elsewhere now, according to its former server. */
    void moved(int slot, HostAndPort to) {
        failed(node(slot));
    }

    @Override
    public abstract void close();

    /** Runs a script. */
    final Object run(Call call, Node.Priority priority, Replicas replicas) {
        try {
            Node node = node(call.slot());
            Object answer = onNode(node, List.of(call), priority, replicas).get(0);
            return answer instanceof JedisDataException e ? follow(call, node, e, priority, replicas) : answer;
        } catch (JedisException e) {
            throw Failures.of(e);
        }
    }

    /** Runs scripts; those for one server are sent together. */
    final List<Object> runAll(List<Call> calls, Node.Priority priority, Replicas replicas) {
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
    final StoreUnavailableException damaged(Call call, RuntimeException e) {
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
    final <T> T ask(Supplier<Node> who, Function<Node, T> question) {
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

    /** The time of the server that has a slot, in µs. */
    final long time(int slot) {
        List<?> time = ScriptProtocol.list(
                ask(() -> node(slot), node -> node.command(new CommandArguments(Protocol.Command.TIME))));
        return Long.parseLong(ScriptProtocol.text(time.get(0))) * 1_000_000
                + Long.parseLong(ScriptProtocol.text(time.get(1)));
    }

    /** A failure of the servers that should have said where the others are. */
    static StoreUnavailableException nobodyKnows(String what, JedisException e) {
        StoreUnavailableException failure = Failures.of(e);
        return failure.because(what);
    }
}
