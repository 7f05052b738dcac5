// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.lockkeeper.Lease;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.StoreUnavailableException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The state that our connections are in, and the one that is kept for renewals. */
class ConnectionsTest {
    private static String show(Connection connection, String query) throws java.sql.SQLException {
        try (Statement s = connection.createStatement();
                ResultSet row = s.executeQuery(query)) {
            row.next();
            return row.getString(1);
        }
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
    void allAreInReadCommitted(Db db) {
        String url = db == Db.POSTGRESQL
                ? Db.with(db.freshUrl(), "options=-c%20default_transaction_isolation=serializable")
                : db.freshUrl();
        try (SqlStore store = Db.open(url)) {
            assertThat(store.connections.autocommit(Connection::getTransactionIsolation))
                    .isEqualTo(Connection.TRANSACTION_READ_COMMITTED);
            assertThat(store.connections.renewal(Connection::getTransactionIsolation))
                    .isEqualTo(Connection.TRANSACTION_READ_COMMITTED);
        }
    }

    @Test
    void postgresEndsWhatTakesTooLong() {
        String url = Db.with(Db.POSTGRESQL.freshUrl(), "options=-c%20application_name=mine");
        try (SqlStore store = Db.open(url)) { // with a timeout of 5 s
            for (String setting : List.of("statement_timeout=5s", "lock_timeout=5s")) {
                String[] words = setting.split("=");
                assertThat(store.connections.<String>autocommit(c -> show(c, "SHOW " + words[0])))
                        .isEqualTo(words[1]);
                assertThat(store.connections.<String>renewal(c -> show(c, "SHOW " + words[0])))
                        .isEqualTo(words[1]);
            }
            assertThat(store.connections.<String>autocommit(c -> show(c, "SHOW idle_in_transaction_session_timeout")))
                    .isEqualTo("15s");
            assertThat(store.connections.<String>autocommit(c -> show(c, "SHOW synchronous_commit")))
                    .isEqualTo("on");
        }
        try (SqlStore store = Db.open(Db.with(url, "lockkeeper.durability=relaxed"))) {
            assertThat(store.connections.<String>autocommit(c -> show(c, "SHOW synchronous_commit")))
                    .isEqualTo("off");
            assertThat(store.connections.<String>renewal(c -> show(c, "SHOW synchronous_commit")))
                    .isEqualTo("off");
        }
    }

    @Test
    void mariaDbEndsWhatTakesTooLong() {
        try (SqlStore store = Db.open(Db.MARIADB.freshUrl())) {
            assertThat(store.connections.<String>autocommit(c -> show(
                            c,
                            "SELECT CONCAT_WS(' ', @@innodb_lock_wait_timeout, ROUND(@@max_statement_time),"
                                    + " @@idle_transaction_timeout)")))
                    .isEqualTo("5 5 15");
        }
    }

    @Test
    void sqliteWaitsForTheDiskAgainAfterAStepThatDidNot() {
        try (SqlStore store = Db.open(Db.SQLITE.freshUrl())) {
            assertThat(store.connections.<String>lazily(c -> show(c, "PRAGMA synchronous")))
                    .isEqualTo("1");
            assertThat(store.connections.<String>autocommit(c -> show(c, "PRAGMA synchronous")))
                    .isEqualTo("2");
            assertThat(store.connections.<String>renewal(c -> show(c, "PRAGMA synchronous")))
                    .isEqualTo("2");
        }
        try (SqlStore store = Db.open(Db.with(Db.SQLITE.freshUrl(), "lockkeeper.durability=relaxed"))) {
            assertThat(store.connections.<String>autocommit(c -> show(c, "PRAGMA synchronous")))
                    .isEqualTo("1");
        }
    }

    @ParameterizedTest
    @EnumSource
    void aStatementThatFailsDoesNotGiveTheKeptConnectionAway(Db db) {
        try (SqlStore store = Db.open(db.freshUrl())) {
            Connection kept = store.connections.renewal(c -> c);
            assertThatThrownBy(() -> store.connections.renewal(c ->
                            c.prepareStatement("SELECT nonsense FROM nowhere").execute()))
                    .isInstanceOf(StoreUnavailableException.class);
            assertThat(store.connections.<Connection>renewal(c -> c)).isSameAs(kept);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"POSTGRESQL", "MARIADB"})
    void anExhaustedPoolLosesNoLockWhenOneRenewalFails(Db db) throws Exception { // H48
        String prefix = Db.freshPrefix();
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(
                db == Db.POSTGRESQL
                        ? Db.with(db.url(), "options=-c%20lock_timeout=500")
                        : Db.with(db.url(), "sessionVariables=innodb_lock_wait_timeout=1"));
        config.setMaximumPoolSize(4);
        config.setMinimumIdle(0);
        config.setConnectionTimeout(3_000);
        try (HikariDataSource pool = new HikariDataSource(config);
                SqlStore store = SqlStore.of(
                        pool, SqlOptions.defaults().tablePrefix(prefix).operationTimeout(Duration.ofSeconds(5)));
                Lockkeeper keeper = Lockkeeper.on(store)) {
            Lease lease = keeper.lock("a", LockOptions.defaults().lease(Duration.ofSeconds(12)))
                    .acquire();
            List<Connection> taken = new ArrayList<>();
            try (Connection other = db.connect()) {
                other.setAutoCommit(false);
                try (Statement s = other.createStatement()) {
                    s.executeQuery("SELECT * FROM " + db.table(prefix, "lock") + " FOR UPDATE");
                }
                while (pool.getHikariPoolMXBean().getActiveConnections() < 4) {
                    taken.add(pool.getConnection());
                }
                Spi.during(
                        Duration.ofSeconds(5), () -> assertThat(lease.isValid()).isTrue());
                other.rollback();
                Spi.during(Duration.ofSeconds(10), () -> assertThat(lease.isValid())
                        .isTrue());
            } finally {
                for (Connection connection : taken) {
                    connection.close();
                }
            }
            assertThat(lease.release()).isTrue();
        }
    }

    @Test
    void ourOwnPoolLosesNoLockWhenItIsExhausted() throws Exception { // H48
        try (SqlStore store = Db.open(Db.POSTGRESQL.freshUrl());
                Lockkeeper keeper = Lockkeeper.on(store)) {
            Lease lease = keeper.lock("a", LockOptions.defaults().lease(Duration.ofSeconds(2)))
                    .acquire();
            List<CompletableFuture<String>> busy = new ArrayList<>();
            for (int i = 0; i < 16; i++) {
                busy.add(CompletableFuture.supplyAsync(
                        () -> store.connections.<String>autocommit(c -> show(c, "SELECT pg_sleep(4)")),
                        task -> new Thread(task).start()));
            }
            Spi.during(Duration.ofSeconds(4), () -> assertThat(lease.isValid()).isTrue());
            for (CompletableFuture<String> each : busy) {
                each.handle((done, failed) -> done).get(30, TimeUnit.SECONDS);
            }
            assertThat(lease.release()).isTrue();
        }
    }
}
