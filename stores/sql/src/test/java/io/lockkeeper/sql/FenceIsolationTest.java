// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lockkeeper.Mode;
import io.lockkeeper.Sequencer;
import java.sql.Connection;
import java.sql.Statement;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Each isolation level on each database: a fence works in it, or rejects it. {@link MySqlTest} has those of MySQL.
 */
class FenceIsolationTest { // H100
    @ParameterizedTest(name = "{0}, level {1}")
    @CsvSource({
        "POSTGRESQL, " + Connection.TRANSACTION_READ_UNCOMMITTED,
        "POSTGRESQL, " + Connection.TRANSACTION_READ_COMMITTED,
        "MARIADB, " + Connection.TRANSACTION_READ_UNCOMMITTED,
        "MARIADB, " + Connection.TRANSACTION_READ_COMMITTED,
        "MARIADB, " + Connection.TRANSACTION_REPEATABLE_READ,
        "MARIADB, " + Connection.TRANSACTION_SERIALIZABLE,
        "SQLITE, " + Connection.TRANSACTION_READ_UNCOMMITTED,
        "SQLITE, " + Connection.TRANSACTION_SERIALIZABLE,
        "H2, " + Connection.TRANSACTION_READ_UNCOMMITTED,
        "H2, " + Connection.TRANSACTION_READ_COMMITTED,
    })
    void theSuccessorReadsWhatWasCommitted(Db db, int level) throws Exception {
        try (FenceIsolation holders = new FenceIsolation(db::connect, level)) {
            holders.works();
        }
    }

    @ParameterizedTest(name = "{0}, level {1}")
    @CsvSource({
        "POSTGRESQL, " + Connection.TRANSACTION_REPEATABLE_READ,
        "POSTGRESQL, " + Connection.TRANSACTION_SERIALIZABLE,
        "H2, " + Connection.TRANSACTION_REPEATABLE_READ,
        "H2, " + Connection.TRANSACTION_SERIALIZABLE,
        "H2, 6" // SNAPSHOT, which only H2 has
    })
    void aLevelThatWouldShowAnEarlierStateIsRejected(Db db, int level) throws Exception {
        try (FenceIsolation holders = new FenceIsolation(db::connect, level)) {
            holders.isRejected();
        }
    }

    @Test
    void aLevelThatWasSetBySqlCountsAsWell() throws Exception {
        try (Connection connection = Db.POSTGRESQL.connect();
                Statement s = connection.createStatement()) {
            connection.setAutoCommit(false);
            s.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ");
            assertThatThrownBy(() -> JdbcFence.in(connection).enter(new Sequencer("a", Mode.EXCLUSIVE, 1)))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("is in REPEATABLE READ");
            connection.rollback();
        }
    }
}
