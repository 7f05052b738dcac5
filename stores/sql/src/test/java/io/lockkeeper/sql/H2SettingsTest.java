// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lockkeeper.Lease;
import io.lockkeeper.LockInfo;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.Mode;
import io.lockkeeper.Sequencer;
import io.lockkeeper.StoreUnavailableException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** H2 as others have set it: it works as usual, or is rejected when the store is opened. */
class H2SettingsTest {
    @TempDir
    Path folder;

    private String url(String settings) {
        return "jdbc:h2:" + folder.resolve("locks") + settings;
    }

    private void execute(String settings, String... statements) throws SQLException {
        try (Connection connection = DriverManager.getConnection(url(settings));
                Statement s = connection.createStatement()) {
            for (String statement : statements) {
                s.execute(statement);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                ";MODE=PostgreSQL",
                ";MODE=PostgreSQL;DATABASE_TO_LOWER=TRUE;DEFAULT_NULL_ORDERING=HIGH",
                ";MODE=MySQL",
                ";MODE=MariaDB",
                ";MODE=DB2",
                ";MODE=HSQLDB",
                ";MODE=LEGACY",
                ";IGNORECASE=TRUE",
                ";MODE=MySQL;IGNORECASE=TRUE;DATABASE_TO_LOWER=TRUE",
                ";DATABASE_TO_UPPER=FALSE",
                ";CASE_INSENSITIVE_IDENTIFIERS=TRUE",
                ";OLD_INFORMATION_SCHEMA=TRUE"
            })
    void itWorksAsUsual(String settings) throws Exception {
        for (int i = 0; i < 2; i++) { // also in tables that H2 has read from the file
            try (SqlStore here = Db.open(url(settings));
                    SqlStore there = Db.open(url(settings))) {
                namesDiffer(here, there);
            }
            execute(settings, "SHUTDOWN");
        }
    }

    private static void namesDiffer(SqlStore here, SqlStore there) throws Exception {
        try (Lockkeeper one = Lockkeeper.on(here);
                Lockkeeper two = Lockkeeper.on(there);
                Lease held = one.lock("Name").acquire();
                Lease other = two.lock("name").tryAcquire().orElseThrow()) {
            CompletableFuture<Lease> waiting = two.lock("Name").acquireAsync();
            Spi.await("it waits", () -> here.inspect("Name").orElseThrow().waiters() == 1);
            assertThat(here.list("", 5)).extracting(LockInfo::name).containsExactly("Name", "name");
            assertThat(here.inspect("NAME")).isEmpty();
            assertThat(held.release()).isTrue();
            try (Lease next = waiting.get(30, TimeUnit.SECONDS)) {
                assertThat(next.isValid()).isTrue();
            }
            assertThat(other.isValid()).isTrue();
            assertThat(one.latch("Name").trySetCount(2)).isTrue();
            assertThat(two.latch("name").trySetCount(1)).isTrue();
            two.latch("name").countDown();
            assertThat(one.latch("Name").count()).isEqualTo(2);
            one.latch("Name").countDown();
            one.latch("Name").countDown();
        }
    }

    /** It is a setting of the whole database, and anybody may change it. */
    @Test
    void caseMattersAlsoWhenOthersComeToIgnoreIt() throws Exception {
        try (SqlStore here = Db.open(url(""));
                SqlStore there = Db.open(url(""))) {
            execute("", "SET IGNORECASE TRUE");
            namesDiffer(here, there);
        }
    }

    @Test
    void caseMattersInFencesAndTransactionsToo() throws Exception {
        Db.open(url(";IGNORECASE=TRUE")).close();
        try (Connection one = DriverManager.getConnection(url(";IGNORECASE=TRUE"));
                Connection two = DriverManager.getConnection(url(";IGNORECASE=TRUE"))) {
            JdbcFence.createTable(one, SqlOptions.defaults());
            one.setAutoCommit(false);
            two.setAutoCommit(false);
            JdbcFence.in(one).enter(new Sequencer("Name", Mode.EXCLUSIVE, 2));
            SqlLocks.inTransaction(one, "Name");
            JdbcFence.in(two).enter(new Sequencer("name", Mode.EXCLUSIVE, 1));
            SqlLocks.inTransaction(two, "name");
            one.commit();
            two.commit();
        }
    }

    @ParameterizedTest
    @CsvSource({
        "MODE=Oracle, MODE is 'Oracle'; allowed are REGULAR",
        "MODE=MSSQLServer, MODE is 'MSSQLServer'; allowed are REGULAR",
        "MODE=Derby, MODE is 'Derby'; allowed are REGULAR",
        "MODE=STRICT, MODE is 'STRICT'; allowed are REGULAR",
        "INIT=SET COLLATION ENGLISH STRENGTH PRIMARY, COLLATION is 'ENGLISH STRENGTH PRIMARY'; allowed is OFF",
        "INIT=SET COLLATION GERMAN, COLLATION is 'GERMAN STRENGTH TERTIARY'; allowed is OFF"
    })
    void itIsRejectedBeforeAnyTableIsMade(String setting, String message) throws Exception {
        assertThatThrownBy(() -> Db.open(url(";" + setting)))
                .isInstanceOfSatisfying(StoreUnavailableException.class, e -> assertThat(e.worthRepeating())
                        .isFalse())
                .hasMessageContaining(message);
        try (Connection connection = DriverManager.getConnection(url(""));
                ResultSet tables = connection.getMetaData().getTables(null, null, "lockkeeper%", null)) {
            assertThat(tables.next()).isFalse();
        }
    }

    @Test
    void aCollationThatIsOffIsNone() throws Exception {
        execute("", "SET COLLATION ENGLISH", "SET COLLATION OFF");
        try (SqlStore here = Db.open(url(""));
                SqlStore there = Db.open(url(""))) {
            namesDiffer(here, there);
        }
    }

    /** Made by hand, or by a version that did not look. */
    @Test
    void tablesThatIgnoreCaseAreRejected() throws Exception {
        String[] plain = SqlStore.ddl("H2", SqlOptions.defaults()).stream()
                .map(statement -> statement.replace("VARCHAR_CASESENSITIVE", "VARCHAR"))
                .toArray(String[]::new);
        execute(";IGNORECASE=TRUE", plain);
        execute("", "SET IGNORECASE FALSE");
        assertThatThrownBy(() -> Db.open(url("")))
                .isInstanceOf(StoreUnavailableException.class)
                .hasMessageContaining("\"lockkeeper_lock\"")
                .hasMessageContaining("IGNORECASE was TRUE when they were made");
    }
}
