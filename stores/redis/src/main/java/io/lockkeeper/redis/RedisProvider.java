// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis;

import io.lockkeeper.spi.LockStore;
import io.lockkeeper.spi.StoreProvider;
import io.lockkeeper.spi.StoreUrl;
import java.util.Set;
import redis.clients.jedis.ClientSetInfoConfig;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.DefaultRedisCredentials;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.RedisProtocol;
import redis.clients.jedis.SslOptions;
import redis.clients.jedis.SslVerifyMode;

/** Stores of {@code redis:}, {@code rediss:}, {@code redis-sentinel:} and {@code redis-cluster:} URLs. */
public final class RedisProvider implements StoreProvider {
    /** For {@link java.util.ServiceLoader}. */
    public RedisProvider() {}

    @Override
    public Set<String> schemes() {
        return Set.of("redis", "rediss", "redis-sentinel", "redis-cluster");
    }

    @Override
    public LockStore open(StoreUrl url) {
        RedisUrl parts = new RedisUrl(url);
        return new RedisStore(servers(url.scheme(), parts), parts.options);
    }

    /** One server, as a member of a quorum. */
    static RedisStore member(RedisUrl parts, boolean tls) {
        return new RedisStore(servers(tls ? "rediss" : "redis", parts), parts.options);
    }

    private static Servers servers(String scheme, RedisUrl parts) {
        JedisClientConfig config = config(scheme, parts).build();
        return switch (scheme) {
            case "redis-sentinel" -> new Sentinels(parts.hosts, parts.master, config, forSentinels(parts));
            case "redis-cluster" -> new Cluster(parts.hosts, address -> new OwnNode(address, config));
            default -> new Standalone(new OwnNode(parts.hosts.get(0), config), false);
        };
    }

    private static DefaultJedisClientConfig.Builder config(String scheme, RedisUrl parts) {
        int operation = parts.options.timeoutMillis();
        DefaultJedisClientConfig.Builder config = plain(operation)
                .connectionTimeoutMillis((int) Math.min(parts.connectTimeout.toMillis(), Integer.MAX_VALUE))
                .database(parts.database);
        if (scheme.equals("rediss")) {
            // The JVM's own certificates; and the name in the server's must be the host's.
            config.sslOptions(
                    SslOptions.builder().sslVerifyMode(SslVerifyMode.FULL).build());
        }
        if (parts.secret != null) {
            config.credentials(new DefaultRedisCredentials(parts.user, parts.secret));
        }
        return config;
    }

    /** Sentinels have no databases, and their own users if any. */
    private static JedisClientConfig forSentinels(RedisUrl parts) {
        return plain(Math.min(parts.options.timeoutMillis(), 500))
                .connectionTimeoutMillis(Math.min(parts.options.timeoutMillis(), 500))
                .build();
    }

    private static DefaultJedisClientConfig.Builder plain(int operationMillis) {
        return DefaultJedisClientConfig.builder()
                .protocol(RedisProtocol.RESP2)
                .clientSetInfoConfig(ClientSetInfoConfig.DISABLED)
                .socketTimeoutMillis(operationMillis);
    }
}
