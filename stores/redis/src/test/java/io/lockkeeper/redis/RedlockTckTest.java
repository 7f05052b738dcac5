// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis;

import io.lockkeeper.tck.LockStoreTck;
import io.lockkeeper.tck.StoreFixture;
import io.lockkeeper.testservers.RedisServer;
import java.util.List;

/** A quorum of three Redis servers obeys the rules, as far as it promises to. */
class RedlockTckTest extends LockStoreTck {
    @Override
    protected StoreFixture start() {
        return new RedlockFixture(List.of(RedisServer.start(), RedisServer.start(), RedisServer.start()));
    }
}
