// SPDX-License-Identifier: Apache-2.0
/** The lock API, the engine behind it, and the memory store. */
module io.lockkeeper.core {
    requires static transitive org.jspecify;

    exports io.lockkeeper;
    exports io.lockkeeper.spi;
    exports io.lockkeeper.model to
            io.lockkeeper.testkit,
            io.lockkeeper.tck,
            io.lockkeeper.sql,
            io.lockkeeper.cell;
    exports io.lockkeeper.memory to
            io.lockkeeper.testkit,
            io.lockkeeper.tck,
            io.lockkeeper.cell;
    exports io.lockkeeper.quorum to
            io.lockkeeper.redis,
            io.lockkeeper.tck;

    uses io.lockkeeper.spi.StoreProvider;

    provides io.lockkeeper.spi.StoreProvider with
            io.lockkeeper.memory.MemoryProvider;
}
