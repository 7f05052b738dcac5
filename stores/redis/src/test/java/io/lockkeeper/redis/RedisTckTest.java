// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis;

import io.lockkeeper.tck.LockStoreTck;
import io.lockkeeper.tck.StoreFixture;
import io.lockkeeper.testservers.RedisServer;

/** A Redis obeys the rules. */
class RedisTckTest extends LockStoreTck {
    @Override
    protected StoreFixture start() {
        return RedisFixture.of(RedisServer.start());
    }
}
