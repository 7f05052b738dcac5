// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis.server;

import java.time.Duration;
import java.util.NoSuchElementException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Connection;
import redis.clients.jedis.ConnectionPool;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisException;
import redis.clients.jedis.util.Pool;

/**
 * A server to which a client that the application made has a pool of connections. A step waits for one of them no longer than a step may
 * take, regardless of the pool's settings. Renewals have a separate connection, made by the pool's own factory, so that
 * an application that exhausts its pool loses no locks.
 */
final class PooledNode extends Node {
    private final String description;
    private final Supplier<? extends Pool<Connection>> pool;
    private final long limitMillis;
    private final AtomicReference<@Nullable Connection> forRenewals = new AtomicReference<>();
    private volatile String address;
    private volatile boolean closed;

    /**
     * @param description of the server, until its address is seen on a connection
     * @param limitMillis how long to wait for a free connection
     */
    PooledNode(String description, Supplier<? extends Pool<Connection>> pool, long limitMillis) {
        this.description = description;
        this.address = description;
        this.pool = pool;
        this.limitMillis = limitMillis;
    }

    @Override
    public String address() {
        return address;
    }

    @Override
    public int mostConnections() {
        int most = pool.get().getMaxTotal();
        return most < 0 ? Integer.MAX_VALUE : most;
    }

    @Override
    Connection take(Priority priority) {
        if (priority != Priority.URGENT) {
            return keep();
        }
        Connection reserved = forRenewals.getAndSet(null);
        return reserved != null && !reserved.isBroken() ? reserved : make();
    }

    /** A connection as the pool makes them, but not one of the pool's. */
    private Connection make() {
        try {
            return pool.get().getFactory().makeObject().getObject();
        } catch (JedisException e) {
            throw e;
        } catch (Exception e) {
            throw new JedisConnectionException("no connection to " + address + " for renewals", e);
        }
    }

    @Override
    public Connection keep() {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(limitMillis);
        boolean interrupted = Thread.interrupted(); // an interrupt never breaks a step
        try {
            while (true) {
                try {
                    return borrow(Math.max(1, TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime())));
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private Connection borrow(long millis) throws InterruptedException {
        Pool<Connection> from = pool.get();
        Connection connection;
        try {
            connection = from.borrowObject(Duration.ofMillis(millis));
        } catch (InterruptedException | JedisException e) {
            throw e;
        } catch (NoSuchElementException e) {
            if (e.getCause() instanceof JedisException cause) {
                throw cause; // it did not pass the pool's own test
            }
            throw new JedisConnectionException(
                    "none of the client's " + from.getMaxTotal() + " connections to " + address + " became free within "
                            + millis + " ms",
                    e);
        } catch (Exception e) {
            throw new JedisConnectionException("no connection to " + address + " from the client's pool", e);
        }
        if (from instanceof ConnectionPool own) {
            connection.setHandlingPool(own); // where its close() returns it to
        }
        String seen = JedisVersion.address(connection);
        if (!seen.isEmpty() && !address.endsWith(seen)) {
            address = description + ", " + seen;
        }
        return connection;
    }

    @Override
    void give(Connection connection, Priority priority) {
        if (priority != Priority.URGENT) {
            connection.close();
        } else if (closed || connection.isBroken() || !forRenewals.compareAndSet(null, connection)) {
            connection.disconnect();
        } else if (closed) {
            close();
        }
    }

    @Override
    void distrust() {
        pool.get().clear(); // closes what is idle
        discard();
    }

    private void discard() {
        Connection reserved = forRenewals.getAndSet(null);
        if (reserved != null) {
            reserved.disconnect();
        }
    }

    /** The pool belongs to the application, and stays open. */
    @Override
    public void close() {
        closed = true;
        discard();
    }
}
