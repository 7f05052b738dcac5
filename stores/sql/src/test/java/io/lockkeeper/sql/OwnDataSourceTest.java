// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.lockkeeper.Lease;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.spi.Answer;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.TimeZone;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The user's own data source, whatever state its connections are in. */
class OwnDataSourceTest {
    private static HikariDataSource pool(Db db, int size, boolean autoCommit) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(db.url());
        config.setMaximumPoolSize(size);
        config.setMinimumIdle(0);
        config.setConnectionTimeout(3_000);
        config.setAutoCommit(autoCommit);
        return new HikariDataSource(config);
    }

    private static SqlStore store(HikariDataSource pool) {
        return SqlStore.of(
                pool, SqlOptions.defaults().tablePrefix(Db.freshPrefix()).operationTimeout(Duration.ofSeconds(5)));
    }

    private static Lockkeeper keeper(SqlStore store) {
        return Lockkeeper.builder(store)
                .operationTimeout(Duration.ofSeconds(10))
                .build();
    }

    @ParameterizedTest
    @EnumSource(
            mode = EnumSource.Mode.EXCLUDE,
            names = "SQLITE") // there, the caller's open write would block all others
    void theCallersTransactionIsNotJoined(Db db) throws Exception {
        String mine = Db.freshPrefix() + "mine";
        db.execute("CREATE TABLE " + mine + " (x INTEGER)");
        try (HikariDataSource pool = pool(db, 6, false);
                SqlStore store = store(pool);
                Lockkeeper keeper = keeper(store);
                Connection connection = pool.getConnection();
                Statement s = connection.createStatement()) {
            s.execute("INSERT INTO " + mine + " VALUES (1)");
            Lease lease = keeper.lock("a").acquire();
            connection.rollback();
            assertThat(lease.isValid()).isTrue();
            assertThat(keeper.lock("a", LockOptions.defaults().fair(true)).tryAcquire())
                    .as("still held")
                    .isEmpty();
            s.execute("INSERT INTO " + mine + " VALUES (2)");
            assertThat(lease.release()).isTrue();
            connection.rollback();
            assertThat(db.query("SELECT COUNT(*) FROM " + mine))
                    .as("the caller's")
                    .isEqualTo("0");
            assertThat(keeper.lock("a").tryAcquire()).as("released for good").isPresent();
        }
    }

    @ParameterizedTest
    @EnumSource
    void aPoolThatTheApplicationHasExhaustedLosesNoLock(Db db) throws Exception { // H48
        try (HikariDataSource pool = pool(db, 4, true);
                SqlStore store = store(pool);
                Lockkeeper keeper = keeper(store)) {
            Lease lease = keeper.lock("a", LockOptions.defaults().lease(Duration.ofSeconds(2)))
                    .acquire();
            List<Connection> taken = new ArrayList<>();
            try {
                while (pool.getHikariPoolMXBean().getActiveConnections() < 4) {
                    taken.add(pool.getConnection());
                }
                long start = System.nanoTime();
                while (System.nanoTime() - start < TimeUnit.SECONDS.toNanos(5)) {
                    assertThat(lease.isValid())
                            .as("while the pool is exhausted")
                            .isTrue();
                    TimeUnit.MILLISECONDS.sleep(20);
                }
            } finally {
                for (Connection connection : taken) {
                    connection.close();
                }
            }
            assertThat(lease.release()).isTrue();
        }
    }

    @ParameterizedTest
    @EnumSource
    void zonesOfJvmAndSessionDoNotMatter(Db db) throws Exception { // H51
        TimeZone before = TimeZone.getDefault();
        String url =
                switch (db) {
                    case POSTGRESQL -> Db.with(db.freshUrl(), "options=-c%20TimeZone=Asia/Kathmandu");
                    case MARIADB -> Db.with(db.freshUrl(), "sessionVariables=time_zone='-11:00'");
                    default -> db.freshUrl();
                };
        try (SqlStore first = Db.open(url)) {
            TimeZone.setDefault(TimeZone.getTimeZone("Pacific/Kiritimati"));
            try (SqlStore second = Db.open(url)) {
                long micros = System.currentTimeMillis() * 1_000; // this machine's clock is the server's
                assertThat(first.time(first).micros()).isBetween(micros - 60_000_000, micros + 60_000_000);
                assertThat(second.time(second).micros()).isBetween(micros - 60_000_000, micros + 60_000_000);
                assertThat(first.claim(StatementsTest.claim(first, "a"))).isInstanceOf(Answer.Granted.class);
                assertThat(second.claim(StatementsTest.claim(second, "a"))).isInstanceOf(Answer.Queued.class);
                assertThat(second.inspect("a").orElseThrow().holders().get(0).expiresIn())
                        .isBetween(Duration.ofSeconds(30), Duration.ofMinutes(1));
            }
        } finally {
            TimeZone.setDefault(before);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aStoreThatNobodyUsesAnyMoreHoldsNoConnection(Db db) throws Exception {
        try (HikariDataSource pool = pool(db, 6, true);
                SqlStore store = store(pool)) {
            for (int i = 0; i < 3; i++) {
                try (Lockkeeper second = keeper(store)) {
                    try (Lockkeeper first = keeper(store)) {
                        first.lock("a").acquire().close();
                        second.lock("a").acquire().close();
                    }
                    assertThat(pool.getHikariPoolMXBean().getActiveConnections())
                            .as("kept for the other")
                            .isPositive();
                    assertThat(second.lock("a").tryAcquire()).isPresent();
                }
                Spi.await(
                        "all have been given back",
                        () -> pool.getHikariPoolMXBean().getActiveConnections() == 0);
            }
            assertThat(store.connections.<Boolean>renewal(connection -> !connection.isClosed()))
                    .as("a renewal borrows one")
                    .isTrue();
            Spi.await("it has been given back", () -> pool.getHikariPoolMXBean().getActiveConnections() == 0);
        }
    }
}
