// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.benchmarks.sql;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;

/** The same pool for the floor and the peers, of the size of Lockkeeper's own. */
final class Pools {
    private static final int SIZE = 8;

    private Pools() {}

    static HikariDataSource open(Database database, String url) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(url);
        config.setMaximumPoolSize(database == Database.SQLITE ? 1 : SIZE);
        switch (database) {
            // otherwise an update that changes nothing counts as one that does
            case MARIADB -> config.addDataSourceProperty("useAffectedRows", "true");
            case SQLITE -> {
                config.addDataSourceProperty("journal_mode", "WAL");
                config.addDataSourceProperty("synchronous", "FULL");
                config.addDataSourceProperty("busy_timeout", "30000");
                // a transaction that begins as a reader may fail when it writes
                config.addDataSourceProperty("transaction_mode", "IMMEDIATE");
            }
            case POSTGRESQL -> {}
        }
        return new HikariDataSource(config);
    }
}
