// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis.server;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.BiPredicate;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Connection;
import redis.clients.jedis.Protocol;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisException;
import redis.clients.jedis.exceptions.JedisNoScriptException;

/** One server: requests to it, on connections that are taken for a request and returned. */
public abstract class Node implements AutoCloseable {
    /** How many connections a store needs: one to listen, one for steps. */
    public static final int LEAST_CONNECTIONS = 2;

    /** How a request is sent. */
    public enum Priority {
        PLAIN,
        /** Renewals do not wait for a free connection: a shortage of connections must not cost locks. */
        URGENT,
        /** To a server that is just taking over a slot. */
        ASKING
    }

    /** A connection, for one request. */
    abstract Connection take(Priority priority);

    /** Gives it back; one that is broken is not used again. */
    abstract void give(Connection connection, Priority priority);

    /** A connection to keep; the caller closes it. */
    public abstract Connection keep();

    /** Connections opened until now can no longer be trusted. */
    abstract void distrust();

    /** A name for this server. */
    public abstract String address();

    /** How many connections there may be at a time. */
    public int mostConnections() {
        return Integer.MAX_VALUE;
    }

    @Override
    public abstract void close();

    /**
     * Runs scripts, all sent together. If the server does not know one, its text is sent.
     *
     * @param replicas how many replicas must have what was written
     * @return an answer for each; it may be a {@link JedisDataException}
     */
    List<Object> run(List<Call> calls, Priority priority, Replicas replicas) {
        return runOnOne(calls, priority, replicas);
    }

    /** All on one connection. */
    final List<Object> runOnOne(List<Call> calls, Priority priority, Replicas replicas) {
        return on(priority, connection -> {
            List<Object> answers = send(connection, calls, priority, replicas, Call.Form.HASH);
            repeat(
                    connection,
                    calls,
                    answers,
                    priority,
                    replicas,
                    Call.Form.TEXT,
                    (call, answer) -> answer instanceof JedisNoScriptException);
            repeat(
                    connection,
                    calls,
                    answers,
                    priority,
                    replicas,
                    Call.Form.TEXT_FOR_FULL_SERVER,
                    (call, answer) -> call.script().needsNoRoom()
                            && answer instanceof JedisDataException e
                            && Failures.isFull(e));
            return answers;
        });
    }

    /**
     * Sends again, in another form, those whose answers demand it; what the server could not read counts as not sent.
     */
    private static void repeat(
            Connection connection,
            List<Call> calls,
            List<Object> answers,
            Priority priority,
            Replicas replicas,
            Call.Form form,
            BiPredicate<Call, Object> which) {
        List<Integer> indices = new ArrayList<>(0);
        for (int i = 0; i < answers.size(); i++) {
            if (which.test(calls.get(i), answers.get(i))) {
                indices.add(i);
            }
        }
        if (indices.isEmpty()) {
            return;
        }
        List<Object> again = send(connection, indices.stream().map(calls::get).toList(), priority, replicas, form);
        for (int i = 0; i < indices.size(); i++) {
            if (form == Call.Form.TEXT || !(again.get(i) instanceof JedisDataException)) {
                answers.set(indices.get(i), again.get(i));
            }
        }
    }

    private static List<Object> send(
            Connection connection, List<Call> calls, Priority priority, Replicas replicas, Call.Form form) {
        Set<LuaScript> sent = new HashSet<>();
        for (Call call : calls) {
            if (priority == Priority.ASKING) {
                connection.sendCommand(Protocol.Command.ASKING);
            }
            boolean isFirst = sent.add(call.script());
            // Its text once is enough.
            connection.sendCommand(call.command(form != Call.Form.TEXT || isFirst ? form : Call.Form.HASH));
        }
        boolean waits = replicas.number() > 0;
        if (waits) {
            connection.sendCommand(replicas.command());
        }
        int each = priority == Priority.ASKING ? 2 : 1;
        List<Object> all = connection.getMany(calls.size() * each + (waits ? 1 : 0));
        List<Object> answers = new ArrayList<>(calls.size());
        for (int i = 0; i < calls.size(); i++) {
            answers.add(all.get(i * each + each - 1));
        }
        if (waits && answers.stream().noneMatch(JedisDataException.class::isInstance)) {
            replicas.check(all.get(all.size() - 1));
        }
        return answers;
    }

    /** A command that is no script. */
    public final Object command(CommandArguments command) {
        return on(Priority.PLAIN, connection -> connection.executeCommand(command));
    }

    interface Use<T> {
        T with(Connection connection);
    }

    final <T> T on(Priority priority, Use<T> use) {
        Connection connection = take(priority);
        try {
            return use.with(connection);
        } catch (JedisConnectionException e) {
            distrust();
            throw e;
        } catch (JedisDataException e) {
            throw e; // an answer, read to its end
        } catch (JedisException e) {
            connection.setBroken();
            throw e;
        } finally {
            give(connection, priority);
        }
    }
}
