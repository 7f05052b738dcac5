// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.sql.Connection;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Locks that live as long as the caller's transaction. */
class SqlLocksTest {
    private final ExecutorService threads = Executors.newCachedThreadPool();

    private static SqlOptions tables(Db db) {
        String prefix = Db.freshPrefix();
        Db.open(Db.with(db.url(), "lockkeeper.tablePrefix=" + prefix)).close();
        return SqlOptions.defaults().tablePrefix(prefix);
    }

    private static Connection begin(Db db) throws Exception {
        Connection connection = db.connect();
        connection.setAutoCommit(false);
        return connection;
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
    void itIsHeldUntilCommitOrRollback(Db db) throws Exception {
        SqlOptions options = tables(db);
        for (boolean commit : new boolean[] {true, false}) {
            try (Connection first = begin(db);
                    Connection second = begin(db);
                    Connection third = begin(db)) {
                SqlLocks.inTransaction(first, "Straße 1", options);
                SqlLocks.inTransaction(first, "Straße 1", options); // again does no harm
                SqlLocks.inTransaction(third, "straße 1", options); // another name
                AtomicInteger order = new AtomicInteger();
                Future<Integer> waiting = threads.submit(() -> {
                    SqlLocks.inTransaction(second, "Straße 1", options);
                    return order.incrementAndGet();
                });
                assertThatThrownBy(() -> waiting.get(300, TimeUnit.MILLISECONDS))
                        .isInstanceOf(java.util.concurrent.TimeoutException.class);
                assertThat(order.incrementAndGet()).isEqualTo(1);
                if (commit) {
                    first.commit();
                } else {
                    first.rollback();
                }
                assertThat(waiting.get(30, TimeUnit.SECONDS)).isEqualTo(2);
                second.rollback();
            }
        }
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
    void onlyOneTransactionAtATimeIsInside(Db db) throws Exception {
        SqlOptions options = tables(db);
        AtomicInteger inside = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        List<Future<?>> all = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            all.add(threads.submit(() -> {
                for (int n = 0; n < 10; n++) {
                    try (Connection connection = begin(db)) {
                        lock(connection, options);
                        most.accumulateAndGet(inside.incrementAndGet(), Math::max);
                        inside.decrementAndGet();
                        connection.commit();
                    }
                }
                return true;
            }));
        }
        for (Future<?> each : all) {
            each.get(60, TimeUnit.SECONDS);
        }
        assertThat(most).hasValue(1);
    }

    /** Two transactions that use a name for the first time may meet a deadlock, which the loser repeats. */
    private static void lock(Connection connection, SqlOptions options) throws Exception {
        while (true) {
            try {
                SqlLocks.inTransaction(connection, "counter", options);
                return;
            } catch (java.sql.SQLException e) {
                assertThat(e.getSQLState()).startsWith("40");
                connection.rollback();
            }
        }
    }

    @Test
    void sqliteSaysThatItCannot() throws Exception {
        try (Connection connection = begin(Db.SQLITE)) {
            assertThatThrownBy(() -> SqlLocks.inTransaction(connection, "a"))
                    .isInstanceOf(UnsupportedOperationException.class)
                    .hasMessageContaining("BEGIN IMMEDIATE");
        }
    }

    @Test
    void autocommitIsRefused() throws Exception {
        try (Connection connection = Db.POSTGRESQL.connect()) {
            assertThatThrownBy(() -> SqlLocks.inTransaction(connection, "a")).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(() -> SqlLocks.inTransaction(connection, ""))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"POSTGRESQL", "H2"})
    void aTransactionThatWouldSeeWhatWasBeforeIsRefused(Db db) throws Exception {
        try (Connection connection = begin(db)) {
            for (int level : new int[] {Connection.TRANSACTION_REPEATABLE_READ, Connection.TRANSACTION_SERIALIZABLE}) {
                connection.setTransactionIsolation(level);
                assertThatThrownBy(() -> SqlLocks.inTransaction(connection, "a"))
                        .isInstanceOf(IllegalStateException.class)
                        .hasMessageContaining("READ COMMITTED");
                connection.rollback();
            }
        }
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
    void whatTheLastHolderWroteIsSeen(Db db) throws Exception {
        SqlOptions options = tables(db);
        String mine = Db.freshPrefix() + "mine";
        db.execute("CREATE TABLE " + mine + " (x INTEGER)", "INSERT INTO " + mine + " VALUES (0)");
        List<Future<?>> all = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            all.add(threads.submit(() -> {
                for (int n = 0; n < 10; n++) {
                    try (Connection connection = begin(db);
                            java.sql.Statement s = connection.createStatement()) {
                        lock(connection, options);
                        int x;
                        try (java.sql.ResultSet row = s.executeQuery("SELECT x FROM " + mine)) {
                            row.next();
                            x = row.getInt(1);
                        }
                        s.execute("UPDATE " + mine + " SET x = " + (x + 1));
                        connection.commit();
                    }
                }
                return true;
            }));
        }
        for (Future<?> each : all) {
            each.get(60, TimeUnit.SECONDS);
        }
        assertThat(db.query("SELECT x FROM " + mine)).isEqualTo("40");
    }

    @Test
    void namesAreCheckedAsEverywhere() throws Exception {
        try (Connection connection = begin(Db.POSTGRESQL)) {
            SqlLocks.inTransaction(connection, "ä".repeat(256));
            for (String name : List.of("", "ä".repeat(257), "lone \ud800 surrogate")) {
                assertThatThrownBy(() -> SqlLocks.inTransaction(connection, name))
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining("a name");
            }
        }
    }

    @Test
    void keysAreFrozen() {
        assertThat(SqlLocks.key("a")).isEqualTo(-3848465438864589366L);
    }
}
