// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import io.lockkeeper.spi.LockStore;
import io.lockkeeper.tck.StoreFixture;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;

/** A database under test, by its URL. */
final class SqlFixture implements StoreFixture {
    /** The errors of PostgreSQL, MariaDB, MySQL and H2 for a row that another transaction has locked. */
    private static final Set<String> LOCKED =
            Set.of("55P03 0", "HY000 1205", "40001 1205", "HY000 3572", "HYT00 50200");

    private final String url;
    private final AutoCloseable server;
    private final SqlStore own;

    SqlFixture(String url, AutoCloseable server) {
        this.url = url;
        this.server = server;
        this.own = open();
    }

    private SqlStore open() {
        return Db.open(url);
    }

    @Override
    public LockStore connect() {
        return open();
    }

    @Override
    public Optional<String> url() {
        return Optional.of(Db.with(url, "operationTimeout=5s"));
    }

    @Override
    public long size() {
        own.purge(Duration.ZERO);
        return own.size();
    }

    @Override
    public boolean letsOthersIn() {
        return url.startsWith("jdbc:sqlite:") ? Db.isWritable(url) : hasNoLockedRow();
    }

    /** Whether no client, such as one that is paused, is in the middle of a transaction. */
    private boolean hasNoLockedRow() {
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            try {
                String quote = url.startsWith("jdbc:h2:") ? "\"" : "";
                statement.execute("SELECT 1 FROM " + quote + "lockkeeper_lock" + quote + " FOR UPDATE NOWAIT");
                return true;
            } finally {
                connection.rollback();
            }
        } catch (SQLException e) {
            if (LOCKED.contains(e.getSQLState() + " " + e.getErrorCode())) {
                return false;
            }
            throw new IllegalStateException("the rows cannot be locked at all", e);
        }
    }

    @Override
    public void close() {
        own.close();
        try {
            server.close();
        } catch (Exception e) {
            throw new IllegalStateException("the server did not end", e);
        }
    }
}
