// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lockkeeper.Lease;
import io.lockkeeper.LockInfo;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.Mode;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.Claim;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The tables: made, missing, dropped, emptied, seen by people. */
class TablesTest {
    private static final String[] NAMES = {"lock", "claim", "latch", "meta"};

    private static Lockkeeper keeper(SqlStore store) {
        return Lockkeeper.builder(store)
                .operationTimeout(Duration.ofSeconds(10))
                .build();
    }

    private static SqlStore open(Db db, String prefix, String... more) {
        String url = Db.with(db.url(), "lockkeeper.tablePrefix=" + prefix);
        for (String parameter : more) {
            url = Db.with(url, parameter);
        }
        return Db.open(url);
    }

    @ParameterizedTest
    @EnumSource
    void missingTablesThatAreNotToBeCreatedAreALastingErrorThatSaysWhatToDo(Db db) {
        assertThatThrownBy(() -> open(db, Db.freshPrefix(), "lockkeeper.createTables=false"))
                .isInstanceOfSatisfying(StoreUnavailableException.class, e -> {
                    assertThat(e.worthRepeating()).isFalse();
                    assertThat(e).hasMessageContaining("SqlStore.ddl");
                });
    }

    @ParameterizedTest
    @EnumSource
    void theShippedDdlMakesTables(Db db) throws Exception {
        String prefix = Db.freshPrefix();
        db.execute(SqlStore.ddl(db.product(), SqlOptions.defaults().tablePrefix(prefix))
                .toArray(new String[0]));
        try (SqlStore store = open(db, prefix, "lockkeeper.createTables=false");
                Lockkeeper keeper = keeper(store);
                Lease lease = keeper.lock("a").acquire()) {
            assertThat(lease.isValid()).isTrue();
        }
    }

