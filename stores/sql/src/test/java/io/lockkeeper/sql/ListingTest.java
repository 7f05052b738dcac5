// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lockkeeper.LockInfo;
import io.lockkeeper.Mode;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.spi.Renewal;
import io.lockkeeper.spi.Renewals;
import io.lockkeeper.tck.Tier;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Listings read what they give, and leave out what they cannot read. */
class ListingTest {
    /** By hand, from one that is held: {@link Tier#FULL} has as many as were seen to be too many. */
    private static final int DOUBLINGS = Tier.pick(11, 18);

    private static List<String> names(List<LockInfo> all) {
        return all.stream().map(LockInfo::name).toList();
    }

    /** H107 */
    @ParameterizedTest
    @EnumSource
    void onlyWhatIsListedIsRead(Db db) throws Exception {
        String prefix = Db.freshPrefix();
        CountingSource source = new CountingSource(db.url());
        try (SqlStore store = SqlStore.of(source, SqlOptions.defaults().tablePrefix(prefix))) {
            Spi.hold(store, "n", Mode.EXCLUSIVE, Spi.LEASE);
            String table = db.table(prefix, "lock");
            String columns =
                    "holders, waiters, closed_until, floor, touched, next_seq, strays, strays_until, format, claim, client,"
                            + " label, mode, permits, permit_limit, token, block, since, expires, confirmed, recalled, lease, lock_delay,"
                            + " patience, deadline, stray";
            String copy = db == Db.MARIADB ? "CONCAT(name, '%s')" : "name || '%s'";
            for (int i = 0; i < DOUBLINGS; i++) {
                db.execute("INSERT INTO " + table + " (name, " + columns + ") SELECT "
                        + copy.formatted(Character.toString((char) ('a' + i))) + ", " + columns + " FROM " + table);
            }
            assertThat(store.size()).isEqualTo(1L << DOUBLINGS);
            source.rowsRead();
            assertThat(names(store.list("", 3))).containsExactly("n", "na", "nab");
            assertThat(source.rowsRead()).isLessThanOrEqualTo(5);
            assertThat(names(store.list("nb", 2))).containsExactly("nb", "nbc");
            assertThat(source.rowsRead()).isLessThanOrEqualTo(5);
            List<LockInfo> many = store.list("", 1_500);
            assertThat(many).hasSize(1_500);
            assertThat(names(many)).isSorted().doesNotHaveDuplicates();
            assertThat(source.rowsRead()).isLessThanOrEqualTo(1_510);
        }
    }

    @ParameterizedTest
    @EnumSource
    void namesThatAreDoneWithDoNotCount(Db db) throws Exception {
        String prefix = Db.freshPrefix();
        try (SqlStore store = Db.open(Db.with(db.url(), "lockkeeper.tablePrefix=" + prefix))) {
            for (String name : List.of("a", "b", "c", "d", "e", "f")) {
                Spi.hold(store, name, Mode.EXCLUSIVE, Spi.LEASE);
            }
            Spi.hold(store, "g", Mode.SHARED, Spi.LEASE);
            Spi.hold(store, "g", Mode.SHARED, Spi.LEASE);
            Spi.queue(store, "d", Mode.EXCLUSIVE);
            db.execute("UPDATE " + db.table(prefix, "lock") + " SET expires = 1 WHERE name IN ('a', 'c', 'd')");
            assertThat(names(store.list("", 2))).containsExactly("b", "d");
            assertThat(names(store.list("", 4))).containsExactly("b", "d", "e", "f");
            assertThat(store.list("", 10)).hasSize(5).last().satisfies(info -> assertThat(info.holders())
                    .hasSize(2));
        }
    }

    /** H76 */
    @ParameterizedTest
    @EnumSource
    void aDamagedRowIsLeftOutAndNamed(Db db) throws Exception {
        String prefix = Db.freshPrefix();
        String table = db.table(prefix, "lock");
        try (SqlStore store = Db.open(Db.with(db.url(), "lockkeeper.tablePrefix=" + prefix));
                LogTap log = new LogTap()) {
            List<Renewals.Hold> holds = new ArrayList<>();
            for (String name : List.of("a", "b", "c", "d", "e", "g")) {
                holds.add(Spi.hold(store, name, Mode.SHARED, Spi.LEASE));
                holds.add(Spi.hold(store, name, Mode.SHARED, Spi.LEASE));
            }
            Spi.queue(store, "e", Mode.EXCLUSIVE);
            db.execute(
                    "UPDATE " + table + " SET mode = 'Q' WHERE name = 'b'",
                    "UPDATE " + table + " SET claim = 'nobody' WHERE name = 'c'",
                    "UPDATE " + table + " SET name = '%z' WHERE name = 'd'",
                    "UPDATE " + db.table(prefix, "claim") + " SET mode = '?' WHERE name = 'e' AND state = 'W'");
            for (int i = 0; i < 2; i++) {
                assertThat(names(store.list("", 10))).containsExactly("a", "e", "g");
            }
            assertThat(log.warnings("'b'")).hasSize(1);
            assertThat(log.warnings("'c'")).hasSize(1);
            assertThat(log.warnings("'%z'")).hasSize(1);
            assertThatThrownBy(() -> store.inspect("b"))
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining("'b'");

            // Others are renewed all the same.
            List<Renewal.Outcome> outcomes =
                    store.renew(new Renewals(holds, List.of())).holds();
            for (int i : new int[] {0, 1, 8, 9, 10, 11}) {
                assertThat(outcomes.get(i)).isInstanceOf(Renewal.Kept.class);
            }
            assertThat(outcomes.get(3)).isInstanceOf(Renewal.Lost.class);
        }
    }
}
