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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Somebody deletes or changes single rows: the next renewal finds that out, and others go on. H115 */
class DeletedByHandTest {
    private final String prefix = Db.freshPrefix();

    private SqlStore open(Db db) {
        return Db.open(Db.with(db.url(), "lockkeeper.tablePrefix=" + prefix));
    }

    private static Renewal renew(SqlStore store, List<Renewals.Hold> holds, List<Claim> queued) {
        return store.renew(new Renewals(holds, queued));
    }

    @ParameterizedTest
    @EnumSource
    void aHoldWhoseNameWasDeletedIsLost(Db db) throws Exception {
        try (SqlStore store = open(db)) {
            Renewals.Hold deleted = Spi.hold(store, "a", Mode.EXCLUSIVE, Spi.LEASE);
            Claim waiter = Spi.queue(store, "a", Mode.EXCLUSIVE);
            Renewals.Hold other = Spi.hold(store, "b", Mode.EXCLUSIVE, Spi.LEASE);
            db.execute("DELETE FROM " + db.table(prefix, "lock") + " WHERE name = 'a'");
            Renewal renewal = renew(store, List.of(deleted, other), List.of(waiter));
            assertThat(renewal.holds().get(0)).isEqualTo(new Renewal.Lost(LeaseLost.Reason.EXPIRED));
            assertThat(renewal.holds().get(1)).isInstanceOf(Renewal.Kept.class);
            assertThat(renewal.queued().get(0)).isInstanceOf(Answer.Refused.class);
            assertThat(store.release(deleted.grant())).isFalse();
            Renewals.Hold next = Spi.hold(store, "a", Mode.EXCLUSIVE, Spi.LEASE);
            assertThat(next.grant().token()).isGreaterThan(deleted.grant().token());
        }
    }

    /** As somebody would do to free a name, without knowing what else the row says. */
    @ParameterizedTest
    @EnumSource
    void aHoldWhoseNameWasSetFreeIsLost(Db db) throws Exception {
        for (int holders : new int[] {0, -5}) {
            try (SqlStore store = open(db)) {
                Renewals.Hold freed = Spi.hold(store, "a", Mode.EXCLUSIVE, Spi.LEASE);
                Renewals.Hold other = Spi.hold(store, "b", Mode.EXCLUSIVE, Spi.LEASE);
                db.execute("UPDATE " + db.table(prefix, "lock") + " SET holders = " + holders + " WHERE name = 'a'");
                Renewal renewal = renew(store, List.of(freed, other), List.of());
                assertThat(renewal.holds().get(0)).isEqualTo(new Renewal.Lost(LeaseLost.Reason.EXPIRED));
                assertThat(renewal.holds().get(1)).isInstanceOf(Renewal.Kept.class);
                assertThat(store.release(freed.grant())).isFalse();
                Renewals.Hold next = Spi.hold(store, "a", Mode.EXCLUSIVE, Spi.LEASE);
                assertThat(next.grant().token()).isGreaterThan(freed.grant().token());
                assertThat(store.release(next.grant())).isTrue();
                assertThat(store.release(other.grant())).isTrue();
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void aReaderOrPermitThatWasDeletedIsLostAndTheOthersAreKept(Db db) throws Exception {
        for (Mode mode : new Mode[] {Mode.SHARED, Mode.PERMITS}) {
            try (SqlStore store = open(db)) {
                String name = "of-" + mode;
                Renewals.Hold first = Spi.hold(store, name, mode, Spi.LEASE);
                Renewals.Hold deleted = Spi.hold(store, name, mode, Spi.LEASE);
                Renewals.Hold third = Spi.hold(store, name, mode, Spi.LEASE);
                db.execute("DELETE FROM " + db.table(prefix, "claim") + " WHERE claim = '"
                        + deleted.grant().claim().id() + "'");
                List<Renewal.Outcome> outcomes =
                        renew(store, List.of(first, deleted, third), List.of()).holds();
                assertThat(outcomes.get(0)).isInstanceOf(Renewal.Kept.class);
                assertThat(outcomes.get(1)).isEqualTo(new Renewal.Lost(LeaseLost.Reason.EXPIRED));
                assertThat(outcomes.get(2)).isInstanceOf(Renewal.Kept.class);
                assertThat(store.inspect(name).orElseThrow().holders()).hasSize(2);
                assertThat(store.release(deleted.grant())).isFalse();
                assertThat(store.release(first.grant())).isTrue();
                assertThat(store.release(third.grant())).isTrue();
                assertThat(store.inspect(name)).isEmpty();
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void aWaiterThatWasDeletedQueuesAgain(Db db) throws Exception {
        LockOptions options = LockOptions.defaults().lease(Duration.ofSeconds(3));
        try (SqlStore store = open(db);
                Lockkeeper keeper = Lockkeeper.builder(store)
                        .operationTimeout(Duration.ofSeconds(20))
                        .patience(Duration.ofSeconds(2))
                        .build()) {
            Renewals.Hold held = Spi.hold(store, "a", Mode.EXCLUSIVE, Spi.LEASE);
            CompletableFuture<Lease> waiting = keeper.lock("a", options).acquireAsync();
            Spi.await("it waits", () -> store.inspect("a").orElseThrow().waiters() == 1);
            String claims = db.table(prefix, "claim");
            String before = db.query("SELECT claim FROM " + claims);
            db.execute("DELETE FROM " + claims);
            Spi.await("it waits again", () -> store.inspect("a").orElseThrow().waiters() == 1);
            assertThat(db.query("SELECT claim FROM " + claims)).isNotEqualTo(before);
            assertThat(store.release(held.grant())).isTrue();
            waiting.get(30, TimeUnit.SECONDS).close();
            assertThat(store.inspect("a")).isEmpty();
        }
    }
}
