// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis.server;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.Map;
import java.util.function.Supplier;
import redis.clients.jedis.Connection;
import redis.clients.jedis.ConnectionPool;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.util.Pool;

/**
 * The servers of a client that the application made. Its classes differ from one Jedis to the next (before 7.2 there is no
 * {@code RedisClient}, since 8.0 there is no {@code JedisPooled}), so they are known by name, and asked for their pools
 * by methods that are looked up: a missing class does no harm.
 */
final class ClientAdapter {
    private static final MethodHandles.Lookup LOOKUP = MethodHandles.publicLookup();

    private static final String PACKAGE = "redis.clients.jedis.";

    private ClientAdapter() {}

    /** @param limitMillis how long a step waits for a free connection of the client */
    static Servers servers(UnifiedJedis client, long limitMillis) {
        for (Class<?> type = client.getClass(); type != null; type = type.getSuperclass()) {
            switch (type.getName().replace(PACKAGE, "")) {
                case "RedisClient", "JedisPooled" -> {
                    MethodHandle getPool = method(type, "getPool", Pool.class);
                    return new Standalone(
                            new PooledNode("the client's server", () -> pool(getPool, client), limitMillis), false);
                }
                case "RedisSentinelClient", "JedisSentineled" -> {
                    MethodHandle getPools = method(type, "getPrimaryNodesConnectionMap", Map.class);
                    return new Standalone(
                            new PooledNode("the client's master", () -> firstPool(getPools, client), limitMillis),
                            true);
                }
                case "RedisClusterClient", "JedisCluster" -> {
                    MethodHandle getNodes = method(type, "getClusterNodes", Map.class);
                    return Cluster.of(pools(getNodes, client), () -> client.exists("lockkeeper"), limitMillis);
                }
                default -> {
                    // its superclass may be one of them
                }
            }
        }
        throw new IllegalArgumentException("a " + client.getClass().getSimpleName()
                + " cannot keep locks; allowed are RedisClient, RedisSentinelClient, RedisClusterClient, JedisPooled and"
                + " JedisCluster");
    }

    private static MethodHandle method(Class<?> type, String name, Class<?> result) {
        try {
            return LOOKUP.findVirtual(type, name, MethodType.methodType(result))
                    .asType(MethodType.methodType(result, UnifiedJedis.class));
        } catch (NoSuchMethodException | IllegalAccessException e) {
            throw new IllegalArgumentException(
                    "a " + type.getSimpleName() + " of Jedis " + JedisVersion.text()
                            + " does not hand out its connections; use a redis: URL, or Jedis 8.0 or later",
                    e);
        }
    }

    @SuppressWarnings("unchecked") // as declared by Jedis
    private static Pool<Connection> pool(MethodHandle getPool, UnifiedJedis client) {
        return (Pool<Connection>) call(getPool, client);
    }

    @SuppressWarnings("unchecked") // as declared by Jedis
    private static Pool<Connection> firstPool(MethodHandle getPools, UnifiedJedis client) {
        return ((Map<?, Pool<Connection>>) call(getPools, client))
                .values()
                .iterator()
                .next();
    }

    @SuppressWarnings("unchecked") // as declared by Jedis
    private static Supplier<Map<String, ConnectionPool>> pools(MethodHandle getNodes, UnifiedJedis client) {
        return () -> (Map<String, ConnectionPool>) call(getNodes, client);
    }

    private static Object call(MethodHandle method, UnifiedJedis client) {
        try {
            return (Object) method.invoke(client);
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new JedisConnectionException("the client does not hand out its connections", e);
        }
    }
}
