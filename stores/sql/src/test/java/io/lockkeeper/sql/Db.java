// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import io.lockkeeper.spi.StoreUrl;
import io.lockkeeper.testservers.MariaDbServer;
import io.lockkeeper.testservers.PostgresServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/** The databases, each started once for all tests of a JVM; every test has its own tables. */
enum Db {
    POSTGRESQL("PostgreSQL"),
    MARIADB("MariaDB"),
    SQLITE("SQLite"),
    H2("H2");

    private static final int SQLITE_BUSY = 5;
    private static final AtomicInteger PREFIXES = new AtomicInteger();
    private static final Map<Db, String> URLS = new ConcurrentHashMap<>();

    private final String product;

    Db(String product) {
        this.product = product;
    }

    /** Whether a SQLite file can be written to now, or within a second. */
    static boolean isWritable(String sqlite) {
        try (Connection connection = DriverManager.getConnection(sqlite);
                Statement statement = connection.createStatement()) {
            statement.execute("PRAGMA busy_timeout = 1000");
            statement.execute("BEGIN IMMEDIATE");
            statement.execute("ROLLBACK");
            return true;
        } catch (SQLException e) {
            if (e.getErrorCode() == SQLITE_BUSY) {
                return false;
            }
            throw new IllegalStateException("the file cannot be written to at all", e);
        }
    }

    String product() {
        return product;
    }

    /** The URL of the database. */
    String url() {
        return URLS.computeIfAbsent(this, Db::start);
    }

    private static String start(Db db) {
        return switch (db) {
            case POSTGRESQL -> PostgresServer.start().jdbcUrl();
            case MARIADB -> MariaDbServer.start().jdbcUrl();
            case SQLITE -> "jdbc:sqlite:" + folder().resolve("locks.db");
            case H2 -> "jdbc:h2:" + folder().resolve("locks") + ";AUTO_SERVER=TRUE";
        };
    }

    /** The URL of a store in tables that no other test uses. */
    String freshUrl() {
        return with(url(), "lockkeeper.tablePrefix=" + freshPrefix());
    }

    static String freshPrefix() {
        return "t" + PREFIXES.incrementAndGet() + "_";
    }

    static String with(String url, String parameter) {
        return url + (url.contains("?") ? "&" : "?") + parameter;
    }

    /** A store as a keeper would open it, with an operation timeout for busy machines. */
    static SqlStore open(String url) {
        return (SqlStore) new SqlProvider().open(StoreUrl.parse(with(url, "operationTimeout=5s")));
    }

    /** A plain connection. */
    Connection connect() throws SQLException {
        return DriverManager.getConnection(url());
    }

    /** Runs a statement on its own connection. */
    void execute(String... statements) throws SQLException {
        try (Connection connection = connect();
                Statement s = connection.createStatement()) {
            for (String statement : statements) {
                s.execute(statement);
            }
        }
    }

    /** The first value of the first row. */
    String query(String query) throws SQLException {
        try (Connection connection = connect();
                Statement s = connection.createStatement();
                ResultSet row = s.executeQuery(query)) {
            return row.next() ? row.getString(1) : null;
        }
    }

    /** The full name of a table, quoted. */
    String table(String prefix, String name) {
        return SqlOptions.defaults().tablePrefix(prefix).table(Dialect.of(product), name);
    }

    private static Path folder() {
        try {
            Path folder = Files.createTempDirectory("lockkeeper-sql");
            folder.toFile().deleteOnExit();
            return folder;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
