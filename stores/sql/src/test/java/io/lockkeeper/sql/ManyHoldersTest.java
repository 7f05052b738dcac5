// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.LeaseLost;
import io.lockkeeper.Mode;
import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.Grant;
import io.lockkeeper.spi.Renewal;
import io.lockkeeper.spi.Renewals;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Hundreds of readers or of holders of a semaphore. */
class ManyHoldersTest {
    private static final Duration LEASE = Duration.ofMinutes(30);
    private static final Duration LONGER = LEASE.multipliedBy(2);
    private static final int FEW = 20;
    private static final int MANY = 300;

    private final String prefix = Db.freshPrefix();

    private SqlStore open(Db db) {
        return Db.open(Db.with(db.url(), "lockkeeper.tablePrefix=" + prefix));
    }

    private static List<Renewals.Hold> hold(SqlStore store, String name, Mode mode, int count) {
        List<Renewals.Hold> holds = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Claim claim = Spi.claim(store, name, mode, LEASE);
            holds.add(new Renewals.Hold(Grant.of(claim, (Answer.Granted) store.claim(claim)), LONGER, 0));
        }
        return holds;
    }

    private static Renewal.Outcome renew(SqlStore store, Renewals.Hold hold) {
        return store.renew(new Renewals(List.of(hold), List.of())).holds().get(0);
    }

    private static void assertLengthened(Renewal.Outcome outcome) {
        assertThat(outcome).isInstanceOfSatisfying(Renewal.Kept.class, kept -> assertThat(kept.remaining())
                .isGreaterThan(LEASE));
    }

    /** What the server has read, where it says so immediately. */
    private static long readBy(Db db) throws SQLException {
        return db == Db.MARIADB
                ? Long.parseLong(
                        db.query("SELECT CAST(SUM(variable_value) AS INTEGER) FROM information_schema.global_status"
                                + " WHERE variable_name IN ('HANDLER_READ_KEY', 'HANDLER_READ_NEXT')"))
                : 0;
    }

    /** Renews some of many holds, each as its own client would; how many rows that reads, here and in the server. */
    private static List<Long> cost(Db db, CountingSource source, SqlStore store, List<Renewals.Hold> holds)
            throws SQLException {
        source.rowsRead();
        long before = readBy(db);
        for (int i = 0; i < FEW; i++) {
            assertLengthened(renew(store, holds.get(holds.size() - 1 - i)));
        }
        return List.of(source.rowsRead(), readBy(db) - before);
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("H79: what a renewal reads does not grow with the number of holders")
    void aRenewalReadsAsMuchHoweverManyHold(Db db) throws Exception {
        CountingSource source = new CountingSource(db.url());
        SqlOptions options = SqlOptions.defaults().tablePrefix(prefix).operationTimeout(Duration.ofSeconds(20));
        try (SqlStore filling = open(db);
                SqlStore store = SqlStore.of(source, options)) {
            for (Mode mode : new Mode[] {Mode.SHARED, Mode.PERMITS}) {
                List<Long> few = cost(db, source, store, hold(filling, "few-" + mode, mode, FEW));
                List<Renewals.Hold> holds = hold(filling, "many-" + mode, mode, MANY);
                List<Long> many = cost(db, source, store, holds);
                for (int i = 0; i < few.size(); i++) {
                    assertThat(many.get(i)).as("rows, with %s", mode).isLessThanOrEqualTo(2 * few.get(i) + MANY);
                }
                source.rowsRead();
                Renewal all = store.renew(new Renewals(holds, List.of()));
                assertThat(all.holds()).hasSize(MANY).allSatisfy(ManyHoldersTest::assertLengthened);
                assertThat(source.rowsRead()).as("of all at once").isLessThanOrEqualTo(3 * MANY);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void oneOfManyIsLostWhenItHasExpiredWasBrokenOrDeleted(Db db) throws Exception {
        try (SqlStore store = open(db)) {
            List<Renewals.Hold> holds = hold(store, "a", Mode.PERMITS, 2 * FEW);
            String claims = db.table(prefix, "claim");
            String expired = holds.get(10).grant().claim().id().toString();
            String deleted = holds.get(11).grant().claim().id().toString();
            db.execute(
                    "UPDATE " + claims + " SET expires = since WHERE claim = '" + expired + "'",
                    "DELETE FROM " + claims + " WHERE claim = '" + deleted + "'");
            assertThat(store.breakHold("a", holds.get(12).grant().token(), Duration.ofSeconds(1), false))
                    .isTrue();

            List<Renewal.Outcome> outcomes =
                    store.renew(new Renewals(holds, List.of())).holds();
            assertThat(outcomes.get(10)).isEqualTo(new Renewal.Lost(LeaseLost.Reason.EXPIRED));
            assertThat(outcomes.get(11)).isEqualTo(new Renewal.Lost(LeaseLost.Reason.EXPIRED));
            assertThat(outcomes.get(12)).isEqualTo(new Renewal.Recalled());
            for (int i = 0; i < holds.size(); i++) {
                if (i < 10 || i > 12) {
                    assertLengthened(outcomes.get(i));
                    assertThat(store.release(holds.get(i).grant())).isTrue();
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("H115: a hold of a name whose row was deleted is lost, also when many use the name again")
    void aHoldFromBeforeTheRowWasDeletedIsLost(Db db) throws Exception {
        try (SqlStore store = open(db)) {
            List<Renewals.Hold> old = hold(store, "a", Mode.SHARED, 3);
            db.execute("DELETE FROM " + db.table(prefix, "lock") + " WHERE name = 'a'");
            Renewals.Hold writer = hold(store, "a", Mode.EXCLUSIVE, 1).get(0);
            for (int i = 0; i < 2 * FEW; i++) {
                Spi.queue(store, "a", Mode.EXCLUSIVE); // without a look at what was there before
            }
            for (int i = old.size() - 1; i >= 0; i--) { // each by itself, as its own client does
                assertThat(renew(store, old.get(i))).isEqualTo(new Renewal.Lost(LeaseLost.Reason.EXPIRED));
            }
            assertLengthened(renew(store, writer));
        }
    }
}
