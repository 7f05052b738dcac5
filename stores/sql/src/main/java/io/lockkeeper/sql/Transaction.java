// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import java.sql.Connection;
import java.sql.SQLException;

/** A transaction of our own: all of it or nothing. */
final class Transaction {
    private Transaction() {}

    /** Runs a transaction on this connection, which is in autocommit. */
    static <T> T run(Connection connection, Connections.Work<T> work) throws SQLException {
        connection.setAutoCommit(false);
        boolean done = false;
        try {
            T result = work.with(connection);
            connection.commit();
            done = true;
            return result;
        } finally {
            if (!done) {
                rollback(connection);
            }
            restore(connection);
        }
    }

    private static void rollback(Connection connection) {
        try {
            connection.rollback();
        } catch (SQLException e) {
            // The connection is broken; the failure that led here is the one to tell.
        }
    }

    private static void restore(Connection connection) {
        try {
            connection.setAutoCommit(true);
        } catch (SQLException e) {
            // As above: the pool finds out for itself.
        }
    }
}
