// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.spi.StoreTime;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Our own connections, never the caller's: in autocommit, or in a short transaction. One is reserved for renewals, so
 * that a pool that is exhausted cannot lose locks.
 *
 * <p>An interrupt never breaks a step: it is put aside while a connection is used, and kept for afterwards.
 */
final class Connections implements AutoCloseable {
    /** Threads that wait for the user's data source; more steps than these wait for them. */
    private static final int STEPS = 16;

    /** Of those that wait for connections to keep, which must not have to wait for steps. */
    private static final int KEPT = 4;

    /** A hold of the default length is renewed three times in this period. */
    private static final long RESERVED_NANOS = TimeUnit.SECONDS.toNanos(30);

    /** A client that is in use does not connect again for each step. */
    private static final long RESTING_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final ConnectionSource source;
    private final int timeoutMillis;
    private final ConnectionPreparation preparation;
    private final @Nullable Borrower forSteps;
    private final @Nullable Borrower toKeep;
    private final ReentrantLock renewing = new ReentrantLock();
    private volatile @Nullable InterruptShield interruptShield;
    private volatile @Nullable Runnable repair;
    private volatile boolean listens;
    private volatile long renewed = System.nanoTime();
    private volatile long stepped = System.nanoTime();
    private volatile boolean keepsOne;
    private volatile boolean closed;
    private final AtomicInteger users = new AtomicInteger();
    private volatile boolean wasUsed;
    private @Nullable BorrowedConnection reserved;

    /** What is done with a connection. */
    interface Work<T> {
        T with(Connection connection) throws SQLException;
    }

    /** A connection that has another use, but can be taken for a step. */
    interface Spare {
        /** Takes it; null when that is not possible now. */
        @Nullable
        Connection take();

        void giveBack();
    }

    Connections(ConnectionSource source, int timeoutMillis) {
        this.source = source;
        this.timeoutMillis = timeoutMillis;
        // After the server's own timeouts, which leave the connection whole.
        this.preparation = new ConnectionPreparation(timeoutMillis + Math.max(250, timeoutMillis / 4), source::discard);
        this.forSteps = source.isShared() ? new Borrower(timeoutMillis, STEPS, this::need) : null;
        this.toKeep = source.isShared() ? new Borrower(timeoutMillis, KEPT, this::need) : null;
    }

    /** Settles in: looks at how connections come, and keeps one for renewals. */
    void begin(Dialect dialect, Runnable repair) {
        this.repair = repair;
        if (dialect.suffersFromInterrupts()) {
            interruptShield = new InterruptShield(timeoutMillis);
        }
        preparation.comeIn(autocommit(Connection::getTransactionIsolation), dialect);
        listens = dialect.notifies();
        keepsOne = !source.hasLine();
        if (source.isShared()) {
            renewal(this::checkThatThereAreEnough);
        } else if (keepsOne && !source.isSparing()) {
            renewal(connection -> true);
        }
    }

    /** Something is held: from now on there is a connection for renewals that nobody else uses. */
    void keepOne() {
        if (!keepsOne) {
            keepsOne = true;
            try {
                renewal(connection -> true);
            } catch (StoreUnavailableException e) {
                // The first renewal tries again.
            }
        }
    }

    /** A client uses the store: the application's source gives us a connection to keep, unless it has done so already. */
    void beginUse() {
        users.incrementAndGet();
        if (wasUsed && source.isShared()) {
            try {
                renewal(connection -> true);
            } catch (StoreUnavailableException e) {
                // The first renewal tries again.
            }
        }
        wasUsed = true;
    }

    /** It no longer does. The application gets back what is kept for nobody. */
    void endUse() {
        if (users.decrementAndGet() == 0) {
            renewing.lock();
            try {
                closeUnused();
            } finally {
                renewing.unlock();
            }
        }
    }

    private void closeUnused() {
        if (source.isShared() && wasUsed && users.get() == 0) {
            closeReserved();
        }
    }

    /** Whether the application uses the source of these, too. */
    boolean areShared() {
        return source.isShared();
    }

