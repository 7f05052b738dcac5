// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lockkeeper.Lease;
import io.lockkeeper.LeaseLost;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.Mode;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.Renewal;
import io.lockkeeper.spi.Renewals;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A name whose row somebody keeps locked, or that cannot be read, harms no other. H49, H50 */
class StuckRowTest {
    private static final Duration LONGER = Duration.ofMinutes(2);

    private static SqlStore open(Db db, String prefix, String timeout) {
        return ServerFaults.open(Db.with(db.url(), "lockkeeper.tablePrefix=" + prefix), timeout);
    }

    /** Somebody else's transaction, which keeps the rows of these names locked. */
    private static Connection lock(Db db, String prefix, String... names) throws Exception {
        Connection connection = db.connect();
        connection.setAutoCommit(false);
        connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
        for (String name : names) {
            try (PreparedStatement s = connection.prepareStatement(
                    "SELECT * FROM " + db.table(prefix, "lock") + " WHERE name = ? FOR UPDATE")) {
                s.setString(1, name);
                assertThat(s.executeQuery().next()).as(name).isTrue();
            }
        }
        return connection;
    }

    private static List<Renewal.Outcome> kept(List<Renewal.Outcome> outcomes, Duration atLeast) {
        return outcomes.stream()
                .filter(o -> o instanceof Renewal.Kept kept && kept.remaining().compareTo(atLeast) > 0)
                .toList();
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
    void aLockedRowIsNotRenewedAndAllOthersAre(Db db) throws Exception {
        String prefix = Db.freshPrefix();
        try (SqlStore store = open(db, prefix, "1s")) {
            List<Renewals.Hold> holds = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                holds.add(Spi.hold(store, "n" + i, Mode.EXCLUSIVE, LONGER));
            }
            Spi.hold(store, "readers", Mode.SHARED, LONGER);
            Spi.hold(store, "locked readers", Mode.SHARED, LONGER);
            holds.add(Spi.hold(store, "readers", Mode.SHARED, LONGER)); // 20
            holds.add(Spi.hold(store, "locked readers", Mode.SHARED, LONGER)); // 21
            List<Claim> queued =
                    List.of(Spi.queue(store, "n1", Mode.EXCLUSIVE), Spi.queue(store, "n7", Mode.EXCLUSIVE));
            Renewal renewal;
            try (Connection other = lock(db, prefix, "locked%20readers", "n7", "n3")) {
                renewal = store.renew(new Renewals(holds, queued));
                other.rollback();
            }
            assertThat(kept(renewal.holds(), Duration.ofSeconds(61))).hasSize(19);
            for (int locked : new int[] {3, 7, 21}) {
                assertThat(renewal.holds().get(locked))
                        .as("what it had")
                        .isInstanceOfSatisfying(Renewal.Kept.class, kept -> assertThat(kept.remaining())
                                .isBetween(Duration.ofSeconds(1), Spi.LEASE));
            }
            assertThat(renewal.queued()).hasOnlyElementsOfType(Answer.Queued.class);
            try (Connection other = lock(db, prefix, "n3")) { // alone it harms no other, and is reported
                assertThatThrownBy(() -> store.renew(new Renewals(holds.subList(3, 4), List.of())))
                        .isInstanceOfSatisfying(StoreUnavailableException.class, e -> assertThat(e.worthRepeating())
                                .isTrue());
                other.rollback();
            }

            renewal = store.renew(new Renewals(holds, queued));
            assertThat(kept(renewal.holds(), Duration.ofSeconds(61))).hasSize(22);
        }
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
    void aLockedRowOfAnotherClientHoldsUpNobody(Db db) throws Exception {
        String prefix = Db.freshPrefix();
        try (SqlStore store = open(db, prefix, "5s")) {
            Spi.hold(store, "n1other", Mode.EXCLUSIVE, LONGER);
            for (int many : new int[] {1, 5, 20, 60}) { // a database may scan a table that is small
                List<Renewals.Hold> holds = new ArrayList<>();
                for (int i = 0; i < many; i++) {
                    holds.add(Spi.hold(store, "n" + many + "-" + i, Mode.EXCLUSIVE, LONGER));
                }
                try (Connection other = lock(db, prefix, "n1other")) {
                    assertThat(kept(store.renew(new Renewals(holds, List.of())).holds(), Duration.ofSeconds(61)))
                            .hasSize(many);
                    other.rollback();
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
    void otherLocksStayValidForAsLongAsOneRowIsLocked(Db db) throws Exception {
        String prefix = Db.freshPrefix();
        LockOptions options = LockOptions.defaults().lease(Duration.ofSeconds(4));
        CompletableFuture<LeaseLost> loss = new CompletableFuture<>();
        try (SqlStore store = open(db, prefix, "500ms");
                Lockkeeper keeper = Lockkeeper.on(store)) {
            Lease one = keeper.lock("one", options).acquire();
            Lease locked = keeper.lock("locked", options).acquire().onLost(loss::complete);
            Lease two = keeper.readWriteLock("two", options).readLock().acquire();
            try (Connection other = lock(db, prefix, "locked")) {
                Spi.during(Duration.ofSeconds(9), () -> {
                    assertThat(one.isValid()).isTrue();
                    assertThat(two.isValid()).isTrue();
                });
                assertThat(loss).as("it cannot be renewed, and reports that").isDone();
                assertThat(locked.isValid()).isFalse();
                other.rollback();
            }
            assertThat(one.release()).isTrue();
            assertThat(two.release()).isTrue();
        }
    }

    @ParameterizedTest
    @EnumSource
    void aRecordOfANewerFormatLosesNoOtherHold(Db db) throws Exception {
        String prefix = Db.freshPrefix();
        try (SqlStore store = open(db, prefix, "5s")) {
            List<Renewals.Hold> holds = new ArrayList<>();
            for (String name : List.of("a", "new", "b")) {
                holds.add(Spi.hold(store, name, Mode.EXCLUSIVE, LONGER));
            }
            Spi.hold(store, "readers", Mode.SHARED, LONGER);
            holds.add(Spi.hold(store, "readers", Mode.SHARED, LONGER));
            List<Claim> queued =
                    List.of(Spi.queue(store, "new", Mode.EXCLUSIVE), Spi.queue(store, "a", Mode.EXCLUSIVE));
            db.execute("UPDATE " + db.table(prefix, "lock") + " SET format = 2 WHERE name = 'new'");
            Renewal renewal = store.renew(new Renewals(holds, queued));
            assertThat(kept(renewal.holds(), Duration.ofSeconds(61))).hasSize(3);
            assertThat(renewal.holds().get(1)).isEqualTo(new Renewal.Lost(LeaseLost.Reason.STORE_UNREACHABLE));
            assertThat(renewal.queued().get(0)).isInstanceOf(Answer.Refused.class);
            assertThat(renewal.queued().get(1)).isInstanceOf(Answer.Queued.class);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"POSTGRESQL", "MARIADB"})
    void aClientThatStopsInTheMiddleOfATransactionDoesNotCloseTheNameForLong(Db db) throws Exception { // H49
        String prefix = Db.freshPrefix();
        try (SqlStore stopped = open(db, prefix, "1s");
                SqlStore store = open(db, prefix, "1s")) {
            Claim before = Spi.claim(store, "a", Mode.EXCLUSIVE);
            store.claim(before);
            store.withdraw(before);
            CountDownLatch locked = new CountDownLatch(1);
            CountDownLatch goOn = new CountDownLatch(1);
            CompletableFuture<Boolean> stopping =
                    CompletableFuture.supplyAsync(() -> stopped.connections.transaction(c -> {
                        Sql sql = new Sql(
                                Dialect.of(db.product()), SqlOptions.defaults().tablePrefix(prefix));
                        try (PreparedStatement s = sql.prepare(c, "lock_rows", Map.of("names", List.of("a")))) {
                            assertThat(s.executeQuery().next()).isTrue();
                        }
                        locked.countDown();
                        await(goOn);
                        return true;
                    }));
            try {
                assertThat(locked.await(30, TimeUnit.SECONDS)).isTrue();
                Spi.await("the name is open again", () -> {
                    try {
                        return store.claim(Spi.claim(store, "a", Mode.EXCLUSIVE).asStray()) instanceof Answer.Granted;
                    } catch (StoreUnavailableException e) {
                        assertThat(e.worthRepeating()).isTrue();
                        return false;
                    }
                });
            } finally {
                goOn.countDown();
            }
            assertThatThrownBy(() -> stopping.get(30, TimeUnit.SECONDS))
                    .hasCauseInstanceOf(StoreUnavailableException.class);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"POSTGRESQL", "MARIADB"})
    void aDeadlockLosesNothing(Db db) throws Exception { // H50
        String prefix = Db.freshPrefix();
        try (SqlStore store = open(db, prefix, "10s")) {
            List<Renewals.Hold> holds = new ArrayList<>();
            for (String name : List.of("a", "b")) {
                Spi.hold(store, name, Mode.SHARED, LONGER);
                holds.add(Spi.hold(store, name, Mode.SHARED, LONGER));
            }
            for (int round = 0; round < 3; round++) {
                try (Connection other = lock(db, prefix, "b")) {
                    CompletableFuture<Renewal> renewing =
                            CompletableFuture.supplyAsync(() -> store.renew(new Renewals(holds, List.of())));
                    Spi.await("it has locked one and waits for the other", () -> isWaitedFor(db));
                    try (PreparedStatement s = other.prepareStatement(
                            "SELECT * FROM " + db.table(prefix, "lock") + " WHERE name = 'a' FOR UPDATE")) {
                        s.executeQuery();
                        other.rollback(); // it was the renewal that had to give way
                    } catch (java.sql.SQLException e) {
                        assertThat(e.getSQLState()).startsWith("40");
                        other.rollback();
                    }
                    assertThat(renewing.get(30, TimeUnit.SECONDS).holds()).hasOnlyElementsOfType(Renewal.Kept.class);
                }
            }
        }
    }

    /** What MariaDB shows of transactions stays as it is while one looks more often than every 100 ms; its counters do not. */
    private static boolean isWaitedFor(Db db) {
        try {
            return !db.query(
                            db == Db.POSTGRESQL
                                    ? "SELECT COUNT(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
                                    : "SELECT variable_value FROM information_schema.global_status"
                                            + " WHERE variable_name = 'INNODB_ROW_LOCK_CURRENT_WAITS'")
                    .equals("0");
        } catch (java.sql.SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            assertThat(latch.await(60, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aWaiterForALockedRowAcquiresAfterwards(Db db) throws Exception { // H50: a lock wait is not reported
        String prefix = Db.freshPrefix();
        try (SqlStore store = open(db, prefix, "300ms");
                Lockkeeper keeper = Lockkeeper.builder(store)
                        .operationTimeout(Duration.ofSeconds(30))
                        .build()) {
            keeper.lock("a").acquire().close();
            CompletableFuture<Lease> acquiring;
            try (Connection other = db == Db.SQLITE ? db.connect() : lock(db, prefix, "a")) {
                if (db == Db.SQLITE) {
                    other.createStatement().execute("BEGIN IMMEDIATE");
                }
                acquiring = keeper.lock("a").acquireAsync();
                Spi.during(Duration.ofSeconds(2), () -> assertThat(acquiring).isNotDone());
            }
            acquiring.get(30, TimeUnit.SECONDS).close();
        }
    }

    @ParameterizedTest
    @EnumSource
    void aRowThatNobodyCouldHaveWrittenIsNamed(Db db) throws Exception {
        String prefix = Db.freshPrefix();
        try (SqlStore store = Db.open(Db.with(db.url(), "lockkeeper.tablePrefix=" + prefix));
                Lockkeeper keeper = Lockkeeper.on(store);
                Lockkeeper other = Lockkeeper.on(store);
                Lease lease = keeper.lock("x").acquire()) {
            String table = db.table(prefix, "lock");
            for (String damage : List.of(
                    "client = NULL",
                    "label = NULL",
                    "lease = " + Long.MAX_VALUE,
                    "lock_delay = " + Long.MAX_VALUE,
                    "patience = " + Long.MAX_VALUE,
                    "waiters = " + Integer.MAX_VALUE)) {
                String column = damage.substring(0, damage.indexOf(' '));
                String before = db.query("SELECT " + column + " FROM " + table + " WHERE name = 'x'");
                db.execute("UPDATE " + table + " SET " + damage + " WHERE name = 'x'");
                assertThatThrownBy(() -> other.lock("x").tryAcquire())
                        .isInstanceOf(StoreUnavailableException.class)
                        .hasMessageContaining("the row of 'x' cannot be read (" + column + " is ");
                String value = column.equals("client") || column.equals("label") ? "'" + before + "'" : before;
                db.execute("UPDATE " + table + " SET " + column + " = " + value + " WHERE name = 'x'");
            }
            keeper.lock("y").acquire().close();
        }
    }
}
