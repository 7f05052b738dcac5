// SPDX-License-Identifier: Apache-2.0
/** Locks in Redis. */
module io.lockkeeper.redis {
    requires transitive io.lockkeeper.core;
    requires static transitive org.jspecify;
    requires transitive redis.clients.jedis;
    requires org.apache.commons.pool2;
    requires org.slf4j; // Jedis needs it, and, being no module itself, cannot say so

    exports io.lockkeeper.redis;

    provides io.lockkeeper.spi.StoreProvider with
            io.lockkeeper.redis.RedisProvider,
            io.lockkeeper.redis.RedlockProvider;
}