    private int needed() {
        return listens ? 3 : 2;
    }

    private String need() {
        return "Lockkeeper needs at least " + needed()
                + " of its connections at a time: one that is kept for renewals, "
                + (listens ? "one for each keeper that is kept to listen on, " : "") + "and one or more for steps";
    }

    /** As many as are needed, and each for us alone. */
    private boolean checkThatThereAreEnough(Connection kept) throws SQLException {
        int open = 1;
        try (BorrowedConnection one = pooled()) {
            open++;
            kept.setAutoCommit(false);
            boolean isSame = !one.connection().getAutoCommit();
            kept.setAutoCommit(true);
            if (isSame) {
                throw new IllegalArgumentException(
                        "the data source gives the same connection to all callers; " + need());
            }
            if (needed() > 2) {
                pooled().close();
            }
            return true;
        } catch (StoreUnavailableException e) {
            throw e.because("no more than " + open + " at a time");
        } catch (SQLException e) {
            throw Failures.of(e).because("no more than " + open + " connections at a time; " + need());
        }
    }

    /** One statement, each committed by itself. */
    <T> T autocommit(Work<T> work) {
        stepped = System.nanoTime();
        return inAutocommit(work);
    }

    private <T> T inAutocommit(Work<T> work) {
        return step(false, () -> {
            try (BorrowedConnection borrowed = pooled()) {
                return work.with(borrowed.connection());
            } catch (SQLException e) {
                throw failure(e);
            }
        });
    }

    /** What may be lost when the machine dies: a release that hands over to nobody, a place in a queue. In autocommit. */
    <T> T lazily(Work<T> work) {
        return autocommit(lazy(work));
    }

    /** The same on any connection. */
    <T> Work<T> lazy(Work<T> work) {
        return connection -> {
            source.lazy(connection, true);
            try {
                return work.with(connection);
            } finally {
                source.lazy(connection, false);
            }
        };
    }

    /** Our own transaction: all of it or nothing. */
    <T> T transaction(Work<T> work) {
        stepped = System.nanoTime();
        return step(false, () -> {
            try (BorrowedConnection borrowed = pooled()) {
                return Transaction.run(borrowed.connection(), work, this::discard);
            } catch (SQLException e) {
                throw failure(e);
            }
        });
    }

    /** Makes several steps in a row: where threads wait in line for a connection, they do so once for all of them. */
    <T> T together(Supplier<T> steps) {
        if (!source.hasLine()) {
            return steps.get();
        }
        return inLine(() -> source.together(steps));
    }

    /** Makes steps that end something, so that others need not wait for everyone that wants to write. */
    <T> T ahead(Supplier<T> steps) {
        return source.hasLine() ? inLine(() -> source.ahead(steps)) : steps.get();
    }

    /** Steps that share one place in the line for a connection. */
    private interface InLine<T> {
        T make() throws SQLException;
    }

    private <T> T inLine(InLine<T> steps) {
        return step(false, () -> {
            try {
                return steps.make();
            } catch (SQLException e) {
                throw failure(e);
            }
        });
    }

    /** The database's time; without a connection, where it is the machine's. */
    StoreTime time(Sql sql, long incarnation) {
        OptionalLong micros = source.clock();
        return micros.isPresent()
                ? new StoreTime(incarnation, micros.getAsLong())
                : autocommit(c -> SqlStore.clock(c, sql, incarnation));
    }

    /** Whether a deadline is ahead, where that is known without asking the database. */
    boolean isBefore(StoreTime deadline, long incarnation) {
        OptionalLong micros = source.clock();
        return micros.isPresent() && deadline.incarnation() == incarnation && micros.getAsLong() < deadline.micros();
    }

    /** In autocommit, on the connection that is kept for renewals; or, while nothing is held, on one that is free. */
    <T> T renewal(Work<T> work) {
        return step(true, () -> {
            renewing.lock();
            try (Connection spare = reserved == null && !keepsOne ? source.spare() : null) {
                return work.with(spare != null ? spare : reserved());
            } catch (SQLException e) {
                if (reserved != null && !isAlive(reserved.connection())) {
                    closeReserved(); // otherwise it is kept: the pool may have no other one
                }
                throw failure(e);
            } finally {
                closeUnused();
                renewing.unlock();
            }
        });
    }

