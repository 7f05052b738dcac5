// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.benchmarks.sql;

import io.lockkeeper.benchmarks.race.StoreSetup;
import io.lockkeeper.benchmarks.race.Suite;
import java.util.List;

/** PostgreSQL and MariaDB as durable as they are by themselves, and SQLite with every commit on disk. */
public final class SqlSuite implements Suite {
    @Override
    public String name() {
        return "sql";
    }

    @Override
    public List<StoreSetup> stores() {
        return List.of(Database.values());
    }
}
