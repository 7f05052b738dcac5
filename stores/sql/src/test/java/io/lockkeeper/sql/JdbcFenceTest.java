// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lockkeeper.DistributedLock;
import io.lockkeeper.Fence;
import io.lockkeeper.Lease;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.Mode;
import io.lockkeeper.Sequencer;
import io.lockkeeper.StaleTokenException;
import io.lockkeeper.StoreUnavailableException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A fence in the caller's own transaction. */
class JdbcFenceTest {
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final String prefix = Db.freshPrefix();
    private final SqlOptions options = SqlOptions.defaults().tablePrefix(prefix);

    @AfterEach
    void end() {
        threads.shutdownNow();
    }

    private void tables(Db db) throws SQLException {
        try (Connection connection = db.connect()) {
            JdbcFence.createTable(connection, options);
            JdbcFence.createTable(connection, options); // again does no harm
        }
        db.execute(
                "CREATE TABLE " + db.table(prefix, "data") + " (id INTEGER PRIMARY KEY, balance INTEGER)",
                "INSERT INTO " + db.table(prefix, "data") + " VALUES (1, 100)");
    }

    private Connection begin(Db db) throws SQLException {
        Connection connection = db.connect();
        connection.setAutoCommit(false);
        return connection;
    }

    private void write(Db db, Connection connection, int balance) throws SQLException {
        try (Statement s = connection.createStatement()) {
            assertThat(s.executeUpdate("UPDATE " + db.table(prefix, "data") + " SET balance = " + balance))
                    .isEqualTo(1);
        }
    }

    private String balance(Db db) throws SQLException {
        return db.query("SELECT balance FROM " + db.table(prefix, "data"));
    }

    private static Sequencer exclusive(long token) {
        return new Sequencer("Konto/ä", Mode.EXCLUSIVE, token);
    }

    private static Sequencer shared(long token) {
        return new Sequencer("Konto/ä", Mode.SHARED, token);
    }

    @ParameterizedTest
    @EnumSource
    void itAdmitsWhatAFenceInMemoryAdmits(Db db) throws Exception {
        tables(db);
        Random random = new Random(7);
        Fence.InMemory judge = Fence.inMemory();
        int refused = 0;
        try (Connection connection = begin(db)) {
            JdbcFence fence = JdbcFence.in(connection, options);
            for (int i = 0; i < 400; i++) {
                long token = (i < 200 ? 0 : 1L << 60) + i / 10L + random.nextInt(12) + 1;
                Sequencer next = random.nextInt(3) == 0 ? shared(token) : exclusive(token);
                String expected = outcome(judge, next);
                assertThat(outcome(fence, next)).as(i + ": " + next).isEqualTo(expected);
                refused += expected.isEmpty() ? 0 : 1;
                if (i % 20 == 0) {
                    connection.commit();
                }
            }
            connection.rollback();
        }
        assertThat(refused).isBetween(20, 380);
    }

    private static String outcome(Fence fence, Sequencer next) {
        try {
            fence.enter(next);
            return "";
        } catch (StaleTokenException e) {
            return e.token() + " after " + e.seen();
        }
    }

    @ParameterizedTest
    @EnumSource
    void aStaleHolderWritesNothing(Db db) throws Exception {
        tables(db);
        try (Connection a = begin(db);
                Connection b = begin(db)) {
            JdbcFence.in(a, options).enter(exclusive(33));
            write(db, a, 90);
            a.commit();
            JdbcFence.in(b, options).enter(exclusive(34)); // has only read
            b.commit();
            assertThatThrownBy(() -> JdbcFence.in(a, options).enter(exclusive(33)))
                    .isInstanceOfSatisfying(
                            StaleTokenException.class, e -> assertThat(e.seen()).isEqualTo(34));
            a.rollback();
            assertThat(balance(db)).isEqualTo("90");
            JdbcFence.in(b, options).enter(exclusive(34));
            write(db, b, 80);
            b.commit();
            assertThat(balance(db)).isEqualTo("80");
        }
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE") // where a writer has the whole file anyway
    void nobodyEntersBetweenTheCheckAndTheCommit(Db db) throws Exception {
        tables(db);
        try (Connection a = begin(db);
                Connection b = begin(db)) {
            JdbcFence.in(a, options).enter(exclusive(33));
            write(db, a, 90);
            Future<String> successor = threads.submit(() -> {
                JdbcFence.in(b, options).enter(exclusive(34));
                return balance(db);
            });
            assertThatThrownBy(() -> successor.get(300, TimeUnit.MILLISECONDS)).isInstanceOf(TimeoutException.class);
            a.commit();
            assertThat(successor.get(30, TimeUnit.SECONDS))
                    .as("what it reads then")
                    .isEqualTo("90");
            b.rollback();
            JdbcFence.in(a, options).enter(exclusive(33)); // what was rolled back was never there
            a.rollback();
        }
    }

    @ParameterizedTest
    @EnumSource
    void manyThatEnterForTheFirstTimeAtOnceAllCome(Db db) throws Exception {
        tables(db);
        for (int round = 0; round < 5; round++) {
            String name = "fresh" + round;
            List<Future<Void>> all = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                all.add(threads.submit(() -> {
                    try (Connection connection = begin(db)) {
                        JdbcFence.in(connection, options).enter(new Sequencer(name, Mode.EXCLUSIVE, 7));
                        connection.commit();
                    }
                    return null;
                }));
            }
            for (Future<Void> one : all) {
                one.get(60, TimeUnit.SECONDS);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void aLeaseOnSeveralLocksEntersWithEach(Db db) throws Exception {
        tables(db);
        try (Lockkeeper keeper = Lockkeeper.connect("memory:");
                Connection connection = begin(db)) {
            Lease both = DistributedLock.all(keeper.lock("a"), keeper.lock("b")).acquire();
            JdbcFence fence = JdbcFence.in(connection, options);
            fence.enter(both);
            assertThat(both.release()).isTrue();
            fence.enter(keeper.lock("b").acquire());
            assertThatThrownBy(() -> fence.enter(both))
                    .isInstanceOf(StaleTokenException.class)
                    .hasMessageContaining("'b'");
            connection.rollback();
        }
    }

    @Test
    void whatCannotBeRightIsRefused() throws Exception {
        try (Connection connection = Db.H2.connect()) {
            JdbcFence fence = JdbcFence.in(connection, options);
            assertThatThrownBy(() -> fence.enter(exclusive(1)))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("autocommit");
            connection.setAutoCommit(false);
            assertThatThrownBy(() -> fence.enter(exclusive(1)))
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasCauseInstanceOf(SQLException.class)
                    .hasMessageContaining("JdbcFence.createTable");
            connection.rollback();
            assertThatThrownBy(() -> fence.enter(new Sequencer("a", Mode.PERMITS, 1)))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("permits");
            connection.rollback();
        }
        for (Db db : Db.values()) {
            assertThat(JdbcFence.ddl(db.product(), options)).contains(db.table(prefix, "fence"));
        }
    }
}
