// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis;

import io.lockkeeper.tck.LockStoreTck;
import io.lockkeeper.tck.StoreFixture;
import io.lockkeeper.testservers.RedisServer;
import java.util.List;
import redis.clients.jedis.HostAndPort;

/** A Redis obeys the law. */
class RedisTckTest extends LockStoreTck {
    @Override
    protected StoreFixture start() {
        RedisServer server = RedisServer.start();
        return new RedisFixture(
                "redis://" + server.address(), () -> List.of(new HostAndPort(server.host(), server.port())), server);
    }
}
