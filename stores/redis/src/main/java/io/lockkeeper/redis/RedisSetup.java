// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis;

import io.lockkeeper.redis.server.JedisVersion;
import io.lockkeeper.redis.server.Servers;
import io.lockkeeper.spi.LockStore;
import io.lockkeeper.spi.StoreUrl;
import redis.clients.jedis.ClientSetInfoConfig;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.DefaultRedisCredentials;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.RedisProtocol;

/**
 * What {@link RedisProvider} does with Jedis: in a separate class, so that the provider can be loaded where there is
 * none.
 */
final class RedisSetup {
    /** A Sentinel that takes longer is skipped: there are others. */
    private static final int SENTINEL_MILLIS = 500;

    private RedisSetup() {}

    static LockStore open(StoreUrl url) {
        RedisUrl parts = new RedisUrl(url);
        JedisVersion.check();
        return new RedisStore(servers(url.scheme(), parts), parts.options);
    }

    /** One server, as a member of a quorum. */
    static RedisStore member(RedisUrl parts) {
        return new RedisStore(servers("redis", parts), parts.options);
    }

    private static Servers servers(String scheme, RedisUrl parts) {
        JedisClientConfig config = config(parts);
        if (RedisUrl.isSentinel(scheme)) {
            return Servers.ofSentinels(parts.hosts, forSentinels(parts), parts.master, config, parts.poolSize);
        }
        if (RedisUrl.isCluster(scheme)) {
            return Servers.ofCluster(parts.hosts, config, parts.poolSize);
        }
        return Servers.standalone(parts.hosts.get(0), config, parts.poolSize);
    }

    private static JedisClientConfig config(RedisUrl parts) {
        DefaultJedisClientConfig.Builder config = plain(parts, parts.options.timeoutMillis())
                .connectionTimeoutMillis((int) Math.min(parts.connectTimeout.toMillis(), Integer.MAX_VALUE))
                .database(parts.database);
        if (parts.secret != null) {
            config.credentials(new DefaultRedisCredentials(parts.user, parts.secret));
        }
        return config.build();
    }

    /** Sentinels have no databases, and have their own users, if any. */
    private static JedisClientConfig forSentinels(RedisUrl parts) {
        int operation = parts.options.timeoutMillis();
        int millis = Math.min(operation, Math.max(SENTINEL_MILLIS, operation / 3));
        DefaultJedisClientConfig.Builder config = plain(parts, millis).connectionTimeoutMillis(millis);
        if (parts.sentinelPassword != null) {
            config.credentials(new DefaultRedisCredentials(parts.sentinelUser, parts.sentinelPassword));
        }
        return config.build();
    }

    private static DefaultJedisClientConfig.Builder plain(RedisUrl parts, int operationMillis) {
        DefaultJedisClientConfig.Builder config = DefaultJedisClientConfig.builder()
                .protocol(RedisProtocol.RESP2)
                .clientSetInfoConfig(ClientSetInfoConfig.DISABLED)
                .clientName(parts.clientName)
                .socketTimeoutMillis(operationMillis);
        if (parts.tls != null) {
            parts.tls.configure(config);
        }
        return config;
    }
}
