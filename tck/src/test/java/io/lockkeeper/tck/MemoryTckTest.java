// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck;

import io.lockkeeper.memory.MemoryCore;
import io.lockkeeper.memory.MemoryStore;
import io.lockkeeper.spi.LockStore;
import java.util.Optional;

/** The memory store obeys the law. */
class MemoryTckTest extends LockStoreTck {
    @Override
    protected StoreFixture start() {
        MemoryCore core = MemoryCore.system();
        return new StoreFixture() {
            @Override
            public LockStore connect() {
                return new MemoryStore(core);
            }

            @Override
            public Optional<String> url() {
                return Optional.empty();
            }

            @Override
            public long size() {
                return core.size();
            }

            @Override
            public void close() {}
        };
    }
}
