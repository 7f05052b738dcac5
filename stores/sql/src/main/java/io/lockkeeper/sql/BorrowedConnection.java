// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.function.Consumer;

/**
 * A connection that we have borrowed. What we change about it is noted, and put back when it is returned, however its
 * use ended: many pools reset nothing, and the next user of the connection would have our timeouts. One that cannot be
 * put back is discarded.
 */
final class BorrowedConnection implements AutoCloseable {
    private static final int UNCHANGED = -1;

    private final Connection connection;
    private final Consumer<Connection> discard;
    private boolean wasReadOnly;
    private boolean wasManual;
    private int isolation = UNCHANGED;
    private int networkMillis = UNCHANGED;

    BorrowedConnection(Connection connection, Consumer<Connection> discard) {
        this.connection = connection;
        this.discard = discard;
    }

    Connection connection() {
        return connection;
    }

    void writable() throws SQLException {
        if (connection.isReadOnly()) {
            connection.setReadOnly(false);
            wasReadOnly = true;
        }
    }

    void autocommit() throws SQLException {
        if (!connection.getAutoCommit()) {
            connection.setAutoCommit(true);
            wasManual = true;
        }
    }

    /** Changes the isolation, which is now {@code before}: asking for it may cost a round trip. */
    void isolation(int level, int before) throws SQLException {
        isolation = before;
        connection.setTransactionIsolation(level);
    }

    void networkTimeout(int millis) throws SQLException {
        int before = connection.getNetworkTimeout();
        connection.setNetworkTimeout(Runnable::run, millis);
        networkMillis = before;
    }

    private void putBack() throws SQLException {
        if (isolation != UNCHANGED) {
            connection.setTransactionIsolation(isolation);
        }
        if (wasReadOnly) {
            connection.setReadOnly(true);
        }
        if (wasManual) {
            connection.setAutoCommit(false);
        }
        if (networkMillis != UNCHANGED) {
            connection.setNetworkTimeout(Runnable::run, networkMillis); // last: what comes before may cost a round trip
        }
    }

    @Override
    public void close() throws SQLException {
        try {
            if (!connection.isClosed()) {
                putBack();
            }
        } catch (SQLException | RuntimeException e) {
            discard.accept(connection); // what was done with it is done; nobody else may get it in this state
        } finally {
            connection.close();
        }
    }
}
