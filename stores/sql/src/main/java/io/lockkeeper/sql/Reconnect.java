// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Makes the connections of a pool, on the pool's own thread. A pool that sees failures rests longer after each, for up
 * to 5 s, and in the meantime steps would go on failing although the database is back. So failures that may pass are
 * hidden from it: they are retried here, always after the same short delay, as long as a step waits for a connection. A
 * failure that will not pass goes to the pool immediately.
 */
final class Reconnect {
    /** Soon enough that a step that has come during an outage succeeds after it; a server that starts refuses some per client. */
    private static final long SHORTEST = TimeUnit.MILLISECONDS.toNanos(100);

    /** Clients that lost their connections together do not all come back at the same moment. */
    private static final long LONGEST = TimeUnit.MILLISECONDS.toNanos(200);

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private volatile @Nullable SQLException failure;
    private int waiting;
    private boolean closed;

    /** Connects once. */
    interface Opening {
        Connection open() throws SQLException;
    }

    /** Why there is no connection: the failure of the last attempt, unless one has succeeded since. */
    @Nullable
    SQLException failure() {
        return failure;
    }

    /** A step waits for the pool from now on, until {@link #endWait}. */
    void beginWait() {
        lock.lock();
        try {
            waiting++;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    void endWait() {
        lock.lock();
        try {
            waiting--;
        } finally {
            lock.unlock();
        }
    }

    Connection connect(Opening opening) throws SQLException {
        while (true) {
            try {
                Connection connection = opening.open();
                failure = null;
                if (isClosed()) {
                    connection.close(); // the pool would forget it
                    throw new SQLException("the store is closed", "08003");
                }
                return connection;
            } catch (SQLException e) {
                failure = e;
                if (Failures.lasts(e) || !rest()) {
                    throw e;
                }
            }
        }
    }

    /** Rests until it is time to try again; whether it ever will be. */
    private boolean rest() {
        lock.lock();
        try {
            long left = ThreadLocalRandom.current().nextLong(SHORTEST, LONGEST);
            while (!closed && left > 0) {
                left = changed.awaitNanos(left);
            }
            while (!closed && waiting == 0) {
                changed.await();
                failure = null; // of long ago
            }
            return !closed;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // by the pool, which ends
            return false;
        } finally {
            lock.unlock();
        }
    }

    private boolean isClosed() {
        lock.lock();
        try {
            return closed;
        } finally {
            lock.unlock();
        }
    }

    /** Lets the pool's thread go. */
    void close() {
        lock.lock();
        try {
            closed = true;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }
}
