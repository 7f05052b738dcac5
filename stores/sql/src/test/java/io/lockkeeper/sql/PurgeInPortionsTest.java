// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.Mode;
import io.lockkeeper.tck.Tier;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Any number of idle rows is forgotten, a few at a time, so that no statement takes long. H104 */
class PurgeInPortionsTest {
    private static final int ROWS = Tier.pick(3_000, 300_000);

    private static void fill(Db db, String prefix, int rows) throws Exception {
        try (Connection connection = db.connect()) {
            connection.setAutoCommit(false);
            try (PreparedStatement idle = connection.prepareStatement("INSERT INTO " + db.table(prefix, "lock")
                            + " (name, holders, waiters, closed_until, floor, touched, next_seq, strays, strays_until, format)"
                            + " VALUES (?, 0, 0, 0, 7, 7, 7, '', 0, 1)");
                    PreparedStatement open = connection.prepareStatement("INSERT INTO " + db.table(prefix, "latch")
                            + " (name, remaining, generation, done, watchers, keep_until, format)"
                            + " VALUES (?, 0, 1, '', '', 0, 1)")) {
                for (int i = 0; i < rows; i++) {
                    idle.setString(1, "idle/" + i);
                    idle.addBatch();
                    if (i % 10 == 0) {
                        open.setString(1, "open/" + i);
                        open.addBatch();
                    }
                    if (i % 1_000 == 999) {
                        idle.executeBatch();
                        open.executeBatch();
                    }
                }
                idle.executeBatch();
                open.executeBatch();
            }
            connection.commit();
        }
    }

    @ParameterizedTest
    @EnumSource
    void noStatementForgetsMany(Db db) throws Exception {
        String prefix = Db.freshPrefix();
        CountingSource source = new CountingSource(db.url());
        SqlOptions options = SqlOptions.defaults().tablePrefix(prefix).operationTimeout(Duration.ofSeconds(5));
        try (SqlStore store = SqlStore.of(source, options)) {
            Spi.hold(store, "held", Mode.EXCLUSIVE, Duration.ofHours(1)); // however long all this takes
            fill(db, prefix, ROWS);
            assertThat(store.size()).isGreaterThan(ROWS);
            Spi.awaitPurged(store, 1);
            assertThat(source.mostRows()).isBetween(1L, (long) Purge.ROWS_WRITTEN);
            assertThat(store.inspect("held")).isPresent();
        }
    }

    @Test
    void thatItFailsIsLoggedAsAWarning() throws Exception {
        String prefix = Db.freshPrefix();
        String table = Db.POSTGRESQL.table(prefix, "lock");
        try (SqlStore store = Db.open(Db.with(Db.POSTGRESQL.url(), "lockkeeper.tablePrefix=" + prefix));
                LogTap log = new LogTap()) {
            fill(Db.POSTGRESQL, prefix, 1);
            Db.POSTGRESQL.execute(
                    "CREATE FUNCTION " + prefix
                            + "no() RETURNS trigger AS 'BEGIN RAISE EXCEPTION ''no''; END' LANGUAGE plpgsql",
                    "CREATE TRIGGER no BEFORE DELETE ON " + table + " FOR EACH ROW EXECUTE FUNCTION " + prefix
                            + "no()");
            store.purgeOrWarn(Duration.ZERO);
            assertThat(log.warnings("could not forget idle names")).hasSize(1);
            Db.POSTGRESQL.execute("DROP TRIGGER no ON " + table);
            Spi.awaitPurged(store, 0);
        }
    }
}
