// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
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
 * The statements of a dialect, ready to be prepared: {@code ${lock}} is a table, {@code ${key}} a word of the dialect, such as a
 * type, {@code ${now}} the text of another file; {@code :parameter} becomes a question mark, {@code :list...} as many as there are values.
 */
final class Sql {
    private static final Pattern PLACEHOLDER = Pattern.compile("\\$\\{([a-z_]+)}");
    private static final Pattern PARAMETER = Pattern.compile("(?<!:):([a-z_]+)(\\.\\.\\.)?");

    private final Dialect dialect;
    private final Map<String, String> tables;
    private final Map<String, Boolean> known = new ConcurrentHashMap<>();
    private final Map<String, Template> templates = new ConcurrentHashMap<>();
    private volatile @Nullable Map<String, String> words; // read when tables are made
    private final Damaged damaged = new Damaged();

    /** Pieces of text, with a parameter between any two. */
    private record Template(List<String> pieces, List<Parameter> parameters) {}

    private record Parameter(String name, boolean isList) {}

    /** A statement and its values; a value that is a list stands for {@code :name...}. */
    record Step(String statement, Map<String, ? extends @Nullable Object> values) {}

    /** Reads what a query gives. */
    interface Reader {
        void read(ResultSet rows) throws SQLException;
    }

    Sql(Dialect dialect, SqlOptions options) {
        this.dialect = dialect;
        this.tables = Map.of(
                "lock", options.table(dialect, "lock"),
                "claim", options.table(dialect, "claim"),
                "latch", options.table(dialect, "latch"),
                "row", options.table(dialect, "row"),
                "fence", options.table(dialect, "fence"),
                "meta", options.table(dialect, "meta"));
    }

    Dialect dialect() {
        return dialect;
    }

    /** Where rows are reported that cannot be read. */
    Damaged damaged() {
        return damaged;
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
            m.appendReplacement(out, Matcher.quoteReplacement(standsFor(m.group(1))));
        }
        return m.appendTail(out).toString().strip();
    }

    private String standsFor(String placeholder) {
        String table = tables.get(placeholder);
        if (table != null) {
            return table;
        }
        return has(placeholder) ? text(placeholder) : Objects.requireNonNull(words().get(placeholder), placeholder);
    }

    private Map<String, String> words() {
        Map<String, String> read = words;
        if (read == null) {
            read = dialect.words();
            words = read;
        }
        return read;
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

    PreparedStatement prepare(Connection connection, String name, Map<String, ? extends @Nullable Object> values)
            throws SQLException {
        List<@Nullable Object> bound = new ArrayList<>();
        StringBuilder text = new StringBuilder();
        bind(new Step(name, values), text, bound);
        return prepare(connection, text.toString(), bound);
    }

    /** Adds the text of a step, and the values for its question marks. */
    private void bind(Step step, StringBuilder text, List<@Nullable Object> bound) {
        Template template = templates.computeIfAbsent(step.statement, this::template);
        text.append(template.pieces.get(0));
        for (int i = 0; i < template.parameters.size(); i++) {
            Parameter parameter = template.parameters.get(i);
            if (!step.values.containsKey(parameter.name)) {
                throw new IllegalStateException(
                        "statement '" + step.statement + "' has no value for :" + parameter.name);
            }
            Object value = step.values.get(parameter.name);
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
    }

    private static PreparedStatement prepare(Connection connection, String text, List<@Nullable Object> bound)
            throws SQLException {
        PreparedStatement prepared = connection.prepareStatement(text);
        try {
            if (prepared.getMaxRows() != 0) {
                prepared.setMaxRows(
                        0); // MySQL's driver has a parameter for it; a holder that is not read would hold nothing
            }
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

    /** Ends one of our transactions with these statements, in one round trip where the driver can. */
    void finish(Connection connection, List<Step> steps) throws SQLException {
        if (!dialect.joins()) {
            for (Step step : steps) {
                execute(connection, step.statement, step.values);
            }
        } else if (!steps.isEmpty()) {
            List<Step> all = new ArrayList<>(steps);
            all.add(new Step("commit", Map.of()));
            try (PreparedStatement s = prepare(connection, all)) {
                s.execute();
            }
        }
    }

    /** Runs a query. */
    void query(Connection connection, Step step, Reader reader) throws SQLException {
        try (PreparedStatement s = prepare(connection, step.statement, step.values);
                ResultSet rows = s.executeQuery()) {
            reader.read(rows);
        }
    }

    /** Runs two queries, one after the other, in one round trip; where the dialect {@link Dialect#joins}. */
    void query(Connection connection, Step first, Reader reader, Step second, Reader secondReader) throws SQLException {
        try (PreparedStatement s = prepare(connection, List.of(first, second))) {
            s.execute();
            try (ResultSet rows = s.getResultSet()) {
                reader.read(rows);
            }
            s.getMoreResults();
            try (ResultSet rows = s.getResultSet()) {
                secondReader.read(rows);
            }
        }
    }

    private PreparedStatement prepare(Connection connection, List<Step> steps) throws SQLException {
        List<@Nullable Object> bound = new ArrayList<>();
        StringBuilder text = new StringBuilder();
        for (Step step : steps) {
            text.append(text.length() == 0 ? "" : ";\n");
            bind(step, text, bound);
        }
        return prepare(connection, text.toString(), bound);
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
