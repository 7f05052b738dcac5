// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lockkeeper.Lockkeeper;
import io.lockkeeper.spi.StoreUrl;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.DriverPropertyInfo;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Properties;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Our options, nearly spelt right, among those of the drivers. */
class OptionNamesTest { // H96
    @TempDir
    Path folder;

    @ParameterizedTest
    @CsvSource({
        "lockkeper.tablePrefix, lockkeeper.tablePrefix",
        "lockeeper.tablePrefix, lockkeeper.tablePrefix",
        "lokkeeper.tablePrefix, lockkeeper.tablePrefix",
        "lockekeper.tablePrefix, lockkeeper.tablePrefix",
        "lock-keeper.tablePrefix, lockkeeper.tablePrefix",
        "lockkeeper.tableprefix, lockkeeper.tablePrefix",
        "lockkeeper.table_prefix, lockkeeper.tablePrefix",
        "lockkeeper.tabelPrefix, lockkeeper.tablePrefix",
        "lockkeepertablePrefix, lockkeeper.tablePrefix",
        "LockKeeper.tablePrefix, lockkeeper.tablePrefix",
        "tablePrefix, lockkeeper.tablePrefix",
        "tableprefix, lockkeeper.tablePrefix",
        "table-prefix, lockkeeper.tablePrefix",
        "Lockkeeper.schema, lockkeeper.schema",
        "LOCKKEEPER.SCHEMA, lockkeeper.schema",
        "lockkeeper_schema, lockkeeper.schema",
        "lockkeeper-schema, lockkeeper.schema",
        "lockkeeper.shema, lockkeeper.schema",
        "schema, lockkeeper.schema",
        "lockkeeper.createtables, lockkeeper.createTables",
        "lockkeeper.createTable, lockkeeper.createTables",
        "lockkeeper:createTables, lockkeeper.createTables",
        "lockkeepr.createTables, lockkeeper.createTables",
        "createTables, lockkeeper.createTables",
        "createTable, lockkeeper.createTables",
        "create_tables, lockkeeper.createTables",
        "lockkeeper.duability, lockkeeper.durability",
        "durability, lockkeeper.durability",
        "Durability, lockkeeper.durability",
        "operationtimeout, operationTimeout",
        "operation_timeout, operationTimeout",
        "operatonTimeout, operationTimeout",
        "lockkeeper.operationTimeout, operationTimeout",
        "Patience, patience",
        "patiense, patience",
        "lockkeeper.patience, patience"
    })
    void whatIsNearlyOneOfOursIsRejectedWithTheCorrectSpelling(String wrong, String right) {
        Path file = folder.resolve("u.db");
        assertThatThrownBy(() -> Lockkeeper.connect("jdbc:sqlite:" + file + "?" + wrong + "=5s"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("'" + wrong + "'")
                .hasMessageContaining("write '" + right + "'");
        assertThatThrownBy(() -> new SqlProvider().ddl(StoreUrl.parse("jdbc:sqlite:" + file + "?" + wrong + "=5s")))
                .isInstanceOf(IllegalArgumentException.class);
        assertThat(file).doesNotExist();
    }

    @Test
    void aPrefixAloneOrWithSomethingElseIsRejectedWithTheKnown() {
        for (String wrong : List.of("lockkeeper.", "lockkeeper", "lockkeeper.colour", "lockkeepr.x")) {
            assertThatThrownBy(() -> OptionNames.isForDriver(wrong, "postgresql"))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("'" + wrong + "'")
                    .hasMessageContaining("lockkeeper.createTables");
        }
    }

    @ParameterizedTest
    @CsvSource({
        "postgresql, jdbc:postgresql://h/db, 60",
        "mariadb, jdbc:mariadb://h/db, 60",
        "mysql, jdbc:mysql://h/db, 150",
        "sqlite, jdbc:sqlite:x, 30"
    })
    void allThatADriverKnowsGoesToIt(String database, String url, int atLeast) throws Exception {
        DriverPropertyInfo[] known = DriverManager.getDriver(url).getPropertyInfo(url, new Properties());
        assertThat(known).hasSizeGreaterThan(atLeast);
        assertThat(Arrays.stream(known).map(each -> each.name))
                .allSatisfy(name ->
                        assertThat(OptionNames.isForDriver(name, database)).isTrue());
    }

    @Test
    void allThatH2KnowsGoesToIt() throws Exception {
        List<String> names = new ArrayList<>(List.of(
                "SCHEMA",
                "SCHEMA_SEARCH_PATH",
                "INIT",
                "USER",
                "PASSWORD",
                "LOCK_TIMEOUT",
                "LOCK_MODE",
                "FILE_LOCK",
                "AUTO_SERVER",
                "DB_CLOSE_DELAY",
                "DATABASE_TO_UPPER",
                "CIPHER",
                "IFEXISTS",
                "ACCESS_MODE_DATA",
                "MODE",
                "NON_KEYWORDS",
                "TRACE_LEVEL_FILE"));
        try (Connection connection = Db.H2.connect();
                Statement s = connection.createStatement();
                ResultSet row = s.executeQuery("SELECT SETTING_NAME FROM INFORMATION_SCHEMA.SETTINGS")) {
            while (row.next()) {
                names.add(row.getString(1));
            }
        }
        assertThat(names).hasSizeGreaterThan(50).allSatisfy(name -> assertThat(OptionNames.isForDriver(name, "h2"))
                .isTrue());
    }

    @ParameterizedTest
    @CsvSource({
        "postgresql, currentSchema",
        "postgresql, options",
        "postgresql, socketTimeout",
        "postgresql, connectTimeout",
        "postgresql, lock_timeout",
        "mysql, createDatabaseIfNotExist",
        "mariadb, createDatabaseIfNotExist",
        "mysql, databaseTerm",
        "sqlite, locking_mode",
        "sqlite, busy_timeout",
        "oracle, schema",
        "p6spy, schema"
    })
    void otherNamesGoToTheDriver(String database, String name) {
        assertThat(OptionNames.isForDriver(name, database)).isTrue();
    }
}
