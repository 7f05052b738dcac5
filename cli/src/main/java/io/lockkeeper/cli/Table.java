// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.cli;

import java.util.ArrayList;
import java.util.List;

/** Rows of aligned columns. */
final class Table {
    private final List<List<String>> rows = new ArrayList<>();

    Table(String... head) {
        rows.add(List.of(head));
    }

    void row(String... cells) {
        rows.add(List.of(cells));
    }

    void print(Terminal terminal) {
        int columns = rows.get(0).size();
        int[] widths = new int[columns];
        for (List<String> row : rows) {
            for (int i = 0; i < columns; i++) {
                widths[i] = Math.max(widths[i], width(row.get(i)));
            }
        }
        for (int r = 0; r < rows.size(); r++) {
            StringBuilder line = new StringBuilder();
            for (int i = 0; i < columns; i++) {
                String cell = rows.get(r).get(i);
                line.append(cell);
                if (i < columns - 1) {
                    line.append(" ".repeat(widths[i] - width(cell) + 2));
                }
            }
            String text = line.toString().stripTrailing();
            terminal.println(r == 0 ? terminal.bold(text) : text);
        }
    }

    private static int width(String cell) {
        return cell.codePointCount(0, cell.length());
    }
}
