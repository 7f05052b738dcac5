// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.lockkeeper.Guarantee;
import io.lockkeeper.Lease;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.testservers.SecretSearch;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code jdbc:} URLs. */
class UrlTest {
    @TempDir
    Path folder;

    private String url(String parameters) {
        return "jdbc:sqlite:" + folder.resolve("u.db") + "?" + parameters;
    }

    @Test
    void aKeeperConnectsByUrl() throws Exception {
        try (Lockkeeper keeper = Lockkeeper.connect(url("lockkeeper.tablePrefix=My_&patience=5s&operationTimeout=2s"));
                Lease lease = keeper.lock("a").acquire()) {
            assertThat(lease.isValid()).isTrue();
        }
    }

    @Test
    void anUnknownParameterOfOursIsRefusedWithTheKnown() {
        assertThatThrownBy(() -> Lockkeeper.connect(url("lockkeeper.tabelPrefix=x")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("lockkeeper.tabelPrefix")
                .hasMessageContaining("lockkeeper.tablePrefix")
                .hasMessageContaining("lockkeeper.schema")
                .hasMessageContaining("lockkeeper.createTables")
                .hasMessageContaining("lockkeeper.durability");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "lockkeeper.tablePrefix=a%20b",
                "lockkeeper.tablePrefix=1a",
                "lockkeeper.tablePrefix=a%22%3Bdrop",
                "lockkeeper.tablePrefix=",
                "lockkeeper.schema=x.y",
                "lockkeeper.schema=%C3%A4",
                "lockkeeper.createTables=maybe",
                "lockkeeper.durability=none",
                "operationTimeout=soon"
            })
    void badValuesAreRefusedAtOnce(String parameter) {
        assertThatThrownBy(() -> Lockkeeper.connect(url(parameter)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("allowed");
        assertThat(folder.resolve("u.db")).doesNotExist();
    }

    @Test
    void relaxedDurabilityIsNotCalledDurable() {
        try (Lockkeeper keeper = Lockkeeper.connect(url("lockkeeper.durability=relaxed"))) {
            assertThat(keeper.guarantees().has(Guarantee.DURABLE)).isFalse();
        }
        try (Lockkeeper keeper = Lockkeeper.connect(url("lockkeeper.durability=full"))) {
            assertThat(keeper.guarantees().has(Guarantee.DURABLE)).isTrue();
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "jdbc:nosuch://user:hunter2@host/db?password=hunter2",
                "jdbc:postgresql://127.0.0.1:1/db?user=me&password=hunter2",
                "jdbc:mariadb://127.0.0.1:1/db?user=me&password=hunter2",
                "jdbc:h2:tcp://127.0.0.1:1/db?password=hunter2"
            })
    void noSecretIsShown(String url) {
        Throwable failure = catchThrowable(() -> Lockkeeper.connect(url));
        assertThat(failure).isInstanceOfAny(IllegalArgumentException.class, StoreUnavailableException.class);
        assertThat(SecretSearch.text(failure)).doesNotContain("hunter2");
    }

    @ParameterizedTest
    @ValueSource(strings = {"jdbc:sqlite:", "jdbc:sqlite::memory:", "jdbc:sqlite:file::memory:?cache=shared"})
    void aDatabaseThatEachConnectionHasForItselfIsRefused(String url) {
        assertThatThrownBy(() -> Lockkeeper.connect(url))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("memory:");
    }

    @ParameterizedTest
    @ValueSource(strings = {"jdbc:mariadb://127.0.0.1:1/db", "jdbc:h2:mem:x"})
    void relaxedDurabilityIsRefusedWhereItWouldChangeNothing(String url) {
        assertThatThrownBy(() -> Lockkeeper.connect(url + "?lockkeeper.durability=relaxed"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("lockkeeper.durability");
    }

    @ParameterizedTest
    @CsvSource({
        "mysql, com.mysql:mysql-connector-j",
        "MySQL, com.mysql:mysql-connector-j",
        "mariadb, org.mariadb.jdbc:mariadb-java-client",
        "postgresql, org.postgresql:postgresql",
        "sqlite, org.xerial:sqlite-jdbc",
        "h2, com.h2database:h2"
    })
    void aMissingDriverSaysWhatToAdd(String database, String artifact) {
        assertThat(Drivers.missing(database))
                .isEqualTo("no JDBC driver for jdbc:" + database + ": is on the path; add " + artifact);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "jdbc:oracle:thin:@host",
                "jdbc:sqlserver://host:1433;databaseName=db;user=me;password=hunter2",
                "jdbc:db2://host:50000/db",
                "jdbc:nosuch://host/db"
            })
    void aDatabaseThatIsNotSupportedIsSaidToBe(String url) {
        assertThatThrownBy(() -> Lockkeeper.connect(url))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(url.substring(0, url.indexOf(':', 5))
                        + ": is not supported; supported are jdbc: URLs of h2, mariadb, mysql, postgresql, sqlite");
    }

    @Test
    void namesOfTablesAreWholeIdentifiers() {
        SqlOptions options = SqlOptions.defaults().tablePrefix("App$").schema("Locks");
        assertThat(options.table(Dialect.POSTGRESQL, "lock")).isEqualTo("\"Locks\".\"App$lock\"");
        assertThat(options.table(Dialect.MARIADB, "lock")).isEqualTo("`Locks`.`App$lock`");
    }
}
