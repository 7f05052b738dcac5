// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck;

import io.lockkeeper.spi.LockStore;
import io.lockkeeper.spi.StoreProvider;
import io.lockkeeper.spi.StoreUrl;
import java.time.Duration;
import java.util.Set;

/** {@code tckbridge://PORT} is a store in another JVM of this machine, behind a {@link BridgeServer}. */
public final class BridgeProvider implements StoreProvider {
    @Override
    public Set<String> schemes() {
        return Set.of("tckbridge");
    }

    @Override
    public LockStore open(StoreUrl url) {
        url.allowOnly(Set.of("operationTimeout", "patience"));
        int port = Integer.parseInt(url.rest().substring("//".length()));
        return new BridgeStore(port, url.duration("operationTimeout").orElse(Duration.ofSeconds(1)));
    }
}
