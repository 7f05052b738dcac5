// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.zookeeper;

import io.lockkeeper.tck.LockStoreTck;
import io.lockkeeper.tck.StoreFixture;
import io.lockkeeper.testservers.ZooKeeperServer;

/** ZooKeeper obeys the rules. */
class ZooKeeperTckTest extends LockStoreTck {
    @Override
    protected StoreFixture start() {
        ZooKeeperServer server = ZooKeeperServer.start();
        return new ZooKeeperFixture(server.address(), server);
    }
}
