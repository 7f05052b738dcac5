// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import java.io.IOException;
import java.io.InputStream;
import java.io.StringReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The databases, which differ in the text of their SQL and in a few plain facts. A statement is a file: the one in the
 * dialect's own folder, otherwise the one in the next, otherwise the common one.
 */
enum Dialect {
    POSTGRESQL("postgresql", "common"),
    MARIADB("mariadb", "common"),
    MYSQL("mysql", "mariadb"),
    SQLITE("sqlite", "common"),
    H2("h2", "common");

    private final String folder;
    private final String next;

    Dialect(String folder, String next) {
        this.folder = folder;
        this.next = next;
    }

    static Dialect of(Connection connection) throws SQLException {
        return of(connection.getMetaData().getDatabaseProductName());
    }

    static Dialect of(String product) {
        String word = product.toLowerCase(Locale.ROOT);
        if (word.contains("postgres")) {
            return POSTGRESQL;
        }
        for (Dialect dialect : new Dialect[] {MARIADB, MYSQL, SQLITE, H2}) {
            if (word.contains(dialect.folder)) {
                return dialect;
            }
        }
        throw new IllegalArgumentException(
                "no dialect for '" + product + "'; known are PostgreSQL, MariaDB, MySQL, SQLite and H2");
    }

    /** Whether the server notifies waiters; otherwise they are polled for. */
    boolean notifies() {
        return this == POSTGRESQL;
    }

    /** Whether the statement that claims returns the row whichever claim holds it. */
    boolean returnsAnyHolder() {
        return this == MARIADB || this == MYSQL;
    }

    /** Whether a place in a queue is taken with one statement. */
    boolean appendsAtOnce() {
        return this == POSTGRESQL || this == MARIADB;
    }

    /** Whether the statement that renews leaves out rows that others have locked. */
    boolean skipsInUpdates() {
        return this == POSTGRESQL;
    }

    /** Whether the driver sends several statements, and reads their results, in one round trip. */
    boolean joins() {
        return this == POSTGRESQL;
    }

    /** Whether the isolation of the next transaction, and of no later one, is set outside of it. */
    boolean setsIsolationOfNext() {
        return this == MARIADB || this == MYSQL;
    }

    /** Whether a lock in a transaction of the caller is one on a row, which needs a table. */
    boolean locksRows() {
        return this == MARIADB || this == MYSQL || this == H2;
    }

    /** How many µs the clock may stand still. */
    long tick() {
        return this == SQLITE ? 1_000 : 0;
    }

    /** H2 works on the caller's thread, and an interrupt would close its files. */
    boolean suffersFromInterrupts() {
        return this == H2;
    }

    /**
     * Whether what is committed is on disk, unless the server is configured otherwise; H2 writes half a second later.
     */
    boolean isDurable() {
        return this != H2;
    }

    /** Plain identifiers, quoted so that none is a reserved word. */
    String quoted(String identifier) {
        return this == MARIADB || this == MYSQL ? "`" + identifier + "`" : '"' + identifier + '"';
    }

    /** What stands in this dialect for the words of common texts, such as types of columns. */
    Map<String, String> words() {
        Properties words = new Properties();
        for (String place : new String[] {next, folder}) {
            String text = read(place + "/types.properties");
            try {
                words.load(new StringReader(text == null ? "" : text));
            } catch (IOException e) {
                throw new UncheckedIOException("cannot read the types of " + place, e);
            }
        }
        return words.stringPropertyNames().stream()
                .collect(Collectors.toUnmodifiableMap(word -> word, words::getProperty));
    }

    boolean has(String name) {
        return find(name) != null;
    }

    /** The text of a statement, without its comments. */
    String text(String name) {
        String text = find(name);
        if (text == null) {
            throw new IllegalStateException("no statement '" + name + "' for " + this);
        }
        StringBuilder bare = new StringBuilder();
        for (String line : text.split("\n")) {
            if (!line.stripLeading().startsWith("--")) {
                bare.append(line).append('\n');
            }
        }
        return bare.toString().strip();
    }

    private @Nullable String find(String name) {
        for (String place : new String[] {folder, next, "common"}) {
            String text = read(place + "/" + name + ".sql");
            if (text != null) {
                return text;
            }
        }
        return null;
    }

    private static @Nullable String read(String file) {
        try (InputStream in = Dialect.class.getResourceAsStream(file)) {
            return in == null ? null : new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read " + file, e);
        }
    }
}
