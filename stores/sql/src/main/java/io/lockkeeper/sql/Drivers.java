// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import io.lockkeeper.spi.StoreUrl;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** The drivers of the databases that are supported; users bring them. */
final class Drivers {
    private static final Map<String, String> ARTIFACTS = Map.of(
            "postgresql", "org.postgresql:postgresql",
            "mariadb", "org.mariadb.jdbc:mariadb-java-client",
            "mysql", "com.mysql:mysql-connector-j",
            "sqlite", "org.xerial:sqlite-jdbc",
            "h2", "com.h2database:h2");

    /** Databases that are often asked for. There may be a driver for them, and their URLs look different from ours. */
    private static final Set<String> UNSUPPORTED = Set.of(
            "oracle",
            "sqlserver",
            "jtds",
            "db2",
            "as400",
            "derby",
            "hsqldb",
            "sybase",
            "sap",
            "informix-sqli",
            "firebird",
            "firebirdsql",
            "snowflake",
            "clickhouse",
            "ch",
            "duckdb");

    private Drivers() {}

    /**
     * Rejects databases that cannot be used with any driver.
     *
     * @param database as the URL names it, in lower case
     */
    static void check(String database) {
        if (UNSUPPORTED.contains(database)) {
            throw new IllegalArgumentException(missing(database));
        }
    }

    /**
     * What to do when there is no driver for a URL.
     *
     * @param database as the URL names it
     */
    static String missing(String database) {
        @Nullable String artifact = ARTIFACTS.get(database.toLowerCase(Locale.ROOT));
        return artifact != null
                ? "no JDBC driver for jdbc:" + database + ": is on the path; add " + artifact
                : "jdbc:" + StoreUrl.shown(database) + ": is not supported; supported are jdbc: URLs of "
                        + String.join(", ", new TreeSet<>(ARTIFACTS.keySet()));
    }
}
