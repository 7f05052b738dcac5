// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import io.lockkeeper.StoreUnavailableException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** Makes the tables, and knows the store's id, which is kept in them. */
final class Tables {
    /** Clients that begin at the same moment may collide in the catalogue, and then look again for what the other has made. */
    private static final int ATTEMPTS = 40;

    private static final long PAUSE = 50_000_000;

    /** MariaDB and MySQL: no right to a table, or to a database. */
    private static final Set<Integer> MARIADB_REFUSED = Set.of(1142, 1044);

    /** MariaDB and MySQL: unknown database; H2: schema not found. */
    private static final Set<Integer> NO_SUCH_SCHEMA = Set.of(1049, 90079);

    private Tables() {}

    /**
     * Creates what is missing, if that is wanted, and gives the store's id.
     *
     * @param known the id that the store had before its tables vanished; otherwise null
     */
    static String open(Connections connections, Sql sql, boolean create, @Nullable String known) {
        return connections.autocommit(connection -> {
            Settings.check(connection, sql);
            if (!exists(connection, sql)) {
                if (!create) {
                    throw missing(sql);
                }
                create(connection, sql);
            }
            Settings.checkTables(connection, sql);
            String id = id(connection, sql);
            return id != null ? id : insertId(connection, sql, known);
        });
    }

    /** The statements that make the tables. */
    static List<String> ddl(Sql sql) {
        List<String> statements = new ArrayList<>(List.of(sql.text("create").split("\\s*;\\s*(\n|$)")));
        if (sql.dialect().locksRows()) {
            statements.add(sql.text("row_create"));
        }
        return List.copyOf(statements);
    }

    private static void create(Connection connection, Sql sql) throws SQLException {
        for (int attempt = 1; ; attempt++) {
            try (Statement s = connection.createStatement()) {
                for (String statement : ddl(sql)) {
                    s.execute(statement);
                }
                return;
            } catch (SQLException e) {
                if (attempt == ATTEMPTS || connection.isClosed()) {
                    throw e;
                }
                if (isMissingSchema(e)) {
                    throw noSchema(sql, e);
                }
                LockSupport.parkNanos(PAUSE);
                if (exists(connection, sql)) {
                    return;
                }
                if (isRefused(e)) {
                    throw mayNotCreate(connection, sql, e);
                }
            }
        }
    }

    private static boolean isMissingSchema(SQLException e) {
        return "3F000".equals(e.getSQLState()) || NO_SUCH_SCHEMA.contains(e.getErrorCode());
    }

    /** Schemas are made by the administrators of the database: no other client is about to make this one. */
    private static StoreUnavailableException noSchema(Sql sql, SQLException e) {
        String table = sql.table("lock");
        int dot = table.indexOf('.');
        String schema = dot > 0 ? table.substring(0, dot) : "of the connection";
        return StoreUnavailableException.lasting(
                "the schema " + schema + ", in which the tables of the store are to be, does not exist ("
                        + Failures.describe(e) + ": " + e.getMessage()
                        + "). Create it, or correct lockkeeper.schema",
                e);
    }

    private static boolean isRefused(SQLException e) {
        return "42501".equals(e.getSQLState()) || MARIADB_REFUSED.contains(e.getErrorCode());
    }

    /** The user of the connection lacks a right: says which, and what to do where it is not to have it. */
    private static StoreUnavailableException mayNotCreate(Connection connection, Sql sql, SQLException e)
            throws SQLException {
        boolean isPostgres = sql.dialect() == Dialect.POSTGRESQL;
        String table = sql.table("lock");
        int dot = table.indexOf('.');
        String own = isPostgres ? connection.getSchema() : connection.getCatalog();
        String schema = dot > 0
                ? table.substring(0, dot)
                : own == null ? "…" : sql.dialect().quoted(own);
        String user = connection.getMetaData().getUserName();
        String grant = isPostgres
                ? "GRANT USAGE, CREATE ON SCHEMA " + schema + " TO "
                        + sql.dialect().quoted(user)
                : "GRANT CREATE, SELECT, INSERT, UPDATE, DELETE ON " + schema + ".* TO " + user;
        return StoreUnavailableException.lasting(
                "the user " + user + " may not create the tables of the store (" + e.getMessage() + "). Let it: "
                        + grant
                        + ". Or make them as another user, with what 'lockkeeper ddl' or SqlStore.ddl(…) gives, grant"
                        + " SELECT, INSERT, UPDATE and DELETE on them, and set lockkeeper.createTables=false",
                e);
    }

    private static boolean exists(Connection connection, Sql sql) throws SQLException {
        try (PreparedStatement s = sql.prepare(connection, "exists", Map.of());
                ResultSet row = s.executeQuery()) {
            return row.next();
        } catch (SQLException e) {
            if (Failures.isMissingTable(e)) {
                return false;
            }
            if (isMissingSchema(e)) {
                throw noSchema(sql, e);
            }
            throw e;
        }
    }

    private static StoreUnavailableException missing(Sql sql) {
        return StoreUnavailableException.lasting(
                "the tables of the store are missing and are not to be created; make them with what 'lockkeeper ddl'"
                        + " or SqlStore.ddl(…) gives: "
                        + sql.table("lock") + ", " + sql.table("claim") + ", " + sql.table("latch") + ", "
                        + sql.table("meta"),
                null);
    }

    private static @Nullable String id(Connection connection, Sql sql) throws SQLException {
        try (PreparedStatement s = sql.prepare(connection, "meta_select", Map.of());
                ResultSet row = s.executeQuery()) {
            if (!row.next()) {
                return null;
            }
            Format.check(row.getInt("format"));
            return row.getString("id");
        }
    }

    private static String insertId(Connection connection, Sql sql, @Nullable String known) throws SQLException {
        String fresh = known != null ? known : UUID.randomUUID().toString();
        try {
            sql.execute(connection, "meta_insert", Map.of("id", fresh));
            return fresh;
        } catch (SQLException e) {
            // Another client was first: its id counts.
            String id = id(connection, sql);
            if (id == null) {
                throw e;
            }
            return id;
        }
    }
}
