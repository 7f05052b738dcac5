// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck;

import io.lockkeeper.memory.MemoryCore;
import io.lockkeeper.memory.MemoryStore;
import io.lockkeeper.spi.LockStore;
import java.io.IOException;
import java.util.Optional;

/** The memory store passes the contract; other JVMs reach it over a bridge. */
class MemoryTckTest extends LockStoreTck {
    @Override
    protected StoreFixture start() throws IOException {
        MemoryCore core = MemoryCore.system();
        BridgeServer bridge = new BridgeServer(new MemoryStore(core));
        return new StoreFixture() {
            @Override
            public LockStore connect() {
                return new MemoryStore(core);
            }

            @Override
            public Optional<String> url() {
                return Optional.of(bridge.url());
            }

            @Override
            public long size() {
                return core.size();
            }

            @Override
            public void close() {
                bridge.close();
            }
        };
    }
}
