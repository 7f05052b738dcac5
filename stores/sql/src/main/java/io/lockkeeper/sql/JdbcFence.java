// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import io.lockkeeper.Fence;
import io.lockkeeper.Lease;
import io.lockkeeper.Sequencer;
import io.lockkeeper.StaleTokenException;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.spi.NameCodec;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Comparator;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A fence around data in a database, in the caller's own transaction: what the transaction writes is written only if no later
 * holder had been there, and none comes in between, for the mark stays locked until the transaction ends.
 *
 * <pre>{@code
 * try (Lease lease = keeper.lock("account/42").acquire()) {
 *     connection.setAutoCommit(false);
 *     JdbcFence.in(connection).enter(lease);       // first in every transaction, before the first read
 *     …                                            // read and write
 *     connection.commit();
 * }
 * }</pre>
 *
 * <p>Each transaction enters again; that is the check of its writes. A transaction that enters waits for another that has entered with
 * the same name and has not ended yet. The locks may be kept anywhere: in this database, in another one, in Redis, in a
 * quorum. The table {@code lockkeeper_fence} must be there: {@link #ddl} shows it, {@link #createTable} makes it. Its rows are
 * kept forever; they belong to the data.
 *
 * <p>On PostgreSQL and H2, the transaction must be in READ COMMITTED, the default of both (READ UNCOMMITTED works, too): in any
 * other level it would read what was there before it entered, and is rejected. On MariaDB, MySQL and SQLite every level works, as
 * long as the transaction has not read anything before it enters.
 *
 * <p>An object for one connection, to be used as the connection is: by one thread at a time.
 */
public final class JdbcFence implements Fence {
    private final Connection connection;
    private final Dialect dialect;
    private final Sql sql;

    private JdbcFence(Connection connection, Dialect dialect, SqlOptions options) {
        this.connection = connection;
        this.dialect = dialect;
        this.sql = new Sql(dialect, options);
    }

    /** As {@link #in(Connection, SqlOptions)}, with the default names of tables. */
    public static JdbcFence in(Connection connection) throws SQLException {
        return in(connection, SqlOptions.defaults());
    }

    /** A fence in the transactions of this connection. */
    public static JdbcFence in(Connection connection, SqlOptions options) throws SQLException {
        Objects.requireNonNull(connection, "connection");
        return new JdbcFence(connection, Dialect.of(connection), options);
    }

    /**
     * The statement that makes the table.
     *
     * @param product the database, as {@link java.sql.DatabaseMetaData#getDatabaseProductName()} calls it
     */
    public static String ddl(String product, SqlOptions options) {
        return new Sql(Dialect.of(product), options).text("fence_create");
    }

    /** Makes the table unless it is there. On MariaDB and MySQL this ends the connection's transaction. */
    public static void createTable(Connection connection, SqlOptions options) throws SQLException {
        try (Statement s = connection.createStatement()) {
            s.execute(new Sql(Dialect.of(connection), options).text("fence_create"));
        }
    }

    /**
     * Raises the mark, or refuses; either way it is locked until the end of the transaction.
     *
     * @throws StaleTokenException when a later holder has been here; the transaction is to be rolled back
     * @throws IllegalArgumentException for a hold of permits
     * @throws IllegalStateException when the connection is in autocommit: nothing would tie the check to the writes; on PostgreSQL
     *     and H2, when its transaction is above READ COMMITTED: it would go on seeing what was there before it entered
     * @throws StoreUnavailableException when the database fails, caused by its {@link SQLException}: a deadlock, a wait that took too
     *     long, a missing table
     */
    @Override
    public void enter(Sequencer sequencer) {
        try {
            if (connection.getAutoCommit()) {
                throw new IllegalStateException(
                        "the connection is in autocommit: nothing would tie the check of the token to what is written");
            }
            Isolation.check(connection, dialect);
            enterInTransaction(sequencer);
        } catch (SQLException e) {
            String hint = Failures.isMissingTable(e) ? " (is the table there? see JdbcFence.createTable)" : "";
            throw new StoreUnavailableException(
                    "the mark of '" + sequencer.name() + "' cannot be raised: " + e.getMessage() + hint, e);
        }
    }

    /**
     * Raises the marks of a lease on several locks in one order for all, so that two transactions that do so cannot
     * deadlock.
     */
    @Override
    public void enter(Lease lease) {
        lease.parts().stream()
                .map(part -> new Sequencer(part.name(), part.mode(), part.token()))
                .sorted(Comparator.comparing(Sequencer::name))
                .forEach(this::enter);
    }

    private void enterInTransaction(Sequencer sequencer) throws SQLException {
        Marks.refusePermits(sequencer); // before any I/O
        String name = NameCodec.encode(sequencer.name());
        Marks known = lock(name);
        Marks raised = known.enter(sequencer);
        if (!raised.equals(known)) {
            sql.execute(
                    connection,
                    "fence_update",
                    Map.of("name", name, "exclusive", raised.exclusive(), "shared", raised.shared()));
        }
    }

    private Marks lock(String name) throws SQLException {
        if (sql.has("fence_lock")) {
            sql.execute(connection, "fence_lock", Map.of("name", name));
        }
        Marks marks = look(name);
        if (marks == null) {
            try {
                sql.execute(connection, "fence_ensure", Map.of("name", name));
            } catch (SQLException e) {
                if (!Failures.isDuplicate(e)) {
                    throw e; // otherwise another transaction has made it, and has ended
                }
            }
            marks = look(name);
        }
        return Objects.requireNonNull(marks, "the row that was just made");
    }

    private @Nullable Marks look(String name) throws SQLException {
        try (PreparedStatement s = sql.prepare(connection, "fence_marks", Map.of("name", name));
                ResultSet row = s.executeQuery()) {
            if (!row.next()) {
                return null;
            }
            Format.check(row.getInt("format"));
            return new Marks(row.getLong("exclusive_token"), row.getLong("shared_token"));
        }
    }
}
