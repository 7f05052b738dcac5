// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis;

import io.lockkeeper.spi.LockStore;
import io.lockkeeper.spi.StoreProvider;
import io.lockkeeper.spi.StoreUrl;
import java.util.Set;

/**
 * Stores of {@code redis:}, {@code redis-sentinel:} and {@code redis-cluster:} URLs, and of {@code rediss:},
 * {@code rediss-sentinel:} and {@code rediss-cluster:} ones, over TLS.
 */
public final class RedisProvider implements StoreProvider {
    /** For {@link java.util.ServiceLoader}. */
    public RedisProvider() {}

    @Override
    public Set<String> schemes() {
        return Set.of("redis", "rediss", "redis-sentinel", "rediss-sentinel", "redis-cluster", "rediss-cluster");
    }

    @Override
    public LockStore open(StoreUrl url) {
        try {
            return RedisSetup.open(url);
        } catch (NoClassDefFoundError e) {
            throw noJedis(url, e);
        }
    }

    /** Jedis, or something that it needs, cannot be found. */
    static IllegalArgumentException noJedis(StoreUrl url, NoClassDefFoundError e) {
        return new IllegalArgumentException(
                "the client for " + url.scheme() + ": URLs is not on the path, or not all of it (" + e.getMessage()
                        + "); add redis.clients:jedis with what it depends on",
                e);
    }
}
