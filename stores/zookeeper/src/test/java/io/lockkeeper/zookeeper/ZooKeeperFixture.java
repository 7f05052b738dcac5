// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.zookeeper;

import io.lockkeeper.spi.LockStore;
import io.lockkeeper.spi.StoreUrl;
import io.lockkeeper.tck.StoreFixture;
import java.util.Optional;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZKUtil;

/** ZooKeeper under test, by its URL. */
final class ZooKeeperFixture implements StoreFixture {
    private final String url;
    private final AutoCloseable server;
    private final CuratorFramework own;

    ZooKeeperFixture(String addresses, AutoCloseable server) {
        this.url = "zookeeper://" + addresses + "?session=6s&operationTimeout=5s";
        this.server = server;
        this.own = CuratorFrameworkFactory.newClient(addresses, new RetryOneTime(100));
        own.start();
    }

    /** The paths of the contract's names are long: some 5,000 take all that one session may have. */
    @Override
    public int mostHolds() {
        return 4_000;
    }

    @Override
    public LockStore connect() {
        return new ZooKeeperProvider().open(StoreUrl.parse(url));
    }

    @Override
    public Optional<String> url() {
        return Optional.of(url);
    }

    /** All nodes of names and latches; not the buckets, which stay. */
    @Override
    public long size() {
        try {
            own.sync().forPath("/lockkeeper");
            return size("/lockkeeper/n") + size("/lockkeeper/l");
        } catch (KeeperException.NoNodeException e) {
            return size(); // the server has just removed a container
        } catch (Exception e) {
            throw new IllegalStateException("the nodes cannot be counted", e);
        }
    }

    private long size(String kind) throws Exception {
        if (own.checkExists().forPath(kind) == null) {
            return 0;
        }
        long buckets = own.getChildren().forPath(kind).size();
        return ZKUtil.listSubTreeBFS(own.getZookeeperClient().getZooKeeper(), kind)
                        .size()
                - 1
                - buckets;
    }

    @Override
    public void close() {
        own.close();
        try {
            server.close();
        } catch (Exception e) {
            throw new IllegalStateException("the server did not end", e);
        }
    }
}
