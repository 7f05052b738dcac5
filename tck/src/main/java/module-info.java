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

    // JUnit calls the tests of the groups by reflection.
    opens io.lockkeeper.tck;
    opens io.lockkeeper.tck.history;
    opens io.lockkeeper.tck.keeper;
    opens io.lockkeeper.tck.misuse;
    opens io.lockkeeper.tck.model;
    opens io.lockkeeper.tck.nemesis;
    opens io.lockkeeper.tck.primitives;
    opens io.lockkeeper.tck.process;
    opens io.lockkeeper.tck.rules;
    opens io.lockkeeper.tck.support;
}
