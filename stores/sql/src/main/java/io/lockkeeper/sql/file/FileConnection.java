// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql.file;

import java.nio.file.Path;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Properties;
import org.jspecify.annotations.Nullable;
import org.sqlite.jdbc4.JDBC4Connection;
import org.sqlite.jdbc4.JDBC4PreparedStatement;

/**
 * A connection to a SQLite file. What writes goes through the file's gate first: a transaction from its beginning, a statement by
 * itself from its execution until it is closed. What only reads waits for nobody.
 *
 * <p>Transactions are begun and ended here, not by the driver: it believes that it is in one when it could not begin it, and
 * begins the next one, which locks the file again, with each commit. A connection on which one could not be ended is not used
 * again.
 */
final class FileConnection extends JDBC4Connection {
    private static final int BUSY = 5;

    private final FileSource source;
    private final AtClose atClose;
    private final BusyRetry busyRetry;
    private final int generation;
    private volatile boolean usable = true;
    private boolean insists;
    private FileGate.Order order = FileGate.Order.IN_TURN;
    private boolean inGate;
    private boolean isStuck;
    private FileGate.@Nullable Note lastSeen;
    private boolean begun;

    /** What is done instead of closing. */
    interface AtClose {
        void closed(FileConnection connection, boolean usable) throws SQLException;
    }

    FileConnection(FileSource source, AtClose atClose, Path path, Properties properties, int generation)
            throws SQLException {
        super("jdbc:sqlite:" + path, path.toString(), properties);
        this.source = source;
        this.atClose = atClose;
        this.generation = generation;
        this.busyRetry = BusyRetry.give(this, source.timeout());
        try (Statement s = createStatement()) {
            s.execute("SELECT COUNT(*) FROM sqlite_master"); // from now on the log is open
        } catch (SQLException e) {
            endNow();
            throw e;
        }
    }

    /**
     * How the next steps wait at the gate.
     *
     * @param insist whether they go on when it is crowded: what keeps something alive cannot wait forever
     */
    void waits(FileGate.Order where, boolean insist) {
        order = where;
        insists = insist;
    }

    int generation() {
        return generation;
    }

    // ---- Transactions ----

    @Override
    public void setAutoCommit(boolean auto) throws SQLException {
        if (auto == getAutoCommit()) {
            return;
        }
        if (auto) {
            end("commit;");
            getConnectionConfig().setAutoCommit(true);
            return;
        }
        getConnectionConfig().setAutoCommit(false);
        boolean done = false;
        try {
            begin();
            done = true;
        } finally {
            if (!done) {
                getConnectionConfig().setAutoCommit(true); // there is no transaction
            }
        }
    }

    /** The next statement begins the next transaction, should there be one; the driver would begin it, and lock the file, now. */
    @Override
    public void commit() throws SQLException {
        ensureInPlace();
        end("commit;");
    }

    @Override
    public void rollback() throws SQLException {
        end("rollback;");
    }

    private void begin() throws SQLException {
        if (begun) {
            return;
        }
        boolean done = false;
        try {
            ensureInPlace();
            enter();
            ensureInPlace(); // while we waited, too
            getDatabase().exec("begin immediate;", false);
            begun = true;
            done = true;
        } catch (SQLException e) {
            throw explained(e);
        } finally {
            if (!done) {
                leave();
            }
        }
    }

    private void end(String how) throws SQLException {
        if (!begun) {
            return;
        }
        boolean done = false;
        try {
            getDatabase().exec(how, false);
            done = true;
        } finally {
            usable &= done;
            begun = false;
            leave();
        }
    }

    // ---- Statements ----

    @Override
    public PreparedStatement prepareStatement(String sql) throws SQLException {
        if (!getAutoCommit()) {
            begin();
            return super.prepareStatement(sql);
        }
        ensureInPlace();
        return isRead(sql) ? super.prepareStatement(sql) : new Write(this, sql);
    }

    /** Ours that begin with named queries only read. */
    private static boolean isRead(String sql) {
        String bare = sql.stripLeading();
        return bare.regionMatches(true, 0, "SELECT", 0, 6) || bare.regionMatches(true, 0, "WITH", 0, 4);
    }

    /** A statement that is a transaction by itself. */
    private static final class Write extends JDBC4PreparedStatement {
        private final FileConnection connection;

        Write(FileConnection connection, String sql) throws SQLException {
            super(connection, sql);
            this.connection = connection;
        }

        @Override
        public boolean execute() throws SQLException {
            connection.enter();
            try {
                return super.execute();
            } catch (SQLException e) {
                throw connection.explained(e);
            }
        }

        @Override
        public java.sql.ResultSet executeQuery() throws SQLException {
            connection.enter();
            try {
                return super.executeQuery();
            } catch (SQLException e) {
                throw connection.explained(e);
            }
        }

        @Override
        public int executeUpdate() throws SQLException {
            connection.enter();
            try {
                return super.executeUpdate();
            } catch (SQLException e) {
                throw connection.explained(e);
            }
        }

        @Override
        public void close() throws SQLException {
            try {
                super.close();
            } finally {
                connection.leave();
            }
        }
    }

    // ---- The gate ----

    private void enter() throws SQLException {
        if (inGate) {
            return;
        }
        FileGate.Entry entry = source.gate().enter(source.turnNanos(), order);
        inGate = entry == FileGate.Entry.ENTERED;
        isStuck = entry == FileGate.Entry.STUCK;
        lastSeen = isStuck ? source.gate().note() : null;
        // The process that is stuck may have been stopped before it locked the file: one short attempt shows it.
        busyRetry.hurry(isStuck);
        if (entry == FileGate.Entry.CROWDED && !insists) {
            throw new FileCrowdedException(source.path(), source.turnNanos());
        }
    }

    private void leave() {
        if (inGate) {
            inGate = false;
            source.gate().leave();
        }
    }

    /** Names the process that blocks the file, if it makes no progress. */
    private SQLException explained(SQLException e) {
        FileGate.Note seen = lastSeen;
        if (!isStuck || seen == null || (e.getErrorCode() & 0xff) != BUSY) {
            return e;
        }
        if (!seen.equals(source.gate().note())) {
            return new FileCrowdedException(source.path(), source.turnNanos()); // it has gone on
        }
        long seconds = Math.max(0, System.currentTimeMillis() - seen.at()) / 1_000;
        return new SQLException(
                "process " + seen.pid() + " has been writing to " + source.path() + " for " + seconds
                        + " s: if it was stopped, let it continue or kill it",
                null,
                BUSY,
                e);
    }

    // ---- Using and closing ----

    private void ensureInPlace() throws SQLException {
        try {
            source.check(generation);
        } catch (SQLException e) {
            usable = false;
            throw e;
        }
    }

    @Override
    public boolean isValid(int timeout) throws SQLException {
        return usable && super.isValid(timeout);
    }

    @Override
    public void close() throws SQLException {
        leave();
        // One to files that were displaced may have been closed for good in the meantime.
        atClose.closed(
                this, usable && !begun && !isClosed() && getConnectionConfig().isAutoCommit());
    }

    /** Closes it for good. */
    void endNow() throws SQLException {
        super.close();
    }
}