    @ParameterizedTest
    @EnumSource
    void tokensRiseAfterTheTablesAreEmptied(Db db) throws Exception {
        String prefix = Db.freshPrefix();
        try (SqlStore store = open(db, prefix);
                Lockkeeper keeper = keeper(store)) {
            Lease before = keeper.lock("a").acquire();
            for (String name : NAMES) {
                db.execute("DELETE FROM " + db.table(prefix, name));
            }
            try (Lease after = keeper.lock("b").acquire()) {
                assertThat(after.token()).isGreaterThan(before.token());
            }
            assertThat(before.release()).as("it is lost").isFalse();
            try (Lease again = keeper.lock("a").acquire()) {
                assertThat(again.token()).isGreaterThan(before.token()).isLessThan(1L << 53);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void tablesThatAreDroppedAreMadeAgainAndTokensRise(Db db) throws Exception {
        String prefix = Db.freshPrefix();
        try (SqlStore store = open(db, prefix);
                Lockkeeper keeper = keeper(store)) {
            Lease before = keeper.lock("a").acquire();
            for (String name : NAMES) {
                db.execute("DROP TABLE " + db.table(prefix, name));
            }
            try (Lease after = keeper.lock("b").acquire()) {
                assertThat(after.token()).isGreaterThan(before.token());
            }
            assertThat(before.release()).as("it is lost").isFalse();
            assertThat(keeper.lock("a").tryAcquire().orElseThrow().token()).isGreaterThan(before.token());
        }
    }

    @ParameterizedTest
    @EnumSource
    void tablesThatAreDroppedAndNotToBeCreatedAreALastingError(Db db) throws Exception {
        String prefix = Db.freshPrefix();
        db.execute(SqlStore.ddl(db.product(), SqlOptions.defaults().tablePrefix(prefix))
                .toArray(new String[0]));
        try (SqlStore store = open(db, prefix, "lockkeeper.createTables=false");
                Lockkeeper keeper = keeper(store)) {
            keeper.lock("a").acquire().close();
            for (String name : NAMES) {
                db.execute("DROP TABLE " + db.table(prefix, name));
            }
            assertThatThrownBy(() -> keeper.lock("a").acquire())
                    .isInstanceOfSatisfying(StoreUnavailableException.class, e -> assertThat(e.worthRepeating())
                            .isFalse());
        }
    }

    @ParameterizedTest
    @EnumSource
    void tokensRiseAfterANameWasForgotten(Db db) throws Exception {
        try (SqlStore store = open(db, Db.freshPrefix());
                Lockkeeper keeper = keeper(store)) {
            Set<Long> tokens = new HashSet<>();
            long last = 0;
            for (int i = 0; i < 5; i++) {
                try (Lease lease = keeper.lock("a").acquire()) {
                    assertThat(lease.token()).isGreaterThan(last);
                    last = lease.token();
                    tokens.add(last);
                }
                store.purge(Duration.ZERO);
            }
            assertThat(tokens).hasSize(5);
            Spi.awaitPurged(store, 0);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aClockThatWentBackMakesNoTokenFallNorANameBeForgotten(Db db) throws Exception {
        String prefix = Db.freshPrefix();
        try (SqlStore store = open(db, prefix)) {
            long ahead = store.time(store).micros() + 3_600_000_000L;
            store.claim(StatementsTest.claim(store, "other")); // so that the row of the next is not the only one
            Claim first = StatementsTest.claim(store, "a");
            store.claim(first);
            store.withdraw(first);
            db.execute("UPDATE " + db.table(prefix, "lock") + " SET floor = " + ahead + " WHERE name = 'a'");
            store.purge(Duration.ZERO);
            long token = ((Answer.Granted) store.claim(StatementsTest.claim(store, "a"))).token();
            assertThat(token).isEqualTo(ahead + 1);
        }
    }

    @ParameterizedTest
    @EnumSource
    void recordsOfANewerFormatAreRefused(Db db) throws Exception {
        String prefix = Db.freshPrefix();
        try (SqlStore store = open(db, prefix);
                Lockkeeper keeper = keeper(store)) {
            keeper.lock("a").acquire().close();
            db.execute("UPDATE " + db.table(prefix, "lock") + " SET format = 2");
            assertThatThrownBy(() -> keeper.lock("a").acquire())
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining("format 2");
            db.execute("UPDATE " + db.table(prefix, "meta") + " SET format = 2");
        }
        assertThatThrownBy(() -> open(db, prefix))
                .isInstanceOf(StoreUnavailableException.class)
                .hasMessageContaining("format 2");
    }

    @ParameterizedTest
    @EnumSource
    void peopleCanReadTheState(Db db) throws Exception {
        String prefix = Db.freshPrefix();
        try (SqlStore store = open(db, prefix);
                Lockkeeper keeper = Lockkeeper.builder(store)
                        .clientName("billing-7")
                        .operationTimeout(Duration.ofSeconds(10))
                        .build();
                Lease lease = keeper.lock(
                                "nightly report", LockOptions.defaults().label("of May"))
                        .acquire()) {
            Spi.queue(store, "nightly report", Mode.EXCLUSIVE);
            long now = store.time(store).micros();
            String row =
                    "SELECT client FROM " + db.table(prefix, "lock") + " WHERE name = 'nightly%20report' AND token = "
                            + lease.token() + " AND mode = 'X' AND label = 'of May' AND holders = 1 AND waiters = 1"
                            + " AND since BETWEEN " + (now - 60_000_000) + " AND " + now + " AND expires > " + now;
            assertThat(db.query(row)).isEqualTo("billing-7");
        }
    }

    @ParameterizedTest
    @EnumSource
    void whatManyClientsUseForTheFirstTimeAtOnceIsHeldByOne(Db db) throws Exception {
        String prefix = Db.freshPrefix();
        ExecutorService threads = Executors.newFixedThreadPool(50);
        List<SqlStore> stores = new ArrayList<>();
        try {
            List<Future<SqlStore>> opening = new ArrayList<>();
            for (int i = 0; i < 5; i++) {
                opening.add(threads.submit(() -> open(db, prefix))); // they make the tables at the same time
            }
            for (Future<SqlStore> each : opening) {
                stores.add(each.get(60, TimeUnit.SECONDS));
            }
            assertThat(stores.stream().map(SqlStore::id).distinct()).hasSize(1);
            for (int round = 0; round < 3; round++) {
                String name = "first use " + round;
                List<Future<Answer>> answers = new ArrayList<>();
                for (int i = 0; i < 50; i++) {
                    SqlStore store = stores.get(i % stores.size());
                    Claim claim = StatementsTest.claim(store, name);
                    answers.add(threads.submit(() -> persist(store, claim)));
                }
                int granted = 0;
                for (Future<Answer> answer : answers) {
                    granted += answer.get(60, TimeUnit.SECONDS) instanceof Answer.Granted ? 1 : 0;
                }
                assertThat(granted).isEqualTo(1);
                Optional<LockInfo> info = stores.get(0).inspect(name);
                assertThat(info.orElseThrow().holders()).hasSize(1);
                assertThat(info.orElseThrow().waiters()).isEqualTo(49);
            }
        } finally {
            threads.shutdownNow();
            stores.forEach(SqlStore::close);
        }
    }

    /** As the engine does: a claim that met a deadlock or a time-out is repeated. */
    private static Answer persist(SqlStore store, Claim claim) {
        Claim sent = claim;
        while (true) {
            try {
                return store.claim(sent);
            } catch (StoreUnavailableException e) {
                if (!e.worthRepeating()) {
                    throw e;
                }
                sent = claim.asStray();
            }
        }
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
    void tablesInASeparateSchema(Db db) throws SQLException {
        String schema = "other_" + Db.freshPrefix();
        db.execute(
                db == Db.MARIADB
                        ? "CREATE DATABASE " + schema
                        : "CREATE SCHEMA " + Dialect.of(db.product()).quoted(schema));
        String prefix = Db.freshPrefix();
        try (SqlStore store = open(db, prefix, "lockkeeper.schema=" + schema)) {
            assertThat(store.claim(StatementsTest.claim(store, "a"))).isInstanceOf(Answer.Granted.class);
            String table =
                    SqlOptions.defaults().tablePrefix(prefix).schema(schema).table(Dialect.of(db.product()), "lock");
            assertThat(db.query("SELECT COUNT(*) FROM " + table)).isEqualTo("1");
        }
        try (Connection connection = db.connect()) {
            assertThat(connection.isValid(5)).isTrue();
        }
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
    void aSchemaThatIsMissingIsReportedAtOnce(Db db) {
        CountingSource source = new CountingSource(db.url());
        assertThatThrownBy(() -> SqlStore.of(source, SqlOptions.defaults().schema("nosuch")))
                .isInstanceOfSatisfying(StoreUnavailableException.class, e -> assertThat(e.worthRepeating())
                        .isFalse())
                .hasMessageStartingWith(
                        "the schema " + Dialect.of(db.product()).quoted("nosuch") + ", in which the tables")
                .hasMessageContaining("lockkeeper.schema");
        assertThat(source.plainStatements())
                .as("not tried again, as where clients collide")
                .isLessThan(5);
    }
}
