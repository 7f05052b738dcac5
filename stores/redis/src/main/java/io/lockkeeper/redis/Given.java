// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis;

import redis.clients.jedis.JedisCluster;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.RedisClusterClient;
import redis.clients.jedis.RedisSentinelClient;
import redis.clients.jedis.UnifiedJedis;

/** The servers of a client that the user gave us. */
final class Given {
    private Given() {}

    @SuppressWarnings("deprecation") // JedisCluster is old, not wrong
    static Servers servers(UnifiedJedis client) {
        if (client instanceof RedisClient one) {
            return new Standalone(new PooledNode("the client's server", one::getPool), false);
        }
        if (client instanceof RedisSentinelClient sentinels) {
            return new Standalone(
                    new PooledNode("the client's master", () -> sentinels
                            .getPrimaryNodesConnectionMap()
                            .values()
                            .iterator()
                            .next()),
                    true);
        }
        if (client instanceof RedisClusterClient cluster) {
            return Cluster.of(cluster::getClusterNodes, () -> cluster.exists("lockkeeper"));
        }
        if (client instanceof JedisCluster cluster) {
            return Cluster.of(cluster::getClusterNodes, () -> cluster.exists("lockkeeper"));
        }
        throw new IllegalArgumentException("a " + client.getClass().getSimpleName()
                + " cannot keep locks; allowed are RedisClient, RedisSentinelClient and RedisClusterClient");
    }
}
