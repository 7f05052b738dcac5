// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.spi.StoreTime;
import io.lockkeeper.sql.base.ConnectionSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Our own connections, never the caller's: in autocommit, or in a short transaction. One is reserved for renewals, so
 * that a pool that is exhausted cannot lose locks.
 *
 * <p>An interrupt never breaks a step ({@link StepRunner}). The connection for renewals is a {@link RenewalConnection}.
 */
final class Connections implements AutoCloseable {
    /** Threads that wait for the user's data source; more steps than these wait for them. */
    private static final int STEPS = 16;

    /** Of those that wait for connections to keep, which must not have to wait for steps. */
    private static final int KEPT = 4;

    /** A client that is in use does not connect again for each step. */
    private static final long RESTING_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final ConnectionSource source;
    private final StepRunner runner;
    private final RenewalConnection forRenewals;
    private final ConnectionPreparation preparation;
    private final @Nullable Borrower forSteps;
    private final @Nullable Borrower toKeep;
    private volatile @Nullable Runnable repair;
    private volatile boolean listens;
    private volatile long stepped = System.nanoTime();

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
        this.runner = new StepRunner(source, timeoutMillis);
        this.forRenewals = new RenewalConnection(source, this::kept, this::pooled, timeoutMillis);
        // After the server's own timeouts, which leave the connection whole.
        this.preparation = new ConnectionPreparation(timeoutMillis + Math.max(250, timeoutMillis / 4), source::discard);
        this.forSteps = source.isShared() ? new Borrower(timeoutMillis, STEPS, this::need) : null;
        this.toKeep = source.isShared() ? new Borrower(timeoutMillis, KEPT, this::need) : null;
    }

    /** Prepares: notes the state that connections come in, and keeps one for renewals. */
    void begin(Dialect dialect, Runnable repair) {
        this.repair = repair;
        if (dialect.suffersFromInterrupts()) {
            runner.shield();
        }
        preparation.comeIn(autocommit(Connection::getTransactionIsolation), dialect);
        listens = dialect.notifies();
        if (!source.hasLine()) {
            forRenewals.want();
        }
        if (source.isShared()) {
            renewal(this::checkThatThereAreEnough);
        } else if (!source.hasLine() && !source.isSparing()) {
            renewal(connection -> true);
        }
    }

    /** Something is held: from now on there is a connection for renewals that nobody else uses. */
    void keepOne() {
        if (!forRenewals.want()) {
            keepNow();
        }
    }

    /** A client uses the store: the application's source gives us a connection to keep, unless it has done so already. */
    void beginUse() {
        if (forRenewals.beginUse() && source.isShared()) {
            keepNow();
        }
    }

    private void keepNow() {
        try {
            renewal(connection -> true);
        } catch (StoreUnavailableException e) {
            // The first renewal tries again.
        }
    }

    /** It no longer does. The application gets back what is no longer kept for a client. */
    void endUse() {
        forRenewals.endUse();
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
        return runner.run(false, () -> {
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
        return runner.run(false, () -> {
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
        return runner.run(false, () -> {
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
        return runner.run(true, () -> {
            try {
                return forRenewals.use(work);
            } catch (SQLException e) {
                throw failure(e);
            }
        });
    }

    /** A transaction on the connection that is kept for renewals. */
    <T> T renewalTransaction(Work<T> work) {
        return renewal(connection -> Transaction.run(connection, work, forRenewals::discard));
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
            return runner.run(false, () -> {
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
        forRenewals.rest();
    }

    /** A connection to listen on; the caller closes it. */
    BorrowedConnection listening() throws SQLException {
        return kept();
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

    /** Discards a connection of a step; its step still closes it. */
    void discard(Connection connection) {
        source.discard(connection);
    }

    private StoreUnavailableException failure(SQLException e) {
        Runnable remedy = repair;
        if (remedy != null && Failures.isMissingTable(e)) {
            remedy.run();
            return new StoreUnavailableException("a table was missing, and has been created again", e);
        }
        return Failures.of(e);
    }

    @Override
    public void close() {
        forRenewals.close();
        runner.close();
        if (forSteps != null && toKeep != null) {
            forSteps.close();
            toKeep.close();
        }
    }
}