    /** A transaction on the connection that is kept for renewals. */
    <T> T renewalTransaction(Work<T> work) {
        return renewal(connection -> Transaction.run(connection, work, this::discardReserved));
    }

    /** Keeps places in queues, in autocommit: on a connection that is there anyway, if there is one and no other is in use. */
    <T> T refresh(@Nullable Spare spare, Work<T> work) {
        if (!source.isSparing()) {
            return renewal(work);
        }
        rest(spare != null);
        Connection taken = spare != null && isResting() ? spare.take() : null;
        if (spare == null || taken == null) {
            return inAutocommit(work);
        }
        try {
            return step(false, () -> {
                try {
                    return work.with(taken);
                } catch (SQLException e) {
                    throw failure(e);
                }
            });
        } finally {
            spare.giveBack();
        }
    }

    /** The same, in a transaction. */
    <T> T refreshTransaction(@Nullable Spare spare, Work<T> work) {
        return source.isSparing()
                ? refresh(spare, connection -> Transaction.run(connection, work, this::discard))
                : renewalTransaction(work);
    }

    /** Whether there has been no step for a while: then none of the pool's connections is needed. */
    private boolean isResting() {
        return System.nanoTime() - stepped > RESTING_NANOS;
    }

    /**
     * Closes what is not needed: while nothing is held, the connection that is kept for renewals.
     *
     * @param alsoPooled whether places in queues are kept elsewhere, so that all of the pool's connections may go, too
     */
    void rest(boolean alsoPooled) {
        if (!source.isSparing()) {
            return;
        }
        source.rest(alsoPooled && isResting());
        if (System.nanoTime() - renewed > RESERVED_NANOS && renewing.tryLock()) {
            try {
                closeReserved();
            } finally {
                renewing.unlock();
            }
        }
    }

    /** A connection to listen on; the caller closes it. */
    BorrowedConnection listening() throws SQLException {
        return kept();
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
            return kept();
        } catch (SQLException e) {
            if (!source.isSparing()) {
                throw e;
            }
            return pooled(); // the server may have no more of them, but the pool one that has been used
        }
    }

    private BorrowedConnection pooled() throws SQLException {
        return forSteps != null
                ? forSteps.borrow(() -> preparation.prepare(source.pooled(), false))
                : preparation.prepare(source.pooled(), false);
    }

    private BorrowedConnection kept() throws SQLException {
        return toKeep != null
                ? toKeep.borrow(() -> preparation.prepare(source.kept(), true))
                : preparation.prepare(source.kept(), true);
    }

    /** On this thread with the interrupt deferred, or, where that is not enough, on another one. */
    private <T> T step(boolean isRenewal, Supplier<T> step) {
        InterruptShield shield = interruptShield;
        if (shield != null) {
            return shield.call(step);
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

    /** A renewal that has waited long enough does not wait for its turn: the database serializes writers, too. */
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

    private boolean isAlive(Connection connection) {
        try {
            return connection.isValid(Math.max(1, timeoutMillis / 1_000));
        } catch (SQLException e) {
            return false;
        }
    }

    /** Does away with a connection of a step; its step still closes it. */
    void discard(Connection connection) {
        source.discard(connection);
    }

    private void discardReserved(Connection connection) {
        source.discard(connection);
        closeReserved();
    }

    private void closeReserved() {
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

    private StoreUnavailableException failure(SQLException e) {
        Runnable wayOut = repair;
        if (wayOut != null && Failures.isMissingTable(e)) {
            wayOut.run();
            return new StoreUnavailableException("a table was missing, and has been created again", e);
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
        InterruptShield shield = interruptShield;
        if (shield != null) {
            shield.close();
        }
        if (forSteps != null && toKeep != null) {
            forSteps.close();
            toKeep.close();
        }
    }
}
