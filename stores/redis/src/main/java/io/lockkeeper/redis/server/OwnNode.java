// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis.server;

import java.util.List;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Connection;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.DefaultJedisSocketFactory;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.exceptions.JedisConnectionException;

/**
 * A server that we connect to ourselves. The connection used last is used next, so that few threads need few
 * connections.
 */
final class OwnNode extends Node {
    private final HostAndPort address;
    private final JedisClientConfig config;
    private final JedisClientConfig again;
    private final int poolSize;
    private final Semaphore free;
    private final ConcurrentLinkedDeque<Ours> idle = new ConcurrentLinkedDeque<>();
    private final RequestCombiner combiner;
    private volatile int era;
    private volatile boolean known;
    private volatile boolean closed;

    private static final class Ours extends Connection {
        final int era;

        Ours(HostAndPort address, JedisClientConfig config, int era) {
            super(new DefaultJedisSocketFactory(address, config), config);
            this.era = era;
        }
    }

    /** @param poolSize the most connections at a time, not counting those of renewals and the one that listens */
    OwnNode(HostAndPort address, JedisClientConfig config, int poolSize) {
        this.address = address;
        this.config = config;
        this.again = impatient(config);
        this.poolSize = poolSize;
        this.free = new Semaphore(poolSize);
        this.combiner = new RequestCombiner(
                calls -> runOnOne(calls, Priority.PLAIN, Replicas.NONE),
                TimeUnit.MILLISECONDS.toNanos(config.getSocketTimeoutMillis()));
    }

    /** The first connection may take its time; a step to a server that was reached before must not. */
    static JedisClientConfig impatient(JedisClientConfig config) {
        return DefaultJedisClientConfig.builder()
                .from(config)
                .connectionTimeoutMillis(Math.min(config.getConnectionTimeoutMillis(), config.getSocketTimeoutMillis()))
                .build();
    }

    @Override
    public String address() {
        return address.toString();
    }

    /** A single script shares a connection with those of other threads; {@code WAIT} would delay them. */
    @Override
    List<Object> run(List<Call> calls, Priority priority, Replicas replicas) {
        return calls.size() == 1 && priority == Priority.PLAIN && replicas.number() == 0
                ? List.of(combiner.run(calls.get(0)))
                : runOnOne(calls, priority, replicas);
    }

    @Override
    Connection take(Priority priority) {
        boolean counts = priority != Priority.URGENT;
        if (counts && !free.tryAcquire()) {
            await();
        }
        Connection connection = null;
        try {
            connection = unused();
            if (connection == null) {
                connection = keep();
            }
            return connection;
        } finally {
            if (connection == null && counts) {
                free.release();
            }
        }
    }

    private @Nullable Connection unused() {
        for (Ours ours = idle.pollFirst(); ours != null; ours = idle.pollFirst()) {
            if (ours.era == era) {
                return ours;
            }
            ours.disconnect();
        }
        return null;
    }

    /** Waits for a connection to be returned, no longer than a step may take. */
    private void await() {
        boolean interrupted = false;
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(config.getSocketTimeoutMillis());
        try {
            while (true) {
                try {
                    if (free.tryAcquire(deadline - System.nanoTime(), TimeUnit.NANOSECONDS)) {
                        return;
                    }
                    throw new JedisConnectionException(
                            "all " + poolSize + " connections to " + address + " are in use");
                } catch (InterruptedException e) {
                    interrupted = true; // an interrupt never breaks a step
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    @Override
    void give(Connection connection, Priority priority) {
        try {
            if (closed || connection.isBroken()) {
                connection.disconnect();
            } else if (connection instanceof Ours ours) {
                idle.addFirst(ours);
                if (closed) {
                    close();
                }
            }
        } finally {
            // Last: otherwise the next one would find no connection, and open one too many.
            if (priority != Priority.URGENT) {
                free.release();
            }
        }
    }

    @Override
    public Connection keep() {
        if (closed) {
            throw new JedisConnectionException("the connections to " + address + " have been closed");
        }
        try {
            Connection connection = new Ours(address, known ? again : config, era);
            known = true;
            return connection;
        } catch (JedisConnectionException e) {
            throw known ? e : Tls.hint(e, config);
        }
    }

    @Override
    @SuppressWarnings("NonAtomicVolatileUpdate") // it need only differ
    void distrust() {
        era++;
        drain();
    }

    @Override
    public void close() {
        closed = true;
        drain();
    }

    private void drain() {
        for (Ours ours = idle.pollFirst(); ours != null; ours = idle.pollFirst()) {
            ours.disconnect();
        }
    }
}
