// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lockkeeper.Lease;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.StoreUnavailableException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Connections of the application's pool go back as they came; most pools reset nothing. H101 */
class BorrowedStateTest {
    private static final int SIZE = 8;

    private record State(int networkMillis, boolean autocommit, int isolation, boolean readOnly, String listens) {
        static State of(Db db, Connection connection) throws SQLException {
            String query = db == Db.POSTGRESQL ? "SELECT count(*) FROM pg_listening_channels()" : "SELECT 0";
            boolean autocommit = connection.getAutoCommit();
            int isolation = connection.getTransactionIsolation();
            try (Statement s = connection.createStatement();
                    ResultSet row = s.executeQuery(query)) {
                row.next();
                return new State(
                        connection.getNetworkTimeout(),
                        autocommit,
                        isolation,
                        connection.isReadOnly(),
                        row.getString(1));
            }
        }
    }

    private static List<State> states(Db db, UserPool.Opened pool) throws Exception {
        List<Connection> taken = new ArrayList<>();
        List<State> states = new ArrayList<>();
        try {
            for (int i = 0; i < SIZE; i++) {
                CompletableFuture<Connection> next = CompletableFuture.supplyAsync(() -> {
                    try {
                        return pool.source().getConnection();
                    } catch (SQLException e) {
                        throw new IllegalStateException(e);
                    }
                });
                taken.add(next.get(20, TimeUnit.SECONDS));
                states.add(State.of(db, taken.get(i)));
                if (!taken.get(i).getAutoCommit()) {
                    taken.get(i).rollback();
                }
            }
            return states;
        } finally {
            UserPool.giveBack(taken);
        }
    }

    private static String url(Db db, boolean isUsual) {
        if (db == Db.POSTGRESQL) {
            return isUsual ? db.url() : Db.with(db.url(), "options=-c%20default_transaction_isolation=serializable");
        }
        return db.url(); // REPEATABLE READ
    }

    @ParameterizedTest
    @CsvSource({
        "POSTGRESQL, HIKARI, true", "POSTGRESQL, HIKARI, false",
        "POSTGRESQL, DBCP2, true", "POSTGRESQL, DBCP2, false",
        "POSTGRESQL, TOMCAT, true", "POSTGRESQL, TOMCAT, false",
        "POSTGRESQL, C3P0, true", "POSTGRESQL, C3P0, false",
        "MARIADB, HIKARI, true", "MARIADB, HIKARI, false",
        "MARIADB, DBCP2, true", "MARIADB, DBCP2, false",
        "MARIADB, TOMCAT, true", "MARIADB, TOMCAT, false",
        "MARIADB, C3P0, true"
    })
    void connectionsGoBackAsTheyCame(Db db, UserPool kind, boolean isUsual) throws Exception {
        SqlOptions options =
                SqlOptions.defaults().tablePrefix(Db.freshPrefix()).operationTimeout(Duration.ofSeconds(5));
        try (UserPool.Opened pool = kind.open(url(db, isUsual), SIZE, isUsual)) {
            List<State> before = states(db, pool);
            try (SqlStore store = SqlStore.of(pool.source(), options);
                    Lockkeeper first = keeper(store);
                    Lockkeeper second = keeper(store)) {
                use(store, first, second);
                // While it is in use, all but those that are kept.
                try (Connection one = pool.source().getConnection()) {
                    assertThat(State.of(db, one)).isEqualTo(before.get(0));
                    if (!one.getAutoCommit()) {
                        one.rollback();
                    }
                }
            }
            assertThat(before).containsExactlyElementsOf(Collections.nCopies(SIZE, before.get(0)));
            assertThat(states(db, pool)).isEqualTo(before);
        }
    }

    private static Lockkeeper keeper(SqlStore store) {
        return Lockkeeper.builder(store)
                .operationTimeout(Duration.ofSeconds(10))
                .build();
    }

    /** A plain cycle, a wait, renewals, and steps that fail. */
    private static void use(SqlStore store, Lockkeeper first, Lockkeeper second) throws Exception {
        LockOptions options = LockOptions.defaults().lease(Duration.ofSeconds(2));
        first.lock("a", options).acquire().close();
        Lease lease = first.lock("a", options).acquire();
        CompletableFuture<Lease> waiting = second.lock("a", options).acquireAsync();
        Spi.await("it waits", () -> store.inspect("a").orElseThrow().waiters() == 1);
        Spi.during(Duration.ofSeconds(3), () -> assertThat(lease.isValid()).isTrue()); // it is renewed
        lease.close();
        waiting.get(30, TimeUnit.SECONDS).close();
        assertThatThrownBy(() -> store.connections.autocommit(BorrowedStateTest::fail))
                .isInstanceOf(StoreUnavailableException.class);
        assertThatThrownBy(() -> store.connections.transaction(BorrowedStateTest::fail))
                .isInstanceOf(StoreUnavailableException.class);
        assertThatThrownBy(() -> store.connections.renewalTransaction(BorrowedStateTest::fail))
                .isInstanceOf(StoreUnavailableException.class);
        assertThatThrownBy(() -> store.connections.transaction(c -> {
                    throw new IllegalStateException("no failure of the database");
                }))
                .isInstanceOf(IllegalStateException.class);
    }

    private static boolean fail(Connection connection) throws SQLException {
        try (Statement s = connection.createStatement()) {
            return s.execute("SELECT nonsense FROM nowhere");
        }
    }
}
