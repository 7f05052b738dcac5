// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.benchmarks.zookeeper;

import io.lockkeeper.benchmarks.race.StoreSetup;
import io.lockkeeper.benchmarks.race.Suite;
import java.util.List;

/** ZooKeeper that flushes every transaction, as it does by itself: one server, and an ensemble of three. */
public final class ZooKeeperSuite implements Suite {
    @Override
    public String name() {
        return "zookeeper";
    }

    @Override
    public List<StoreSetup> stores() {
        return List.of(Topology.values());
    }
}
