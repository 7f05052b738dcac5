// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.examples.pages;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.Guarantee;
import io.lockkeeper.Lockkeeper;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The page of guarantees lists all of them, and says of the stores that need no server what these say themselves. */
class GuaranteesPageTest {
    private static final List<List<String>> TABLE =
            Repository.page("docs/guarantees.md").section("Guarantees by store").stream()
                    .map(Page.Line::cells)
                    .toList();

    @Test
    void eachGuaranteeHasARowInTheTable() {
        assertThat(column("memory").keySet())
                .containsExactlyElementsOf(Arrays.stream(Guarantee.values())
                        .map(Enum::name)
                        .sorted()
                        .toList());
    }

    @Test
    void theColumnsOfStoresWithoutAServerAreTrue(@TempDir Path folder) {
        assertColumn("memory", "memory:");
        assertColumn("file", "file:" + folder.resolve("locks.db"));
        assertColumn("H2", "jdbc:h2:" + folder.resolve("h2"));
        assertColumn("SQLite", "jdbc:sqlite:" + folder.resolve("sqlite.db"));
    }

    private static void assertColumn(String store, String url) {
        try (Lockkeeper keeper = Lockkeeper.connect(url)) {
            Map<String, String> column = column(store);
            for (Guarantee guarantee : Guarantee.values()) {
                assertThat(String.valueOf(column.get(guarantee.name())))
                        .as("%s of %s", guarantee, store)
                        .startsWith(keeper.guarantees().has(guarantee) ? "yes" : "no");
            }
        }
    }

    /** From the names of guarantees, in alphabetical order, to what the table says of them. */
    private static Map<String, String> column(String store) {
        List<String> header = TABLE.stream()
                .filter(cells -> cells.contains(store))
                .findFirst()
                .orElseThrow();
        var column = new LinkedHashMap<String, String>();
        TABLE.stream()
                .filter(cells -> cells.size() == header.size() && cells.get(0).matches("`[A-Z_]+`"))
                .sorted((a, b) -> a.get(0).compareTo(b.get(0)))
                .forEach(cells -> column.put(cells.get(0).replace("`", ""), cells.get(header.indexOf(store))));
        return column;
    }
}
