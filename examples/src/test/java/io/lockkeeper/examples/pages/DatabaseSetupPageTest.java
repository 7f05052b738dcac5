// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.examples.pages;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.sql.SqlOptions;
import io.lockkeeper.sql.SqlStore;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The statements that the page of the database setup shows are those that make the tables. */
class DatabaseSetupPageTest {
    private static final Page PAGE = Repository.page("docs/database-setup.md");

    @ParameterizedTest
    @CsvSource({
        "PostgreSQL, PostgreSQL",
        "MariaDB, MariaDB and MySQL",
        "MySQL, MariaDB and MySQL",
        "SQLite, SQLite",
        "H2, H2"
    })
    void eachStatementIsInTheSectionOfItsDatabase(String product, String heading) {
        List<Page.Line> section = PAGE.section(heading);
        String shown = PAGE.blocks("sql").stream()
                .filter(block -> block.line() > section.get(0).number())
                .filter(block -> block.line() < section.get(section.size() - 1).number())
                .map(block -> normal(block.text()))
                .collect(Collectors.joining(" "));
        List<String> statements = SqlStore.ddl(product, SqlOptions.defaults());
        assertThat(statements).isNotEmpty().allSatisfy(statement -> assertThat(shown)
                .contains(normal(statement)));
    }

    private static String normal(String statement) {
        return statement.replaceAll("\\s+", " ").strip();
    }
}
