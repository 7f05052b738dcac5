// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis;

import io.lockkeeper.tck.LockStoreTck;
import io.lockkeeper.tck.StoreFixture;
import io.lockkeeper.testservers.RedisCluster;
import java.time.Duration;
import redis.clients.jedis.HostAndPort;

/** A Redis Cluster obeys the rules. It is patient: a busy machine is no reason to fail over. */
class RedisClusterTckTest extends LockStoreTck {
    @Override
    protected StoreFixture start() {
        RedisCluster cluster = RedisCluster.start(Duration.ofMinutes(1));
        return new RedisFixture(
                "redis-cluster://" + cluster.addresses(),
                () -> cluster.masters().stream()
                        .map(master -> new HostAndPort(master.host(), master.port()))
                        .toList(),
                cluster);
    }
}
