// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.benchmarks.zookeeper;

import io.lockkeeper.benchmarks.race.Contender.Held;
import io.lockkeeper.benchmarks.race.Contender.Kept;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.ExponentialBackoffRetry;

/** Connections as Curator's own examples make them, with the session of ours. */
final class Clients {
    private static final int SESSION_MILLIS = 10_000;
    private static final int CONNECT_MILLIS = 3_000;

    private Clients() {}

    static CuratorFramework open(String addresses) throws InterruptedException {
        CuratorFramework curator = CuratorFrameworkFactory.newClient(
                addresses, SESSION_MILLIS, CONNECT_MILLIS, new ExponentialBackoffRetry(1_000, 3));
        curator.start();
        if (!curator.blockUntilConnected(60, TimeUnit.SECONDS)) {
            curator.close();
            throw new IllegalStateException("ZooKeeper cannot be reached");
        }
        return curator;
    }

    /** What the session keeps by itself. */
    static Kept kept(CuratorFramework curator, Held[] held) {
        return new Kept() {
            @Override
            public int alive() {
                return curator.getZookeeperClient().isConnected() ? held.length : 0;
            }

            @Override
            public void release() throws Exception {
                for (Held each : held) {
                    each.release();
                }
            }
        };
    }
}
