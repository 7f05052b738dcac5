// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis;

import java.util.function.Supplier;
import redis.clients.jedis.Connection;
import redis.clients.jedis.exceptions.JedisException;
import redis.clients.jedis.util.Pool;

/** A server to which a client of the user's has connections. They are the user's: none is closed here but what is broken. */
final class PooledNode extends Node {
    private final String address;
    private final Supplier<? extends Pool<Connection>> pool;

    PooledNode(String address, Supplier<? extends Pool<Connection>> pool) {
        this.address = address;
        this.pool = pool;
    }

    @Override
    String address() {
        return address;
    }

    @Override
    Connection take(Way way) {
        return keep();
    }

    @Override
    Connection keep() {
        boolean interrupted = Thread.interrupted(); // an interrupt never breaks a step
        try {
            while (true) {
                try {
                    return pool.get().getResource();
                } catch (JedisException e) {
                    if (!isInterrupt(e)) {
                        throw e;
                    }
                    interrupted = true;
                    Thread.interrupted();
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private static boolean isInterrupt(Throwable e) {
        for (Throwable t = e; t != null; t = t.getCause()) {
            if (t instanceof InterruptedException) {
                return true;
            }
        }
        return false;
    }

    @Override
    void give(Connection connection, Way way) {
        connection.close();
    }

    @Override
    void distrust() {
        pool.get().clear(); // closes what is idle
    }

    @Override
    public void close() {}
}
