// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import java.sql.Connection;
import java.sql.SQLException;

/**
 * Our own transaction: all of it or nothing. A driver may believe that it is in a transaction although it could not begin one
 * (SQLite's does when another process is writing), and the next step on that connection would run without one. So a connection on
 * which beginning, committing or rolling back has failed is not used again.
 */
final class Transaction {
    private Transaction() {}

    /** Discards a connection for good. */
    interface Discard {
        void discard(Connection connection);
    }

    /** Runs a transaction on this connection, which is in autocommit. */
    static <T> T run(Connection connection, Connections.Work<T> work, Discard discard) throws SQLException {
        boolean isWhole = false;
        try {
            begin(connection);
            T result;
            try {
                result = work.with(connection);
            } catch (Throwable e) {
                isWhole = isRolledBack(connection); // whether or not, the failure that led here is the one to report
                throw e;
            }
            connection.commit();
            connection.setAutoCommit(true);
            isWhole = true;
            return result;
        } finally {
            if (!isWhole) {
                discard.discard(connection);
            }
        }
    }

    private static void begin(Connection connection) throws SQLException {
        connection.setAutoCommit(false);
        if (connection.getAutoCommit()) {
            throw new SQLException("the connection did not begin a transaction", "25000");
        }
    }

    private static boolean isRolledBack(Connection connection) {
        try {
            connection.rollback();
            connection.setAutoCommit(true);
            return true;
        } catch (SQLException e) {
            return false;
        }
    }
}
