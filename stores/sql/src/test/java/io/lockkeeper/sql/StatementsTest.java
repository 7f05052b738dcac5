// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.Lease;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.Mode;
import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.Grant;
import io.lockkeeper.spi.Renewal;
import io.lockkeeper.spi.Renewals;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What things cost, in statements. */
class StatementsTest {
    @ParameterizedTest
    @EnumSource
    void anUncontendedCycleIsTwoStatementsInAutocommit(Db db) throws Exception {
        CountingSource source = new CountingSource(db.url());
        try (SqlStore store = SqlStore.of(source, SqlOptions.defaults().tablePrefix(Db.freshPrefix()));
                Lockkeeper keeper = Lockkeeper.builder(store)
                        .operationTimeout(Duration.ofSeconds(10))
                        .build()) {
            keeper.lock("a").acquire().close(); // reads the store's clock once
            source.taken();
            for (String name : List.of("a", "b")) { // one that is known, and one that is new
                try (Lease lease =
                        keeper.lock(name, LockOptions.defaults().fair(true)).acquire()) {
                    assertThat(lease.isValid()).isTrue();
                    assertThat(steps(source)).singleElement().asString().startsWith("auto: ");
                }
                assertThat(steps(source)).singleElement().asString().startsWith("auto: ");
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void renewalIsOneUpdateForAllHolds(Db db) {
        CountingSource source = new CountingSource(db.url());
        try (SqlStore store = SqlStore.of(source, SqlOptions.defaults().tablePrefix(Db.freshPrefix()))) {
            List<Renewals.Hold> holds = new ArrayList<>();
            for (int i = 0; i < 50; i++) {
                Claim claim = claim(store, "n" + i);
                Grant grant = Grant.of(claim, (Answer.Granted) store.claim(claim));
                holds.add(new Renewals.Hold(grant, Duration.ofMinutes(2), 0));
            }
            source.taken();
            Renewal renewal = store.renew(new Renewals(holds, List.of()));
            assertThat(renewal.holds()).hasSize(50).allSatisfy(outcome -> assertThat(outcome)
                    .isInstanceOfSatisfying(Renewal.Kept.class, kept -> assertThat(kept.remaining())
                            .isGreaterThan(Duration.ofSeconds(61))));
            List<String> executed = steps(source);
            assertThat(executed.stream().filter(text -> text.contains("UPDATE")))
                    .hasSize(1);
            // MariaDB cannot tell at the same time which rows it has updated.
            assertThat(executed).hasSize(db == Db.MARIADB ? 2 : 1);
        }
    }

    @ParameterizedTest
    @EnumSource
    void readersPermitsAndWaitersAreRenewedWithAFewStatementsForAll(Db db) {
        CountingSource source = new CountingSource(db.url());
        SqlOptions options =
                SqlOptions.defaults().tablePrefix(Db.freshPrefix()).operationTimeout(Duration.ofSeconds(5));
        try (SqlStore store = SqlStore.of(source, options)) {
            List<Renewals.Hold> holds = new ArrayList<>();
            List<Claim> queued = new ArrayList<>();
            for (int i = 0; i < 15; i++) {
                for (int k = 0; k < 3; k++) { // the first of its name, and others
                    holds.add(Spi.hold(store, "readers" + i, Mode.SHARED, Duration.ofMinutes(2)));
                    holds.add(Spi.hold(store, "permits" + i, Mode.PERMITS, Duration.ofMinutes(2)));
                }
                for (int k = 0; k < 3; k++) {
                    queued.add(Spi.queue(store, "readers" + i, Mode.EXCLUSIVE));
                }
            }
            for (int round = 0; round < 2; round++) {
                source.taken();
                Renewal renewal = store.renew(new Renewals(holds, queued));
                assertThat(renewal.holds()).hasSize(90).allSatisfy(outcome -> assertThat(outcome)
                        .isInstanceOfSatisfying(Renewal.Kept.class, kept -> assertThat(kept.remaining())
                                .isGreaterThan(Duration.ofSeconds(61))));
                assertThat(renewal.queued()).hasSize(45).hasOnlyElementsOfType(Answer.Queued.class);
                // First holders; then lock the names, load their claims, and write back holds and places. PostgreSQL
                // reads
                // in one trip and writes in one. MariaDB and SQLite keep places with two separate statements.
                int most = db == Db.MARIADB ? 7 : db == Db.SQLITE ? 6 : db == Db.POSTGRESQL ? 3 : 5;
                assertThat(steps(source)).hasSize(most);
            }
        }
    }

    @Test
    void aHandOverInPostgreSqlIsThreeTrips() {
        CountingSource source = new CountingSource(Db.POSTGRESQL.url());
        try (SqlStore store = SqlStore.of(source, SqlOptions.defaults().tablePrefix(Db.freshPrefix()))) {
            Claim first = claim(store, "n");
            Claim second = claim(store, "n");
            Claim third = claim(store, "n");
            Grant held = Grant.of(first, (Answer.Granted) store.claim(first));
            source.taken();
            assertThat(store.claim(second)).isInstanceOf(Answer.Queued.class);
            assertThat(steps(source))
                    .as("tries, and takes the first place of the queue")
                    .hasSize(2);
            assertThat(store.claim(third)).isInstanceOf(Answer.Queued.class);
            assertThat(steps(source)).as("a name that is known to have a queue").hasSize(1);
            assertThat(store.release(held)).isTrue();
            assertThat(steps(source))
                    .as("reads, then writes and commits")
                    .hasSize(2)
                    .last()
                    .asString()
                    .endsWith("COMMIT");
            Answer answer = store.renew(new Renewals(List.of(), List.of(second)))
                    .queued()
                    .get(0);
            assertThat(answer).isInstanceOf(Answer.Granted.class);
        }
    }

    /** What was executed, except for the look for breaks that each holder takes once a second. */
    private static List<String> steps(CountingSource source) {
        return source.taken().stream()
                .filter(text -> !text.contains("SELECT breaks"))
                .toList();
    }

    static Claim claim(SqlStore store, String name) {
        return Spi.claim(store, name, Mode.EXCLUSIVE);
    }
}
