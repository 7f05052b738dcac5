// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.spi.Answer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A user of the database who may not make tables. */
class RightsTest {
    private final String prefix = Db.freshPrefix();
    private final String user = "plain_" + prefix;

    /** The URL of the database for this user. */
    private String url(Db db) {
        String url = db.url().replaceFirst("user=[a-z]+", "user=" + user);
        return Db.with(url, "lockkeeper.tablePrefix=" + prefix);
    }

    private static void assertSaysWhatToDo(Throwable e, String grant) {
        assertThat(e)
                .isInstanceOfSatisfying(
                        StoreUnavailableException.class,
                        unavailable -> assertThat(unavailable.worthRepeating()).isFalse())
                .hasMessageContaining(grant)
                .hasMessageContaining("lockkeeper.createTables=false")
                .hasMessageContaining("lockkeeper ddl");
    }

    private void makeTables(Db db) throws Exception {
        db.execute(SqlStore.ddl(db.product(), SqlOptions.defaults().tablePrefix(prefix))
                .toArray(new String[0]));
    }

    @ParameterizedTest
    @EnumSource(names = {"POSTGRESQL", "MARIADB"})
    void aUserWhoMayNotMakeTablesIsShownWhatToGrant(Db db) throws Exception {
        boolean isPostgres = db == Db.POSTGRESQL;
        db.execute(
                isPostgres ? "CREATE ROLE " + user + " LOGIN" : "CREATE USER " + user,
                isPostgres
                        ? "REVOKE CREATE ON SCHEMA public FROM PUBLIC"
                        : "GRANT SELECT, INSERT, UPDATE, DELETE ON test.* TO " + user);
        String grant = isPostgres
                ? "GRANT USAGE, CREATE ON SCHEMA \"public\" TO \"" + user + "\""
                : "GRANT CREATE, SELECT, INSERT, UPDATE, DELETE ON `test`.* TO " + user;
        assertThatThrownBy(() -> Db.open(url(db))).satisfies(e -> assertSaysWhatToDo(e, grant));

        makeTables(db);
        if (isPostgres) {
            for (String table : new String[] {"lock", "claim", "latch", "meta"}) {
                db.execute("GRANT SELECT, INSERT, UPDATE, DELETE ON " + db.table(prefix, table) + " TO " + user);
            }
        }
        try (SqlStore store = Db.open(Db.with(url(db), "lockkeeper.createTables=false"))) {
            assertThat(store.claim(StatementsTest.claim(store, "a"))).isInstanceOf(Answer.Granted.class);
        }
    }

    @Test
    void aPostgresRoleThatMayNotUseTheTablesGetsAClearError() throws Exception {
        makeTables(Db.POSTGRESQL);
        Db.POSTGRESQL.execute("CREATE ROLE " + user + " LOGIN");
        assertThatThrownBy(() -> Db.open(url(Db.POSTGRESQL)))
                .isInstanceOfSatisfying(StoreUnavailableException.class, e -> assertThat(e.worthRepeating())
                        .isFalse())
                .hasMessageContaining("permission denied for table");
    }
}
