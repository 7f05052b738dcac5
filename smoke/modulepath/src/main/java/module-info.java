// SPDX-License-Identifier: Apache-2.0

module smoke {
    requires io.lockkeeper.core;
    requires io.lockkeeper.redis;
    requires io.lockkeeper.sql;
    requires io.lockkeeper.tck;
    requires io.lockkeeper.testkit;
}
