// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import io.lockkeeper.sql.base.ConnectionSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The connection that is kept for renewals, so that a pool that is exhausted cannot lose locks. It is taken when it is
 * first needed: for a source with few connections, or with a line for the only one, when something is held; for the
 * application's, as long as a client uses the store. It is given back when it is no longer needed.
 *
 * <p>One renewal uses it at a time.
 */
final class RenewalConnection implements AutoCloseable {
    /** A hold of the default length is renewed three times in this period. */
    private static final long RESERVED_NANOS = TimeUnit.SECONDS.toNanos(30);

    private final ConnectionSource source;
    private final Borrower.Opening kept;
    private final Borrower.Opening pooled;
    private final int timeoutMillis;
    private final ReentrantLock turn = new ReentrantLock();
    private final AtomicInteger users = new AtomicInteger();
    private volatile boolean wasUsed;
    private volatile long renewed = System.nanoTime();
    private volatile boolean isWanted;
    private volatile boolean closed;
    private @Nullable BorrowedConnection reserved;

    /**
     * The connection that is kept, not taken yet.
     *
     * @param kept takes one to keep
     * @param pooled takes one of those for steps
     */
    RenewalConnection(ConnectionSource source, Borrower.Opening kept, Borrower.Opening pooled, int timeoutMillis) {
        this.source = source;
        this.kept = kept;
        this.pooled = pooled;
        this.timeoutMillis = timeoutMillis;
    }

    /** From now on there is one; answers whether that was so before. */
    boolean want() {
        boolean was = isWanted;
        isWanted = true;
        return was;
    }

    /** A client uses the store; answers whether one has done so before. */
    boolean beginUse() {
        users.incrementAndGet();
        boolean before = wasUsed;
        wasUsed = true;
        return before;
    }

    /** It no longer does. The application gets back what is no longer kept for a client. */
    void endUse() {
        if (users.decrementAndGet() == 0) {
            turn.lock();
            try {
                closeUnused();
            } finally {
                turn.unlock();
            }
        }
    }

    private void closeUnused() {
        if (source.isShared() && wasUsed && users.get() == 0) {
            drop();
        }
    }

    /** In autocommit, on this connection; or, while nothing is held, on one that is free. */
    <T> T use(Connections.Work<T> work) throws SQLException {
        turn.lock();
        try (Connection spare = reserved == null && !isWanted ? source.spare() : null) {
            return work.with(spare != null ? spare : reserved());
        } catch (SQLException e) {
            if (reserved != null && !isAlive(reserved.connection())) {
                drop(); // otherwise it is kept: the pool may have no other one
            }
            throw e;
        } finally {
            closeUnused();
            turn.unlock();
        }
    }

    private Connection reserved() throws SQLException {
        BorrowedConnection borrowed = reserved;
        if (closed) {
            throw new SQLException("the store is closed", "08003");
        }
        if (borrowed == null) {
            borrowed = reserve();
            reserved = borrowed;
        }
        renewed = System.nanoTime();
        return borrowed.connection();
    }

    private BorrowedConnection reserve() throws SQLException {
        try {
            return kept.open();
        } catch (SQLException e) {
            if (!source.isSparing()) {
                throw e;
            }
            return pooled.open(); // the server may have no more of them, but the pool one that has been used
        }
    }

    private boolean isAlive(Connection connection) {
        try {
            return connection.isValid(Math.max(1, timeoutMillis / 1_000));
        } catch (SQLException e) {
            return false;
        }
    }

    /** Closes it if nothing has been renewed for a while. */
    void rest() {
        if (System.nanoTime() - renewed > RESERVED_NANOS && turn.tryLock()) {
            try {
                drop();
            } finally {
                turn.unlock();
            }
        }
    }

    /** Discards it, in the middle of {@link #use}. */
    void discard(Connection connection) {
        source.discard(connection);
        drop();
    }

    private void drop() {
        BorrowedConnection old = reserved;
        reserved = null;
        if (old != null) {
            try {
                old.close();
            } catch (SQLException e) {
                // It is broken, and gone.
            }
        }
    }

    @Override
    public void close() {
        closed = true;
        turn.lock();
        try {
            drop();
        } finally {
            turn.unlock();
        }
    }
}
