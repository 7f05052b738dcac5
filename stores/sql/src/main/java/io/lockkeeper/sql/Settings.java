// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import io.lockkeeper.StoreUnavailableException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Rejects a database in whose settings our statements would fail, or would treat two names as one. */
final class Settings {
    /** MariaDB: the first has another syntax; in both, an empty text is NULL or may be. */
    private static final List<String> REFUSED_SQL_MODES = List.of("ORACLE", "EMPTY_STRING_IS_NULL");

    /** H2: the others know no LIMIT, or an empty text is NULL there. */
    private static final List<String> H2_MODES =
            List.of("REGULAR", "LEGACY", "PostgreSQL", "MySQL", "MariaDB", "DB2", "HSQLDB");

    private Settings() {}

    /**
     * Looks at the settings, before any table is made.
     *
     * @throws StoreUnavailableException when one is unsuitable
     */
    static void check(Connection connection, Sql sql) throws SQLException {
        if (!sql.has("settings")) {
            return;
        }
        Map<String, @Nullable String> found = new HashMap<>();
        sql.query(connection, new Sql.Step("settings", Map.of()), row -> {
            while (row.next()) {
                found.put(row.getString(1), row.getString(2));
            }
        });
        if (sql.dialect() == Dialect.H2) {
            checkMode(found.get("MODE"));
            checkCollation(found.get("COLLATION"));
        } else {
            checkSqlMode(found.get("sql_mode"));
        }
    }

    private static void checkSqlMode(@Nullable String modes) {
        List<String> all = modes == null ? List.of() : Arrays.asList(modes.split(","));
        for (String refused : REFUSED_SQL_MODES) {
            if (all.contains(refused)) {
                throw unsuitable("sql_mode is '" + modes + "'; not allowed in it is " + refused
                        + ", in which the statements of the store do not work. Set another one for its connections, such as"
                        + " with sessionVariables=sql_mode='STRICT_TRANS_TABLES' in the URL");
            }
        }
    }

    private static void checkMode(@Nullable String mode) {
        if (mode != null && !H2_MODES.contains(mode)) {
            throw unsuitable("MODE is '" + mode + "'; allowed are " + String.join(", ", H2_MODES)
                    + ": in others the statements of the store do not work. Change it in the URL, or use a separate"
                    + " database for the locks");
        }
    }

    private static void checkCollation(@Nullable String collation) {
        if (collation != null && !collation.equals("OFF")) {
            throw unsuitable("COLLATION is '" + collation + "'; allowed is OFF, the default: others treat different"
                    + " names as equal, or order them differently. SET COLLATION OFF works as long as there is no table; otherwise"
                    + " use a separate database for the locks");
        }
    }

    /**
     * Looks at the tables, which keep what was set when they were made.
     *
     * @throws StoreUnavailableException when they treat two names as one
     */
    static void checkTables(Connection connection, Sql sql) throws SQLException {
        if (!sql.has("case_matters")) {
            return;
        }
        sql.query(connection, new Sql.Step("case_matters", Map.of()), row -> {
            if (row.next() && !row.getBoolean(1)) {
                throw unsuitable("the tables of the store, such as " + sql.table("lock") + ", treat names as equal that"
                        + " differ only in case: IGNORECASE was TRUE when they were made. Drop all of them while nobody uses"
                        + " them; they are created again unless lockkeeper.createTables=false");
            }
        });
    }

    private static StoreUnavailableException unsuitable(String what) {
        return StoreUnavailableException.lasting("the database is unsuitable: " + what, null);
    }
}
