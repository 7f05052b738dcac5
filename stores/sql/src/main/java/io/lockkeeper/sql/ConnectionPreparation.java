// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.sql.SQLTransientConnectionException;
import java.sql.Statement;
import java.util.function.Consumer;

/**
 * Brings connections into the state that our steps need: they may write, in autocommit, in READ COMMITTED, and no answer takes longer
 * than the network timeout. Connections of one source are taken to come in one state, which is noted at the start.
 *
 * <p>One that comes with autocommit off, unlike the first, may be in somebody's transaction, which turning it on would commit. It is
 * returned as it is.
 */
final class ConnectionPreparation {
    private static final int WANTED = Connection.TRANSACTION_READ_COMMITTED;

    private final int networkMillis;
    private final Consumer<Connection> discard;
    private volatile boolean isFirst = true;
    private volatile boolean isManual;
    private volatile int isolation = WANTED;
    private volatile boolean setsNext;
    private volatile boolean networkTimeouts = true;

    ConnectionPreparation(int networkMillis, Consumer<Connection> discard) {
        this.networkMillis = networkMillis;
        this.discard = discard;
    }

    /** The isolation that connections come in, and how it is changed. */
    void comeIn(int level, Dialect dialect) {
        setsNext = dialect.setsIsolationOfNext();
        isolation = dialect == Dialect.SQLITE ? WANTED : level;
    }

    /**
     * Prepares a connection, or returns it to where it comes from.
     *
     * @param isKept whether it is for many steps
     */
    BorrowedConnection prepare(Connection connection, boolean isKept) throws SQLException {
        BorrowedConnection borrowed = new BorrowedConnection(connection, discard);
        boolean done = false;
        try {
            checkManual(connection);
            if (networkTimeouts) {
                limit(borrowed); // before what may cost a round trip
            }
            borrowed.writable();
            borrowed.autocommit();
            if (isolation != WANTED) {
                isolate(borrowed, isKept);
            }
            done = true;
            return borrowed;
        } finally {
            if (!done) {
                borrowed.close();
            }
        }
    }

    private void checkManual(Connection connection) throws SQLException {
        boolean comesManual = !connection.getAutoCommit();
        if (isFirst) {
            isFirst = false;
            isManual = comesManual;
        } else if (comesManual && !isManual) {
            throw new SQLTransientConnectionException(
                    "the data source gave a connection with autocommit off, unlike its others: it may be in the transaction of its"
                            + " caller, or was returned in the middle of one, and is left as it is; pass a data source that"
                            + " gives each caller its own connection (what a transaction-aware proxy wraps), and let the"
                            + " pool reset what is returned",
                    "25001");
        }
    }

    private void limit(BorrowedConnection borrowed) throws SQLException {
        try {
            borrowed.networkTimeout(networkMillis);
        } catch (SQLFeatureNotSupportedException | UnsupportedOperationException | AbstractMethodError e) {
            networkTimeouts = false; // the driver has none, or the file is not accessed over a network
        }
    }

    private void isolate(BorrowedConnection borrowed, boolean isKept) throws SQLException {
        if (setsNext && !isKept) {
            // In force for one transaction, so that there is nothing to put back: one round trip instead of two.
            try (Statement s = borrowed.connection().createStatement()) {
                s.execute("SET TRANSACTION ISOLATION LEVEL READ COMMITTED");
            }
        } else {
            borrowed.isolation(WANTED, isolation);
        }
    }
}
