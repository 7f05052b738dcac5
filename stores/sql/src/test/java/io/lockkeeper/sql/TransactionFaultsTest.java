// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.spi.StoreUrl;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** No step runs outside its transaction, whatever has happened to the connection before (H99). */
class TransactionFaultsTest {
    @TempDir
    Path folder;

    /** A way to run a transaction. */
    enum Way {
        STEP,
        RENEWAL;

        <T> T run(SqlStore store, Connections.Work<T> work) {
            return this == STEP ? store.connections.transaction(work) : store.connections.renewalTransaction(work);
        }
    }

    private static void execute(Connection connection, String statement) throws SQLException {
        try (Statement s = connection.createStatement()) {
            s.execute(statement);
        }
    }

    private static int count(Connection connection, String table) throws SQLException {
        try (Statement s = connection.createStatement();
                ResultSet row = s.executeQuery("SELECT COUNT(*) FROM " + table)) {
            row.next();
            return row.getInt(1);
        }
    }

    /** Beginning fails while another writer has the file; what comes next on that connection is a transaction again. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void afterABusyFileTheNextStepIsInATransaction(boolean byFile) throws Exception {
        Path path = folder.resolve("locks.db");
        String jdbc = "jdbc:sqlite:" + path;
        try (SqlStore store = byFile
                        ? FileProvider.open(path, Duration.ofMillis(200), true)
                        : (SqlStore) new SqlProvider().open(StoreUrl.parse(jdbc + "?operationTimeout=200ms"));
                Connection other = DriverManager.getConnection(jdbc)) {
            execute(other, "CREATE TABLE mine (x INTEGER)");
            for (Way way : Way.values()) {
                way.run(store, c -> count(c, "mine")); // on a connection that is still used
                AtomicInteger runs = new AtomicInteger();
                execute(other, "BEGIN IMMEDIATE");
                assertThatThrownBy(() -> way.run(store, c -> {
                            execute(c, "INSERT INTO mine VALUES (0)");
                            return runs.incrementAndGet();
                        }))
                        .isInstanceOf(StoreUnavailableException.class);
                execute(other, "ROLLBACK");
                assertThat(runs).as("nothing was done without a transaction").hasValue(0);
                assertThatThrownBy(() -> way.run(store, c -> {
                            execute(c, "INSERT INTO mine VALUES (1)");
                            throw new SQLException("half done");
                        }))
                        .isInstanceOf(StoreUnavailableException.class);
                assertThat(count(other, "mine"))
                        .as("rows of a step that failed")
                        .isZero();
                assertThat(way.<Integer>run(store, c -> count(c, "mine"))).isZero();
            }
        }
    }

    /** When the connection is killed. */
    enum Point {
        BEFORE,
        INSIDE,
        AT_COMMIT,
        AT_ROLLBACK
    }

    static Stream<Arguments> killed() {
        return Stream.of(Db.values()).flatMap(db -> Stream.of(Way.values()).flatMap(way -> Stream.of(Point.values())
                // What the pool has in between cannot be named from outside.
                .filter(point -> way == Way.RENEWAL || point != Point.BEFORE)
                .map(point -> Arguments.of(db, way, point))));
    }

    @ParameterizedTest
    @MethodSource
    void killed(Db db, Way way, Point point) throws Exception {
        String mine = Db.freshPrefix() + "mine";
        db.execute("CREATE TABLE " + mine + " (x INTEGER)");
        try (SqlStore store = Db.open(db.freshUrl())) {
            Connection first = way.run(store, c -> c);
            if (point == Point.BEFORE) {
                kill(db, first);
            }
            boolean failed = false;
            try {
                way.run(store, c -> {
                    execute(c, "INSERT INTO " + mine + " VALUES (1)");
                    if (point != Point.BEFORE) {
                        kill(db, c);
                    }
                    if (point == Point.INSIDE) {
                        execute(c, "INSERT INTO " + mine + " VALUES (2)");
                    }
                    if (point == Point.AT_ROLLBACK) {
                        throw new SQLException("half done");
                    }
                    return true;
                });
            } catch (StoreUnavailableException e) {
                failed = true;
            }
            assertThat(failed || point == Point.BEFORE).isTrue();
            int rows = failed ? 0 : 1;
            assertThat(db.query("SELECT COUNT(*) FROM " + mine)).isEqualTo("" + rows);
            for (int i = 0; i < 3; i++) {
                assertThatThrownBy(() -> way.run(store, c -> {
                            execute(c, "INSERT INTO " + mine + " VALUES (3)");
                            throw new SQLException("half done");
                        }))
                        .isInstanceOf(StoreUnavailableException.class);
                assertThat(db.query("SELECT COUNT(*) FROM " + mine)).isEqualTo("" + rows);
            }
            assertThat(way.<Integer>run(store, c -> count(c, mine))).isEqualTo(rows);
        }
    }

    private static void kill(Db db, Connection connection) throws SQLException {
        switch (db) {
            case POSTGRESQL ->
                db.query("SELECT pg_terminate_backend(" + id(connection, "pg_backend_pid()") + ", 5000)");
            case MARIADB -> db.execute("KILL " + id(connection, "CONNECTION_ID()"));
            case H2, SQLITE -> connection.close(); // there is no server that could
        }
    }

    private static long id(Connection connection, String function) throws SQLException {
        try (Statement s = connection.createStatement();
                ResultSet row = s.executeQuery("SELECT " + function)) {
            row.next();
            return row.getLong(1);
        }
    }
}
