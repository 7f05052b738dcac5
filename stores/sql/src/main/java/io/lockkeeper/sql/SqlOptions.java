// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import io.lockkeeper.spi.Ranges;
import java.time.Duration;
import java.util.regex.Pattern;

/**
 * How a store uses its database. Immutable; {@link #defaults()} with what is to be different:
 *
 * <pre>{@code
 * SqlStore.of(dataSource, SqlOptions.defaults().tablePrefix("app_lock_").createTables(false));
 * }</pre>
 */
public final class SqlOptions {
    private static final Pattern IDENTIFIER = Pattern.compile("[A-Za-z_][A-Za-z0-9_$]{0,39}");
    private static final SqlOptions DEFAULTS = new SqlOptions("lockkeeper_", "", true, false, Duration.ofSeconds(1));

    private final String tablePrefix;
    private final String schema;
    private final boolean createTables;
    private final boolean relaxed;
    private final Duration operationTimeout;

    private SqlOptions(
            String tablePrefix, String schema, boolean createTables, boolean relaxed, Duration operationTimeout) {
        this.tablePrefix = tablePrefix;
        this.schema = schema;
        this.createTables = createTables;
        this.relaxed = relaxed;
        this.operationTimeout = operationTimeout;
    }

    /** Tables {@code lockkeeper_…} in the connection's own schema, created when they are missing. */
    public static SqlOptions defaults() {
        return DEFAULTS;
    }

    /**
     * What the names of the tables begin with. Built-in: {@code lockkeeper_}.
     *
     * @throws IllegalArgumentException when it is not 1 to 40 letters, digits, {@code _} and {@code $} of ASCII, or begins with
     *     a digit or {@code $}
     */
    public SqlOptions tablePrefix(String tablePrefix) {
        return new SqlOptions(check("tablePrefix", tablePrefix), schema, createTables, relaxed, operationTimeout);
    }

    /**
     * The schema of the tables (for MariaDB and MySQL, the database). Built-in: the connection's own.
     *
     * @throws IllegalArgumentException as for {@link #tablePrefix(String)}
     */
    public SqlOptions schema(String schema) {
        return new SqlOptions(tablePrefix, check("schema", schema), createTables, relaxed, operationTimeout);
    }

    /** Whether to create missing tables. Built-in: true; otherwise use {@link SqlStore#ddl}. */
    public SqlOptions createTables(boolean createTables) {
        return new SqlOptions(tablePrefix, schema, createTables, relaxed, operationTimeout);
    }

    /**
     * How long one step may take. Built-in: 1 s.
     *
     * @throws IllegalArgumentException when it is not 10 ms to 1 min
     */
    public SqlOptions operationTimeout(Duration operationTimeout) {
        Ranges.operationTimeout(operationTimeout);
        return new SqlOptions(tablePrefix, schema, createTables, relaxed, operationTimeout);
    }

    /** For our own pool: no commit waits for the disk. */
    SqlOptions relaxed(boolean relaxed) {
        return new SqlOptions(tablePrefix, schema, createTables, relaxed, operationTimeout);
    }

    boolean createTables() {
        return createTables;
    }

    boolean relaxed() {
        return relaxed;
    }

    int timeoutMillis() {
        return (int) Math.max(1, Math.min(operationTimeout.toMillis(), Integer.MAX_VALUE));
    }

    /** The full name of a table, quoted. */
    String table(Dialect dialect, String name) {
        String table = dialect.quoted(tablePrefix + name);
        return schema.isEmpty() ? table : dialect.quoted(schema) + "." + table;
    }

    private static String check(String what, String value) {
        if (!IDENTIFIER.matcher(value).matches()) {
            throw new IllegalArgumentException(what + " is '" + value
                    + "'; allowed are 1 to 40 ASCII letters, digits, _ and $, the first a letter or _");
        }
        return value;
    }
}
