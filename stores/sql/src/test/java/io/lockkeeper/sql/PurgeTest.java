// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.Mode;
import io.lockkeeper.spi.Claim;
import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Names that nobody uses any more are forgotten, whatever else is in the tables. H59 */
class PurgeTest {
    @ParameterizedTest
    @EnumSource
    void whatTheDeadHeldIsForgottenInAFewRounds(Db db) throws Exception {
        String prefix = Db.freshPrefix();
        String table = db.table(prefix, "lock");
        try (SqlStore store = Db.open(Db.with(db.url(), "lockkeeper.tablePrefix=" + prefix))) {
            for (int i = 0; i < 300; i++) {
                store.claim(Spi.claim(store, "n" + i, Mode.EXCLUSIVE));
            }
            Claim alive = Spi.claim(store, "alive", Mode.EXCLUSIVE);
            store.claim(alive);
            db.execute(
                    "UPDATE " + table + " SET expires = 1, name = '%zz' WHERE name = 'n0'", // by hand
                    "UPDATE " + table + " SET expires = 1, format = 2 WHERE name = 'n1'", // of a newer version
                    "UPDATE " + table + " SET expires = 1 WHERE name <> 'alive'");
            Spi.awaitPurged(store, 3);
            assertThat(store.inspect("alive")).isPresent();
        }
    }

    @ParameterizedTest
    @EnumSource
    void oneClientAtATimeDoesIt(Db db) throws Exception {
        String url = db.freshUrl();
        try (SqlStore one = Db.open(url);
                SqlStore two = Db.open(url)) {
            Claim claim = Spi.claim(one, "a", Mode.EXCLUSIVE);
            one.claim(claim);
            one.withdraw(claim);
            two.purge(Duration.ofHours(1)); // takes the turn, and finds nothing
            one.purge(Duration.ofHours(1));
            assertThat(one.size()).isEqualTo(1);
            Spi.awaitPurged(two, 0);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aStoreThatIsClosedMeanwhileIsNoReasonToWarn(Db db) {
        try (LogTap log = new LogTap()) {
            SqlStore store = Db.open(db.freshUrl());
            store.close();
            store.purgeOrWarn(Duration.ZERO); // as if it had begun just before
            assertThat(log.warnings("could not forget idle names")).isEmpty();
        }
    }
}
