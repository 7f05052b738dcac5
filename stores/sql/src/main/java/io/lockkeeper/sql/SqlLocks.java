// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import io.lockkeeper.spi.NameCodec;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.Map;

/**
 * Locks that live as long as the caller's transaction. They know neither leases nor tokens and need none: what the
 * transaction writes is written only if it still has the lock when it commits.
 *
 * <pre>{@code
 * connection.setAutoCommit(false);
 * SqlLocks.inTransaction(connection, "invoice-4711");
 * …                                   // read and write
 * connection.commit();                // and the name is free again
 * }</pre>
 *
 * <p>Lock before the first read: in REPEATABLE READ, MariaDB and MySQL show what was there at the first read.
 *
 * <p>They are separate from the locks of a {@link SqlStore}: the same name may be held here and there at the same time.
 */
public final class SqlLocks {
    private static final int LONGEST_NAME = 512;

    private SqlLocks() {}

    /** As {@link #inTransaction(Connection, String, SqlOptions)}, with the default names of tables. */
    public static void inTransaction(Connection connection, String name) throws SQLException {
        inTransaction(connection, name, SqlOptions.defaults());
    }

    /**
     * Locks a name until the end of the connection's transaction, waiting for its current holder, as long as the
     * database lets it wait. Locking it again in the same transaction does nothing more.
     *
     * <p>On PostgreSQL it is an advisory lock, whose key is the first eight bytes of the name's SHA-256 (two names that
     * share them exclude each other). On MariaDB, MySQL and H2 it is a lock on a row of the table
     * {@code lockkeeper_row}, which must be there (a {@link SqlStore} makes it, {@link SqlStore#ddl} shows it); the row
     * stays.
     *
     * @throws SQLException when the database refuses, as for a deadlock or a wait that took too long
     * @throws IllegalStateException when the connection is in autocommit: the lock would end immediately; on PostgreSQL
     *     and H2, when its transaction is above READ COMMITTED: it would go on seeing what was there before it had the
     *     lock
     * @throws IllegalArgumentException when the name is empty, longer than 512 bytes in UTF-8, or has a lone surrogate
     * @throws UnsupportedOperationException on SQLite, where a transaction that writes has the whole file to itself
     *     anyway
     */
    public static void inTransaction(Connection connection, String name, SqlOptions options) throws SQLException {
        check(name);
        Dialect dialect = Dialect.of(connection);
        if (!dialect.has("transaction_lock")) {
            throw new UnsupportedOperationException("no locks in transactions on " + dialect
                    + ": begin with BEGIN IMMEDIATE, which locks the whole file until the end of the transaction");
        }
        if (connection.getAutoCommit()) {
            throw new IllegalStateException("the connection is in autocommit: the lock would end immediately");
        }
        Isolation.check(connection, dialect);
        Sql sql = new Sql(dialect, options);
        Map<String, Object> values = Map.of("name", NameCodec.encode(name), "key", key(name));
        boolean found = run(connection, sql, values);
        if (!found && dialect.has("row_ensure")) {
            try {
                sql.execute(connection, "row_ensure", values);
            } catch (SQLException e) {
                if (!Failures.isDuplicate(e)) {
                    throw e;
                }
                run(connection, sql, values); // another transaction has made it, and has ended
            }
        }
    }

    /** As for all names: two that differ never meet. */
    private static void check(String name) {
        int bytes = name.getBytes(StandardCharsets.UTF_8).length;
        if (bytes == 0 || bytes > LONGEST_NAME) {
            throw new IllegalArgumentException(
                    "a name has 1 to " + LONGEST_NAME + " bytes in UTF-8; this one has " + bytes);
        }
        if (!StandardCharsets.UTF_8.newEncoder().canEncode(name)) {
            throw new IllegalArgumentException("a name is Unicode text; this one has a lone surrogate");
        }
    }

    /** Whether there was something to lock. */
    private static boolean run(Connection connection, Sql sql, Map<String, Object> values) throws SQLException {
        try (PreparedStatement s = sql.prepare(connection, "transaction_lock", values)) {
            if (!s.execute()) {
                return true;
            }
            try (var row = s.getResultSet()) {
                return row.next();
            }
        }
    }

    /** Frozen forever: clients of different versions must agree. */
    static long key(String name) {
        try {
            byte[] hash = MessageDigest.getInstance("SHA-256").digest(name.getBytes(StandardCharsets.UTF_8));
            return ByteBuffer.wrap(hash).getLong();
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }
}
