// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis;

import io.lockkeeper.tck.LockStoreTck;
import io.lockkeeper.tck.StoreFixture;
import io.lockkeeper.testservers.RedisSentinels;
import io.lockkeeper.testservers.RedisServer;
import java.time.Duration;
import java.util.List;
import redis.clients.jedis.HostAndPort;

/** A Redis that Sentinels watch over obeys the rules. They are patient: a busy machine is no reason to fail over. */
class RedisSentinelTckTest extends LockStoreTck {
    @Override
    protected StoreFixture start() {
        RedisSentinels set = RedisSentinels.start(Duration.ofMinutes(1));
        RedisServer master = set.master();
        return new RedisFixture(
                "redis-sentinel://" + set.addresses() + "/0#" + RedisSentinels.MASTER,
                () -> List.of(new HostAndPort(master.host(), master.port())),
                set);
    }
}
