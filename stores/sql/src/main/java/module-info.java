// SPDX-License-Identifier: Apache-2.0
/** Locks in relational databases. */
module io.lockkeeper.sql {
    requires transitive io.lockkeeper.core;
    requires static transitive org.jspecify;
    requires transitive java.sql;
    requires com.zaxxer.hikari;
    requires static org.checkerframework.checker.qual;
    requires static org.postgresql.jdbc;
    requires static org.xerial.sqlitejdbc;

    exports io.lockkeeper.sql;

    provides io.lockkeeper.spi.StoreProvider with
            io.lockkeeper.sql.FileProvider,
            io.lockkeeper.sql.SqlProvider;
}
