// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import java.sql.Connection;
import java.sql.SQLException;

/**
 * Which transactions of the caller see what was committed while they waited for a lock.
 *
 * <p>On PostgreSQL and H2, a transaction above READ COMMITTED reads the state of its first statement forever, and that statement is
 * the one that waits: after its predecessor has committed, it would still read what was there before. On MariaDB and MySQL the state
 * is that of the first plain read, which comes after the lock; SQLite takes it together with the lock on the file. So every level
 * works there.
 */
final class Isolation {
    private Isolation() {}

    /**
     * Rejects a transaction that would go on seeing what was there before it had the lock.
     *
     * @throws IllegalStateException when it would
     */
    static void check(Connection connection, Dialect dialect) throws SQLException {
        boolean isOfFirstStatement = dialect == Dialect.POSTGRESQL || dialect == Dialect.H2;
        // Above it are REPEATABLE READ, SERIALIZABLE and H2's SNAPSHOT.
        if (isOfFirstStatement && connection.getTransactionIsolation() > Connection.TRANSACTION_READ_COMMITTED) {
            throw new IllegalStateException("the transaction is in " + name(connection.getTransactionIsolation())
                    + "; allowed on " + dialect
                    + " is READ COMMITTED: it would go on seeing what was there before it had the"
                    + " lock. Before it begins, call setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED)");
        }
    }

    private static String name(int level) {
        return switch (level) {
            case Connection.TRANSACTION_REPEATABLE_READ -> "REPEATABLE READ";
            case Connection.TRANSACTION_SERIALIZABLE -> "SERIALIZABLE";
            default -> "isolation level " + level;
        };
    }
}
