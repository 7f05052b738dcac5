// SPDX-License-Identifier: Apache-2.0
/** The contract that every store passes. */
module io.lockkeeper.tck {
    requires transitive io.lockkeeper.core;
    requires transitive io.lockkeeper.testkit;
    requires static transitive org.jspecify;
    requires transitive org.junit.jupiter.api;
    requires org.junit.jupiter.params;
    requires org.assertj.core;

    exports io.lockkeeper.tck;

    opens io.lockkeeper.tck;
}
