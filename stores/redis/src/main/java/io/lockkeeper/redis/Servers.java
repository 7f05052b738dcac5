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
import redis.clients.jedis.HostAndPort;
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

    /** A server to hear signals from; when one has failed, another one if there is any. */
    abstract Node listening();

    /** Whether what is published still reaches those who listen at this node, as far as is known. No I/O. */
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

    /** A slot is elsewhere now, as the one who had it says. */
    void moved(int slot, HostAndPort to) {
        failed(node(slot));
    }

    @Override
    public abstract void close();

    /** Has a script run. */
    final Object run(Call call, Node.Way way, Replicas replicas) {
        try {
            Node node = node(call.slot());
            Object answer = onNode(node, List.of(call), way, replicas).get(0);
            return answer instanceof JedisDataException e ? follow(call, node, e, way, replicas) : answer;
        } catch (JedisException e) {
            throw Failures.of(e);
        }
    }

    /** Has scripts run, those of one server sent at once. */
    final List<Object> runAll(List<Call> calls, Node.Way way, Replicas replicas) {
        if (calls.size() == 1) {
            return List.of(run(calls.get(0), way, replicas));
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
                        onNode(node, indices.stream().map(calls::get).toList(), way, replicas);
                for (int i = 0; i < indices.size(); i++) {
                    int index = indices.get(i);
                    answers[index] = some.get(i) instanceof JedisDataException e
                            ? follow(calls.get(index), node, e, way, replicas)
                            : some.get(i);
                }
            });
            return List.of(answers);
        } catch (JedisException e) {
            throw Failures.of(e);
        }
    }

    /** Goes where the hint in an error points; throws any other error. */
    private Object follow(Call call, Node asked, JedisDataException first, Node.Way way, Replicas replicas) {
        JedisDataException error = first;
        Node node = asked;
        for (int hint = 0; hint < MOST_HINTS; hint++) {
            Object answer;
            if (error instanceof JedisMovedDataException moved) {
                moved(call.slot(), moved.getTargetNode());
                node = at(moved.getTargetNode());
                answer = onNode(node, List.of(call), way, replicas).get(0);
            } else if (error instanceof JedisAskDataException ask) {
                node = at(ask.getTargetNode());
                answer = onNode(node, List.of(call), Node.Way.ASKING, replicas).get(0);
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

    private List<Object> onNode(Node node, List<Call> calls, Node.Way way, Replicas replicas) {
        try {
            return node.run(calls, way, replicas);
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

    /** What a step has read makes no sense. */
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

    /** Asks a node for something that is no script. */
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

    /** A failure of the servers that should have said where the others are. */
    static StoreUnavailableException nobodyKnows(String what, JedisException e) {
        StoreUnavailableException failure = Failures.of(e);
        return failure.because(what);
    }
}
