// SPDX-License-Identifier: Apache-2.0
/** Tools to test code that uses locks. */
module io.lockkeeper.testkit {
    requires transitive io.lockkeeper.core;
    requires static transitive org.jspecify;

    exports io.lockkeeper.testkit;
    exports io.lockkeeper.testkit.fleet;
    exports io.lockkeeper.testkit.history;
}
