// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.zookeeper;

import io.lockkeeper.spi.LockStore;
import io.lockkeeper.spi.StoreProvider;
import io.lockkeeper.spi.StoreUrl;
import java.util.Set;

/**
 * Opens {@code zookeeper://[USER:SECRET@]HOST[:PORT],…[/CHROOT]}. A client that has authenticated, by these credentials
 * (digest) or by ZooKeeper's own settings (SASL, TLS), owns the nodes that it creates, unless {@code acl=world} is
 * given.
 */
public final class ZooKeeperProvider implements StoreProvider {
    /** For {@link java.util.ServiceLoader}. */
    public ZooKeeperProvider() {}

    @Override
    public Set<String> schemes() {
        return Set.of("zookeeper");
    }

    @Override
    public LockStore open(StoreUrl url) {
        try {
            return ZooKeeperSetup.open(url);
        } catch (NoClassDefFoundError e) {
            throw new IllegalArgumentException(
                    "the client for zookeeper: URLs is not on the path, or not all of it (" + e.getMessage()
                            + "); add org.apache.curator:curator-framework with what it depends on",
                    e);
        }
    }
}
