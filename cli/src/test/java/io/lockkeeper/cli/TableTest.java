// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Aligned columns, also of a table that is too long to keep. */
class TableTest {
    private final List<String> printed = new ArrayList<>();
    private final Table table = new Table(printed::add, head -> "*" + head, "NAME", "WAITING");

    @Test
    void columnsAreAsWideAsTheirWidestCell() {
        table.row("a", "1");
        table.row("a-long-name-ü", "22");
        assertThat(printed).as("nothing is printed before the widths are known").isEmpty();
        table.close();
        assertThat(printed).containsExactly("*NAME           WAITING", "a              1", "a-long-name-ü  22");
    }

    @Test
    void aTableWithoutRowsHasItsHead() {
        table.close();
        assertThat(printed).containsExactly("*NAME  WAITING");
    }

    @Test
    void aLongTableIsPrintedAsItsRowsCome() {
        for (int i = 0; i < Table.DECIDING; i++) {
            table.row("name", "0");
        }
        assertThat(printed).hasSize(1 + Table.DECIDING);
        table.row("n", "1");
        assertThat(printed.get(1 + Table.DECIDING)).isEqualTo("n     1");
        table.row("longer-than-its-column", "2");
        assertThat(printed.get(2 + Table.DECIDING)).isEqualTo("longer-than-its-column  2");
        table.close();
        assertThat(printed).hasSize(3 + Table.DECIDING);
    }
}
