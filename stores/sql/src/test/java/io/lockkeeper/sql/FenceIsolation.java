// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lockkeeper.Mode;
import io.lockkeeper.Sequencer;
import io.lockkeeper.StaleTokenException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Two holders of one name around the same row, in transactions of one isolation level: the second one enters while the first one,
 * which had entered before and so changes no mark, has written but not committed.
 */
final class FenceIsolation implements AutoCloseable {
    /** Opens connections to one database. */
    @FunctionalInterface
    interface Source {
        Connection connect() throws SQLException;
    }

    private static final Sequencer FIRST = new Sequencer("account", Mode.EXCLUSIVE, 33);
    private static final Sequencer SUCCESSOR = new Sequencer("account", Mode.EXCLUSIVE, 34);

    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final String prefix = Db.freshPrefix();
    private final SqlOptions options = SqlOptions.defaults().tablePrefix(prefix);
    private final Source source;
    private final int level;
    private final String data;

    FenceIsolation(Source source, int level) throws SQLException {
        this.source = source;
        this.level = level;
        try (Connection connection = source.connect();
                Statement s = connection.createStatement()) {
            JdbcFence.createTable(connection, options);
            data = options.table(Dialect.of(connection), "data");
            s.execute("CREATE TABLE " + data + " (id INTEGER PRIMARY KEY, balance INTEGER)");
            s.execute("INSERT INTO " + data + " VALUES (1, 100)");
        }
    }

    private Connection begin() throws SQLException {
        Connection connection = source.connect();
        try (Statement s = connection.createStatement()) {
            if (Dialect.of(connection) == Dialect.SQLITE) {
                s.execute("PRAGMA busy_timeout = 30000");
            }
        }
        connection.setTransactionIsolation(level);
        connection.setAutoCommit(false);
        return connection;
    }

    private int balance(Connection connection) throws SQLException {
        try (Statement s = connection.createStatement();
                ResultSet row = s.executeQuery("SELECT balance FROM " + data + " WHERE id = 1")) {
            assertThat(row.next()).isTrue();
            return row.getInt(1);
        }
    }

    private void write(Connection connection, int balance) throws SQLException {
        try (Statement s = connection.createStatement()) {
            assertThat(s.executeUpdate("UPDATE " + data + " SET balance = " + balance + " WHERE id = 1"))
                    .isEqualTo(1);
        }
    }

    private void enter(Connection connection, Sequencer sequencer) throws SQLException {
        JdbcFence.in(connection, options).enter(sequencer);
    }

    /** The successor reads what its predecessor committed, which then writes no more. */
    void works() throws Exception {
        try (Connection first = begin();
                Connection second = begin()) {
            enter(first, FIRST);
            first.commit();
            enter(first, FIRST);
            write(first, 90);
            Future<Integer> read = threads.submit(() -> {
                enter(second, SUCCESSOR);
                return balance(second);
            });
            assertThatThrownBy(() -> read.get(300, TimeUnit.MILLISECONDS))
                    .as("the successor waits for the transaction that has entered")
                    .isInstanceOf(TimeoutException.class);
            first.commit();
            assertThat(read.get(30, TimeUnit.SECONDS))
                    .as("what the successor reads")
                    .isEqualTo(90);
            second.commit();
            assertThatThrownBy(() -> enter(first, FIRST)).isInstanceOf(StaleTokenException.class);
            first.rollback();
            enter(second, SUCCESSOR);
            write(second, balance(second) - 10);
            second.commit();
            assertThat(balance(first)).isEqualTo(80);
            first.rollback();
        }
    }

    /** Nobody enters, and nothing is read: not even whether the table of the marks is there. */
    void isRejected() throws Exception {
        try (Connection connection = begin()) {
            for (SqlOptions tables : Set.of(options, SqlOptions.defaults().tablePrefix("none_"))) {
                assertThatThrownBy(() -> JdbcFence.in(connection, tables).enter(FIRST))
                        .isInstanceOf(IllegalStateException.class)
                        .hasMessageContaining("READ COMMITTED")
                        .hasMessageContaining("setTransactionIsolation");
            }
            connection.rollback();
            connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
            enter(connection, FIRST);
            connection.rollback();
        }
    }

    @Override
    public void close() {
        threads.shutdownNow();
    }
}
