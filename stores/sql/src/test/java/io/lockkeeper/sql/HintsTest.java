// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.Lease;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.Mode;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.ClaimId;
import io.lockkeeper.spi.Renewals;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Every user who may connect to PostgreSQL may notify: what a notification says is not believed, and none ends the listening. */
class HintsTest {
    private static final Duration WHILE = Duration.ofMillis(700);

    private final String prefix = Db.freshPrefix();

    private SqlStore open() {
        return Db.open(Db.with(Db.POSTGRESQL.url(), "lockkeeper.tablePrefix=" + prefix));
    }

    /** A user who may read the tables, and write nothing. */
    private Connection reader() throws Exception {
        String role = "reader_" + prefix;
        Db.POSTGRESQL.execute(
                "CREATE ROLE " + role + " LOGIN", "GRANT SELECT ON ALL TABLES IN SCHEMA public TO " + role);
        return DriverManager.getConnection(Db.POSTGRESQL.url().replace("user=postgres", "user=" + role));
    }

    private static String read(Connection reader, String query) throws Exception {
        try (Statement s = reader.createStatement();
                ResultSet row = s.executeQuery(query)) {
            assertThat(row.next()).isTrue();
            return row.getString(1);
        }
    }

    private static void notify(Connection connection, String claim, String text) throws Exception {
        read(connection, "SELECT pg_notify('lockkeeper_" + claim.split("\\.")[0] + "', '" + text + "')");
    }

    /** H74 */
    @Test
    void aForgedGrantIsNoGrant() throws Exception {
        try (SqlStore a = open();
                SqlStore b = open();
                Lockkeeper holder = Lockkeeper.on(a);
                Lockkeeper waiter = Lockkeeper.on(b);
                Connection reader = reader()) {
            Lease held = holder.lock("a").acquire();
            CompletableFuture<Lease> waiting = waiter.lock("a").acquireAsync();
            Spi.await("it waits", () -> a.inspect("a").orElseThrow().waiters() == 1);
            String claim = read(reader, "SELECT claim FROM " + Db.POSTGRESQL.table(prefix, "claim"));
            String store = read(reader, "SELECT id FROM " + Db.POSTGRESQL.table(prefix, "meta"));
            String now = read(reader, "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint");
            notify(
                    reader,
                    claim,
                    "G " + claim + " " + Long.MAX_VALUE + " 64 60000000 1 " + store.hashCode() + " " + now);
            Spi.during(WHILE, () -> {
                assertThat(waiting).isNotDone();
                assertThat(held.isValid()).isTrue();
            });
            assertThat(held.release()).isTrue();
            try (Lease next = waiting.get(30, TimeUnit.SECONDS)) {
                assertThat(next.token()).isLessThan(Long.MAX_VALUE);
                assertThat(next.isValid()).isTrue();
            }
        }
    }

    /** H74 */
    @Test
    void aForgedLossOrRecallEndsNoHold() throws Exception {
        try (SqlStore a = open();
                Lockkeeper holder = Lockkeeper.on(a);
                Connection reader = reader();
                Lease held = holder.lock("a").acquire()) {
            String claim = read(reader, "SELECT claim FROM " + Db.POSTGRESQL.table(prefix, "lock"));
            notify(reader, claim, "L " + claim + " EXPIRED");
            notify(reader, claim, "L " + claim + " BROKEN");
            notify(reader, claim, "R " + claim);
            Spi.during(WHILE, () -> assertThat(held.isValid()).isTrue());
        }
    }

    @Test
    void aRealRecallIsNoticed() throws Exception {
        try (SqlStore a = open();
                SqlStore b = open();
                Lockkeeper holder = Lockkeeper.on(a)) {
            Lease held = holder.lock("a").acquire();
            assertThat(b.breakHold("a", held.token(), Duration.ZERO, false)).isTrue();
            Spi.await("it is notified", () -> !held.isValid());
            Lease other = holder.lock("b").acquire();
            assertThat(b.breakHold("b", other.token(), Duration.ZERO, true)).isTrue();
            Spi.await("it is notified", () -> !other.isValid());
        }
    }

    /** H75 */
    @Test
    void nothingThatArrivesEndsTheListening() throws Exception {
        try (SqlStore a = open();
                SqlStore b = open();
                LogTap log = new LogTap();
                Connection reader = reader()) {
            Renewals.Hold held = Spi.hold(a, "a", Mode.EXCLUSIVE, Spi.LEASE);
            Claim claim = Spi.claim(b, "a", Mode.EXCLUSIVE);
            Tap tap = new Tap();
            b.listen(claim.id().client(), tap);
            b.claim(claim);
            String id = claim.id().toString();
            List<String> garbage = List.of(
                    "",
                    " ",
                    "G",
                    "G " + id,
                    "G nobody 1 1 1 1 1 1",
                    "G " + id + " 1 1 " + Long.MIN_VALUE + " 1 1 1",
                    "L " + id + " TIRED",
                    "R",
                    "R " + new ClaimId("somebody-else", 1),
                    "O %",
                    "O %zz",
                    "Z " + "x".repeat(5_000));
            for (String text : garbage) {
                notify(reader, id, text);
            }
            Spi.await("it counts as missed", () -> tap.missed.get() > 0);
            assertThat(a.release(held.grant())).isTrue();
            Spi.await("the grant is noticed", () -> tap.granted.containsKey(claim.id()));
            assertThat(log.warnings("not understood")).hasSize(1);
            // A grant that polling has found first is, when its notification comes, a hint about a claim that is known.
            assertThat(tap.others).isSubsetOf("changed " + id);
        }
    }
}
