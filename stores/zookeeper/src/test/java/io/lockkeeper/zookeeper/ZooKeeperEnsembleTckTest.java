// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.zookeeper;

import io.lockkeeper.tck.LockStoreTck;
import io.lockkeeper.tck.StoreFixture;
import io.lockkeeper.testservers.ZooKeeperEnsemble;

/** A ZooKeeper ensemble of three obeys the rules. */
class ZooKeeperEnsembleTckTest extends LockStoreTck {
    @Override
    protected StoreFixture start() {
        ZooKeeperEnsemble ensemble = ZooKeeperEnsemble.start();
        return new ZooKeeperFixture(ensemble.addresses(), ensemble);
    }
}
