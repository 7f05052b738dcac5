// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import io.lockkeeper.StoreUnavailableException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.sql.SQLTransientConnectionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Connections of our own, never the caller's: in autocommit, or in a short transaction of ours. One is reserved for
 * renewals, so that a pool that is exhausted cannot lose locks.
 *
 * <p>An interrupt never breaks a step: it is put aside while a connection is used, and kept for afterwards.
 */
final class Connections implements AutoCloseable {
    private final Source source;
    private final int timeoutMillis;
    private final int networkMillis;
    private final ReentrantLock renewing = new ReentrantLock();
    private volatile @Nullable Apart apart;
    private volatile @Nullable Runnable repair;
    private volatile boolean isolationDiffers;
    private volatile boolean networkTimeouts = true;
    private volatile boolean closed;
    private @Nullable Connection reserved;

    /** Where connections come from. */
    interface Source {
        /** One of a pool. */
        Connection pooled() throws SQLException;

        /** One to keep. */
        Connection kept() throws SQLException;

        /** A data source of the user's. */
        static Source of(DataSource source) {
            return new Source() {
                @Override
                public Connection pooled() throws SQLException {
                    return source.getConnection();
                }

                @Override
                public Connection kept() throws SQLException {
                    return source.getConnection();
                }
            };
        }

        /** Held during a step, where all steps in this process must take turns; else null. */
        default @Nullable ReentrantLock turn() {
            return null;
        }

        /** Whether commits on it need not wait for the disk, where that is a matter of the connection and costs no trip. */
        default void lazy(Connection connection, boolean lazy) throws SQLException {}
    }

    /** What is done with a connection. */
    interface Work<T> {
        T with(Connection connection) throws SQLException;
    }

    Connections(Source source, int timeoutMillis) {
        this.source = source;
        this.timeoutMillis = timeoutMillis;
        // After the server's own timeouts, which leave the connection whole.
        this.networkMillis = timeoutMillis + Math.max(250, timeoutMillis / 4);
    }

    /** Settles in: looks at how connections come, and keeps one for renewals. */
    void begin(Dialect dialect, Runnable repair) {
        this.repair = repair;
        if (dialect.suffersFromInterrupts()) {
            apart = new Apart();
        }
        isolationDiffers = dialect != Dialect.SQLITE
                && autocommit(Connection::getTransactionIsolation) != Connection.TRANSACTION_READ_COMMITTED;
        renewal(connection -> true);
    }

    /** One statement, each committed by itself. */
    <T> T autocommit(Work<T> work) {
        return step(false, () -> {
            try (Connection connection = open(source::pooled)) {
                return work.with(connection);
            } catch (SQLException e) {
                throw failure(e);
            }
        });
    }

    /** What may be lost when the machine dies: a release that hands over to nobody, a place in a queue. In autocommit. */
    <T> T lazily(Work<T> work) {
        return autocommit(connection -> {
            source.lazy(connection, true);
            try {
                return work.with(connection);
            } finally {
                source.lazy(connection, false);
            }
        });
    }

    /** A transaction of our own: all of it or nothing. */
    <T> T transaction(Work<T> work) {
        return step(false, () -> {
            try (Connection connection = open(source::pooled)) {
                return Transaction.run(connection, work);
            } catch (SQLException e) {
                throw failure(e);
            }
        });
    }

    /** In autocommit, on the connection that is kept for renewals. */
    <T> T renewal(Work<T> work) {
        return step(true, () -> {
            renewing.lock();
            try {
                return work.with(reserved());
            } catch (SQLException e) {
                if (!isAlive(reserved)) {
                    closeReserved(); // else it is kept: the pool may have no other one
                }
                throw failure(e);
            } finally {
                renewing.unlock();
            }
        });
    }

    /** A transaction on the connection that is kept for renewals. */
    <T> T renewalTransaction(Work<T> work) {
        return renewal(connection -> Transaction.run(connection, work));
    }

    /** A connection to listen on; the caller closes it. */
    Connection listening() throws SQLException {
        return open(source::kept);
    }

    private Connection reserved() throws SQLException {
        Connection connection = reserved;
        if (closed) {
            throw new SQLException("the store is closed", "08003");
        }
        if (connection == null) {
            connection = open(source::kept);
            reserved = connection;
        }
        return connection;
    }

    private interface Opening {
        Connection open() throws SQLException;
    }

    private Connection open(Opening opening) throws SQLException {
        Connection connection = opening.open();
        try {
            prepare(connection);
            return connection;
        } catch (SQLException | RuntimeException e) {
            connection.close();
            throw e;
        }
    }

    private void prepare(Connection connection) throws SQLException {
        if (connection.isReadOnly()) {
            connection.setReadOnly(false);
        }
        if (!connection.getAutoCommit()) {
            connection.setAutoCommit(true);
        }
        if (isolationDiffers) {
            connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
        }
        if (networkTimeouts) {
            try {
                connection.setNetworkTimeout(Runnable::run, networkMillis);
            } catch (SQLFeatureNotSupportedException | UnsupportedOperationException | AbstractMethodError e) {
                networkTimeouts = false; // the driver has none, or the file is not behind a network
            }
        }
    }

    /** On this thread with an interrupt put aside, or, where that is not enough, on another one. */
    private <T> T step(boolean isRenewal, Supplier<T> step) {
        Apart other = apart;
        if (other != null) {
            return other.call(step);
        }
        boolean interrupted = Thread.interrupted();
        try {
            while (true) {
                try {
                    return inTurn(isRenewal, step);
                } catch (StoreUnavailableException e) {
                    // While it waited for a connection, so that nothing has been done yet.
                    if (!(e.getCause() instanceof SQLException sql && Failures.isInterrupt(sql))) {
                        throw e;
                    }
                    interrupted = true;
                    Thread.interrupted();
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** A renewal that has waited long enough does not wait for its turn: the database lets in one after the other, too. */
    private <T> T inTurn(boolean isRenewal, Supplier<T> step) {
        ReentrantLock turn = source.turn();
        if (turn == null) {
            return step.get();
        }
        boolean isOurs;
        try {
            isOurs = turn.tryLock(timeoutMillis, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            throw Failures.of(
                    new SQLTransientConnectionException("interrupted while it waited for its turn", "08001", e));
        }
        if (!isOurs && !isRenewal) {
            throw new StoreUnavailableException("no turn to write within " + timeoutMillis + " ms", null);
        }
        try {
            return step.get();
        } finally {
            if (isOurs) {
                turn.unlock();
            }
        }
    }

    private boolean isAlive(@Nullable Connection connection) {
        try {
            return connection != null && connection.isValid(Math.max(1, timeoutMillis / 1_000));
        } catch (SQLException e) {
            return false;
        }
    }

    private void closeReserved() {
        Connection old = reserved;
        reserved = null;
        if (old != null) {
            try {
                old.close();
            } catch (SQLException e) {
                // It is broken, and gone.
            }
        }
    }

    private StoreUnavailableException failure(SQLException e) {
        Runnable wayOut = repair;
        if (wayOut != null && Failures.isMissingTable(e)) {
            wayOut.run();
            return new StoreUnavailableException("a table was missing, and has been made anew", e);
        }
        return Failures.of(e);
    }

    @Override
    public void close() {
        closed = true;
        renewing.lock();
        try {
            closeReserved();
        } finally {
            renewing.unlock();
        }
        Apart other = apart;
        if (other != null) {
            other.close();
        }
    }
}
