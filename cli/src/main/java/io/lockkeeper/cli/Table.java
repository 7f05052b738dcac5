// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

/**
 * Rows of aligned columns. The first {@link #DECIDING} rows decide how wide the columns are; from then on each row is
 * printed when it comes, so that a long table is neither kept in memory nor waited for. A later cell that is wider than
 * its column moves the rest of its row to the right.
 */
final class Table implements AutoCloseable {
    /** Several pages of a terminal: what people see of a table is aligned. */
    static final int DECIDING = 1_000;

    private final Consumer<String> out;
    private final UnaryOperator<String> headStyle;
    private final List<List<String>> deciding = new ArrayList<>();
    private int[] widths = {};

    /**
     * A table with these names of columns.
     *
     * @param out prints a line
     * @param headStyle makes the first line stand out
     */
    Table(Consumer<String> out, UnaryOperator<String> headStyle, String... head) {
        this.out = out;
        this.headStyle = headStyle;
        deciding.add(List.of(head));
    }

    void row(String... cells) {
        if (widths.length > 0) {
            out.accept(line(List.of(cells)));
            return;
        }
        deciding.add(List.of(cells));
        if (deciding.size() > DECIDING) {
            decide();
        }
    }

    /** Prints the rows that have not been printed yet. */
    @Override
    public void close() {
        if (widths.length == 0) {
            decide();
        }
    }

    private void decide() {
        widths = new int[deciding.get(0).size()];
        for (List<String> row : deciding) {
            for (int i = 0; i < widths.length; i++) {
                widths[i] = Math.max(widths[i], width(row.get(i)));
            }
        }
        out.accept(headStyle.apply(line(deciding.get(0))));
        deciding.subList(1, deciding.size()).forEach(row -> out.accept(line(row)));
        deciding.clear();
    }

    private String line(List<String> row) {
        StringBuilder line = new StringBuilder();
        for (int i = 0; i < widths.length; i++) {
            String cell = row.get(i);
            line.append(cell);
            if (i < widths.length - 1) {
                line.append(" ".repeat(Math.max(0, widths[i] - width(cell)) + 2));
            }
        }
        return line.toString().stripTrailing();
    }

    private static int width(String cell) {
        return cell.codePointCount(0, cell.length());
    }
}
