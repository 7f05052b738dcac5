// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis;

import io.lockkeeper.tck.LockStoreTck;
import io.lockkeeper.tck.StoreFixture;
import io.lockkeeper.testservers.DebianRelease;
import io.lockkeeper.testservers.RedisServer;
import org.junit.jupiter.api.Tag;

/** Redis 6.0 obeys the rules. */
@Tag("full")
class Redis6TckTest extends LockStoreTck {
    @Override
    protected StoreFixture start() {
        return RedisFixture.of(RedisServer.start(DebianRelease.of("bullseye", "redis-server"), "usr/bin/redis-server"));
    }
}
