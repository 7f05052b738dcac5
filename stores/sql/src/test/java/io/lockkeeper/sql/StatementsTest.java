// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.Lease;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.Mode;
import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.ClaimId;
import io.lockkeeper.spi.Grant;
import io.lockkeeper.spi.Renewal;
import io.lockkeeper.spi.Renewals;
import io.lockkeeper.spi.Terms;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
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
                    assertThat(source.taken()).singleElement().asString().startsWith("auto: ");
                }
                assertThat(source.taken()).singleElement().asString().startsWith("auto: ");
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
            List<String> executed = source.taken();
            assertThat(executed.stream().filter(text -> text.contains("UPDATE")))
                    .hasSize(1);
            // MariaDB cannot tell at the same time which rows it has updated.
            assertThat(executed).hasSize(db == Db.MARIADB ? 2 : 1);
        }
    }

    static Claim claim(SqlStore store, String name) {
        Terms terms = new Terms(
                Mode.EXCLUSIVE,
                1,
                0,
                Duration.ofMinutes(1),
                Duration.ZERO,
                Duration.ofMinutes(1),
                64,
                true,
                "test",
                "label");
        ClaimId id = new ClaimId(UUID.randomUUID().toString(), 1);
        return new Claim(name, id, terms, store.time(store).plusMicros(60_000_000), false);
    }
}
