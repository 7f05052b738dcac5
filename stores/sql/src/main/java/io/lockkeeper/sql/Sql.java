// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The statements of a dialect, ready to be prepared: {@code ${lock}} is a table, {@code ${now}} the text of another file,
 * {@code :parameter} becomes a question mark, {@code :list...} as many as there are values.
 */
final class Sql {
    private static final Pattern PLACEHOLDER = Pattern.compile("\\$\\{([a-z_]+)}");
    private static final Pattern PARAMETER = Pattern.compile("(?<!:):([a-z_]+)(\\.\\.\\.)?");

    private final Dialect dialect;
    private final Map<String, String> tables;
    private final Map<String, Boolean> known = new ConcurrentHashMap<>();
    private final Map<String, Template> templates = new ConcurrentHashMap<>();

    /** Pieces of text, with a parameter between any two. */
    private record Template(List<String> pieces, List<Parameter> parameters) {}

    private record Parameter(String name, boolean isList) {}

    Sql(Dialect dialect, SqlOptions options) {
        this.dialect = dialect;
        this.tables = Map.of(
                "lock", options.table(dialect, "lock"),
                "claim", options.table(dialect, "claim"),
                "latch", options.table(dialect, "latch"),
                "row", options.table(dialect, "row"),
                "meta", options.table(dialect, "meta"));
    }

    Dialect dialect() {
        return dialect;
    }

    /** Whether this dialect has such a statement. */
    boolean has(String name) {
        return known.computeIfAbsent(name, dialect::has);
    }

    /** The full name of a table. */
    String table(String name) {
        return Objects.requireNonNull(tables.get(name));
    }

    /** The text of a file, filled in. */
    String text(String name) {
        Matcher m = PLACEHOLDER.matcher(dialect.text(name));
        StringBuilder out = new StringBuilder();
        while (m.find()) {
            String table = tables.get(m.group(1));
            m.appendReplacement(out, Matcher.quoteReplacement(table != null ? table : text(m.group(1))));
        }
        return m.appendTail(out).toString();
    }

    private Template template(String name) {
        String text = text(name);
        List<String> pieces = new ArrayList<>();
        List<Parameter> parameters = new ArrayList<>();
        Matcher m = PARAMETER.matcher(text);
        int from = 0;
        while (m.find()) {
            pieces.add(text.substring(from, m.start()));
            parameters.add(new Parameter(m.group(1), m.group(2) != null));
            from = m.end();
        }
        pieces.add(text.substring(from));
        return new Template(pieces, parameters);
    }

    /** Prepares a statement with these values; a value that is a list stands for {@code :name...}. */
    PreparedStatement prepare(Connection connection, String name, Map<String, ? extends @Nullable Object> values)
            throws SQLException {
        Template template = templates.computeIfAbsent(name, this::template);
        List<@Nullable Object> bound = new ArrayList<>(template.parameters.size());
        StringBuilder text = new StringBuilder(template.pieces.get(0));
        for (int i = 0; i < template.parameters.size(); i++) {
            Parameter parameter = template.parameters.get(i);
            if (!values.containsKey(parameter.name)) {
                throw new IllegalStateException("statement '" + name + "' has no value for :" + parameter.name);
            }
            Object value = values.get(parameter.name);
            if (parameter.isList) {
                List<?> all = padded((List<?>) Objects.requireNonNull(value));
                bound.addAll(all);
                text.append("?").append(", ?".repeat(all.size() - 1));
            } else {
                bound.add(value);
                text.append('?');
            }
            text.append(template.pieces.get(i + 1));
        }
        PreparedStatement prepared = connection.prepareStatement(text.toString());
        try {
            for (int i = 0; i < bound.size(); i++) {
                prepared.setObject(i + 1, bound.get(i));
            }
            return prepared;
        } catch (SQLException | RuntimeException e) {
            prepared.close();
            throw e;
        }
    }

    /** Runs a statement; how many rows it changed. */
    int execute(Connection connection, String name, Map<String, ? extends @Nullable Object> values)
            throws SQLException {
        try (PreparedStatement s = prepare(connection, name, values)) {
            return s.executeUpdate();
        }
    }

    /** The list, its last value repeated up to a power of two: so there are few different texts to prepare. */
    private static List<?> padded(List<?> values) {
        int size = Math.max(1, Integer.highestOneBit(values.size() * 2 - 1));
        List<Object> all = new ArrayList<>(values);
        while (all.size() < size) {
            all.add(values.get(values.size() - 1));
        }
        return all;
    }
}
