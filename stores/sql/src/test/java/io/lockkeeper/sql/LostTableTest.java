// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.Lease;
import io.lockkeeper.LeaseLost;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.Mode;
import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.Renewal;
import io.lockkeeper.spi.Renewals;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** One table is emptied or dropped while it is in use, and the others are not. H32, H33 */
class LostTableTest {
    static Stream<Arguments> all() {
        return Stream.of(Db.values()).flatMap(db -> Stream.of("lock", "claim", "latch", "meta")
                .flatMap(table -> Stream.of("DELETE FROM ", "DROP TABLE ").map(how -> Arguments.of(db, table, how))));
    }

    private static SqlStore open(Db db, String prefix) {
        return Db.open(Db.with(db.url(), "lockkeeper.tablePrefix=" + prefix));
    }

    private static Lockkeeper keeper(SqlStore store) {
        return Lockkeeper.builder(store)
                .operationTimeout(Duration.ofSeconds(20))
                .patience(Duration.ofSeconds(3))
                .build();
    }

    @ParameterizedTest
    @MethodSource("all")
    void locksGoOnAndTokensRise(Db db, String table, String how) throws Exception {
        String prefix = Db.freshPrefix();
        LockOptions options =
                LockOptions.defaults().lease(Duration.ofSeconds(3)).fair(true);
        try (SqlStore a = open(db, prefix);
                SqlStore b = open(db, prefix);
                Lockkeeper one = keeper(a);
                Lockkeeper two = keeper(b)) {
            Lease held = one.lock("held", options).acquire();
            Lease reader = one.readWriteLock("readers", options).readLock().acquire();
            Lease second = two.readWriteLock("readers", options).readLock().acquire();
            CompletableFuture<Lease> waiting = two.lock("held", options).acquireAsync();
            Spi.await("it waits", () -> a.inspect("held").orElseThrow().waiters() == 1);
            db.execute(how + db.table(prefix, table));

            try (Lease fresh = two.lock("fresh", options).acquire()) {
                assertThat(fresh.token()).isGreaterThan(held.token());
            }
            held.release();
            try (Lease next = waiting.get(60, TimeUnit.SECONDS)) {
                assertThat(next.token()).isGreaterThan(held.token());
            }
            reader.release();
            second.release();
            try (Lease writer =
                    one.readWriteLock("readers", options).writeLock().acquire()) {
                assertThat(writer.token()).isGreaterThan(second.token());
            }
            assertThat(two.latch("latch").trySetCount(1)).isTrue();
            one.latch("latch").countDown();
            assertThat(two.latch("latch").await(Duration.ofSeconds(30))).isTrue();
        }
    }

    @ParameterizedTest
    @EnumSource
    void readersFromBeforeTheTableWasEmptiedAreNoHoldersBesideAWriter(Db db) throws Exception {
        String prefix = Db.freshPrefix();
        try (SqlStore store = open(db, prefix)) {
            Spi.hold(store, "a", Mode.SHARED, Spi.LEASE);
            Renewals.Hold reader = Spi.hold(store, "a", Mode.SHARED, Spi.LEASE);
            Claim old = Spi.queue(store, "a", Mode.EXCLUSIVE);
            db.execute("DELETE FROM " + db.table(prefix, "lock"));

            Renewals.Hold writer = Spi.hold(store, "a", Mode.EXCLUSIVE, Spi.LEASE);
            Claim waiter = Spi.queue(store, "a", Mode.EXCLUSIVE);
            Renewal renewal = store.renew(new Renewals(List.of(writer, reader), List.of(waiter, old)));
            assertThat(renewal.holds().get(0)).isInstanceOf(Renewal.Kept.class);
            assertThat(renewal.holds().get(1)).isEqualTo(new Renewal.Lost(LeaseLost.Reason.EXPIRED));
            assertThat(renewal.queued().get(0))
                    .isInstanceOfSatisfying(Answer.Queued.class, queued -> assertThat(queued.ahead())
                            .isZero());
            assertThat(renewal.queued().get(1)).isInstanceOf(Answer.Refused.class);
            assertThat(store.inspect("a").orElseThrow().holders()).hasSize(1);
            assertThat(store.release(writer.grant())).isTrue();
            assertThat(store.claim(waiter)).isInstanceOf(Answer.Granted.class);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aNameWhoseWaitersVanishedIsAsGoodAsNew(Db db) throws Exception {
        String prefix = Db.freshPrefix();
        try (SqlStore store = open(db, prefix)) {
            Renewals.Hold hold = Spi.hold(store, "a", Mode.EXCLUSIVE, Spi.LEASE);
            Spi.queue(store, "a", Mode.EXCLUSIVE);
            Spi.hold(store, "unused", Mode.EXCLUSIVE, Spi.LEASE);
            Spi.queue(store, "unused", Mode.EXCLUSIVE);
            db.execute("DELETE FROM " + db.table(prefix, "claim"));
            assertThat(store.release(hold.grant())).isTrue();
            Renewals.Hold next = Spi.hold(store, "a", Mode.EXCLUSIVE, Spi.LEASE);
            assertThat(db.query("SELECT waiters FROM " + db.table(prefix, "lock") + " WHERE name = 'a'"))
                    .isEqualTo("0");
            assertThat(store.release(next.grant())).isTrue();
            db.execute("UPDATE " + db.table(prefix, "lock") + " SET expires = 1 WHERE name = 'unused'");
            Spi.awaitPurged(store, 0);
        }
    }

    @ParameterizedTest
    @EnumSource
    void claimsWithoutANameAreForgotten(Db db) throws Exception {
        String prefix = Db.freshPrefix();
        try (SqlStore store = open(db, prefix)) {
            Spi.hold(store, "a", Mode.EXCLUSIVE, Spi.LEASE);
            Spi.queue(store, "a", Mode.EXCLUSIVE);
            db.execute(
                    "DELETE FROM " + db.table(prefix, "lock"),
                    "UPDATE " + db.table(prefix, "claim") + " SET until = 1");
            Spi.awaitPurged(store, 0);
        }
    }
}
