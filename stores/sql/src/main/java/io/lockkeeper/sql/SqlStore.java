// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import io.lockkeeper.Guarantee;
import io.lockkeeper.Guarantees;
import io.lockkeeper.LockInfo;
import io.lockkeeper.Sequencer;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.Grant;
import io.lockkeeper.spi.LatchState;
import io.lockkeeper.spi.LatchStep;
import io.lockkeeper.spi.LockStore;
import io.lockkeeper.spi.NameCodec;
import io.lockkeeper.spi.Promises;
import io.lockkeeper.spi.Renewal;
import io.lockkeeper.spi.Renewals;
import io.lockkeeper.spi.Signals;
import io.lockkeeper.spi.StoreTime;
import io.lockkeeper.spi.Subscription;
import io.lockkeeper.sql.base.ConnectionSource;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Locks in a relational database. A name that nobody uses is taken and given back with one statement each; everything else
 * goes through a {@link NameTransaction}. Never joins the caller's transaction: connections are our own.
 */
public final class SqlStore implements LockStore {
    private static final Duration SHORTEST_LEASE = Duration.ofMillis(100);

    /** What every database gives; DURABLE and PUSH depend on it, and FAILOVER_SAFE is for its administrator to promise. */
    private static final Set<Guarantee> GUARANTEES = Set.of(
            Guarantee.FENCED,
            Guarantee.FAIR,
            Guarantee.LOCK_DELAY,
            Guarantee.SHARED,
            Guarantee.PERMITS,
            Guarantee.LATCH,
            Guarantee.RAISES_TOKENS);

    /** Names that are read in one statement. */
    private static final int PAGE = 1_000;

    /** Claims that were not admitted are repeated immediately: they have waited. */
    private static final Duration WHEN_CROWDED = Duration.ofMillis(10);

    final Connections connections;
    private final Sql sql;
    final WakeUps wakeUps;
    final Purge purge;
    private final String id;
    private final long incarnation;
    private final Guarantees pushing;
    private final Guarantees polling;
    private final AutoCloseable owned;
    private final FastPath fastPath;

    SqlStore(ConnectionSource source, SqlOptions options, @Nullable Dialect given, AutoCloseable owned) {
        this(source, options, given, owned, SqlStore::wakeUps);
    }

    SqlStore(
            ConnectionSource source,
            SqlOptions options,
            @Nullable Dialect given,
            AutoCloseable owned,
            WakeUps.Maker maker) {
        this.owned = owned;
        this.connections = new Connections(source, options.timeoutMillis());
        try {
            Dialect dialect = given != null ? given : connections.autocommit(Dialect::of);
            this.sql = new Sql(dialect, options);
            this.id = Tables.open(connections, sql, options.createTables(), null);
            this.incarnation = id.hashCode();
            this.fastPath = new FastPath(connections, sql, incarnation);
            connections.begin(dialect, () -> Tables.open(connections, sql, options.createTables(), id));
            this.wakeUps = maker.make(connections, sql, incarnation);
            this.purge = new Purge(connections, sql, incarnation, options.timeoutMillis(), this::catchUp);
            EnumSet<Guarantee> kept = EnumSet.copyOf(GUARANTEES);
            if (dialect.isDurable() && !options.relaxed()) {
                kept.add(Guarantee.DURABLE);
            }
            this.polling = new Promises(kept, SHORTEST_LEASE);
            kept.add(Guarantee.PUSH);
            this.pushing = new Promises(kept, SHORTEST_LEASE);
        } catch (RuntimeException | Error e) {
            connections.close();
            throw e;
        }
    }

    private static WakeUps wakeUps(Connections connections, Sql sql, long incarnation) {
        return sql.dialect().notifies()
                ? new PgNotify(connections, sql, incarnation)
                : new Poll(connections, sql, incarnation);
    }

    /** Locks in this database, in tables that are created when they are missing. The data source is not closed. */
    public static SqlStore of(DataSource source) {
        return of(source, SqlOptions.defaults());
    }

    /**
     * Locks in this database. The data source is not closed. One of its connections is kept for renewals and, on PostgreSQL, one
     * for each keeper to listen on; steps need at least one more. When the last keeper on the store is closed, all have been
     * given back; the next one takes them again. A step waits for a connection for the operation timeout, however long the data
     * source would. Connections are returned in the state that they came in.
     *
     * @throws IllegalArgumentException when the data source is transaction-aware, or has one connection for all
     * @throws io.lockkeeper.StoreUnavailableException when it does not have that many connections, or the database fails
     */
    public static SqlStore of(DataSource source, SqlOptions options) {
        return of(source, options, null);
    }

    static SqlStore of(DataSource source, SqlOptions options, @Nullable Dialect dialect) {
        return new SqlStore(new UserSource(source), options, dialect, () -> {});
    }

    /**
     * The statements that make the tables, for users that do not want them created on demand.
     *
     * @param product the database, as {@link java.sql.DatabaseMetaData#getDatabaseProductName()} calls it, such as
     *     {@code "PostgreSQL"} or {@code "MariaDB"}
     */
    public static List<String> ddl(String product, SqlOptions options) {
        return Tables.ddl(new Sql(Dialect.of(product), options));
    }

    @Override
    public String id() {
        return id;
    }

    /** What this store promises; PUSH only as long as the database has been seen to push. No I/O. */
    @Override
    public Guarantees guarantees() {
        return wakeUps.pushes() ? pushing : polling;
    }

    @Override
    public StoreTime time(Object lane) {
        return connections.time(sql, incarnation);
    }

    @Override
    public Answer claim(Claim claim) {
        if (claim.terms().queue()) {
            wakeUps.expect(claim);
        }
        boolean isQueued = false;
        boolean begunInTime = connections.isBefore(claim.deadline(), incarnation);
        try {
            Answer answer = connections.together(() -> fastPath.claim(claim)
                    .orElseGet(() -> inName(claim.name(), (state, ledger) -> state.claim(claim, ledger))));
            if (begunInTime
                    && claim.terms().queue()
                    && answer instanceof Answer.Refused refused
                    && refused.why() == Answer.Why.LATE) {
                return crowded(); // it was late only because it waited for its turn
            }
            isQueued = answer instanceof Answer.Queued;
            if (answer instanceof Answer.Granted granted) {
                connections.keepOne();
                wakeUps.holds(granted.remaining());
            }
            return answer;
        } catch (StoreUnavailableException e) {
            // A claim that would wait goes on waiting. One that was sent before may have been carried out, which is
            // found out
            // later.
            if (!claim.terms().queue() || claim.stray() || !Failures.isCrowd(e)) {
                throw e;
            }
            return crowded();
        } finally {
            if (isQueued) {
                wakeUps.await(claim);
            } else {
                wakeUps.forget(claim);
            }
        }
    }

    private Answer.Refused crowded() {
        return new Answer.Refused(Answer.Why.BUSY, "", WHEN_CROWDED, time(this));
    }

    @Override
    public boolean release(Grant grant) {
        Claim claim = grant.claim();
        boolean released = connections.ahead(() -> fastPath.release(claim)
                || onHead(claim, (state, ledger) -> {
                    boolean found = state.release(claim, ledger);
                    fastPath.found(claim.name(), !state.queue().isEmpty());
                    return found;
                }));
        purge.nowAndThen();
        return released;
    }

    @Override
    public Renewal renew(Renewals batch) {
        return new SqlRenewal(connections, sql, incarnation, wakeUps).run(batch);
    }

    @Override
    public Optional<Grant> downgrade(Grant grant) {
        return inName(grant.claim().name(), (state, ledger) -> state.downgrade(grant, ledger));
    }

    @Override
    public void withdraw(Claim claim) {
        wakeUps.forget(claim);
        onHead(claim, (state, ledger) -> state.withdraw(claim, ledger));
    }

    @Override
    public LatchState latch(LatchStep step) {
        LatchState state = runAndNotify(c -> SqlLatch.run(c, sql, incarnation, step));
        if (step instanceof LatchStep.Watch watch && state.count() > 0) {
            wakeUps.awaitLatch(watch.name(), watch.client(), state.generation());
        }
        return state;
    }

    @Override
    public boolean breakHold(String name, long token, Duration lockDelay, boolean now) {
        return inName(name, (state, ledger) -> state.breakHold(token, lockDelay, now, ledger));
    }

    private <R> R inName(String name, NameTransaction.Rule<R> rule) {
        return runAndNotify(c -> NameTransaction.run(c, sql, incarnation, name, rule));
    }

    private <R> R onHead(Claim claim, NameTransaction.Rule<R> rule) {
        return runAndNotify(c -> NameTransaction.runOnHead(c, sql, incarnation, claim.name(), claim.id(), rule));
    }

    /** Runs a transaction, and notifies the clients that it concerns. */
    private <R> R runAndNotify(Connections.Work<NameTransaction.Result<R>> transaction) {
        NameTransaction.Result<R> result = connections.transaction(c -> wakeUps.finish(c, sql, transaction.with(c)));
        wakeUps.notifyHere(result.signals());
        return result.answer();
    }

    /** Ends what is overdue in names that nobody looks at any more. */
    private void catchUp(List<String> names) {
        runAndNotify(c -> NameTransaction.runAll(c, sql, incarnation, names, true, name -> {
            name.state().catchUp(name);
            return true;
        }));
    }

    // ---- Looking ----

    @Override
    public Optional<LockInfo> inspect(String name) {
        return connections
                .autocommit(c -> SqlView.one(c, sql, incarnation, name))
                .flatMap(seen -> seen.state().describe(seen.at()));
    }

    /**
     * The names in use that begin with {@code prefix}, at most {@code limit}, in order. When there are more, those are given whose
     * encoded form comes first; it differs in order only for characters that are neither ASCII letters, digits nor
     * {@code - . _ ~ : / @ + =}. A row that cannot be read is left out, and logged once.
     */
    @Override
    public List<LockInfo> list(String prefix, int limit) {
        String code = NameCodec.encode(prefix);
        String next = code;
        List<LockInfo> found = new ArrayList<>();
        while (next != null && found.size() < limit) {
            String from = next;
            int atMost = Math.min(limit - found.size(), PAGE);
            SqlView.Page page =
                    connections.autocommit(c -> SqlView.page(c, sql, incarnation, from, SqlView.end(code), atMost));
            page.names().forEach(seen -> seen.state().describe(seen.at()).ifPresent(found::add));
            next = page.next();
        }
        found.sort(Comparator.comparing(LockInfo::name));
        return List.copyOf(found);
    }

    @Override
    public boolean check(Sequencer sequencer) {
        return connections
                .autocommit(c -> SqlView.one(c, sql, incarnation, sequencer.name()))
                .filter(seen -> seen.state().has(sequencer, seen.at()))
                .isPresent();
    }

    static StoreTime clock(Connection connection, Sql sql, long incarnation) throws SQLException {
        try (PreparedStatement s = sql.prepare(connection, "clock", Map.of());
                ResultSet row = s.executeQuery()) {
            row.next();
            return new StoreTime(incarnation, row.getLong(1));
        }
    }

    @Override
    public Subscription listen(String client, Signals signals) {
        connections.beginUse();
        boolean done = false;
        try {
            Subscription subscription = wakeUps.listen(client, signals);
            AtomicBoolean ended = new AtomicBoolean();
            done = true;
            return () -> {
                try {
                    subscription.close();
                } finally {
                    if (ended.compareAndSet(false, true)) {
                        connections.endUse();
                    }
                }
            };
        } finally {
            if (!done) {
                connections.endUse();
            }
        }
    }

    /** Forgets what has been idle for that long; for tests. */
    void purge(Duration idle) {
        purge.run(idle);
    }

    /** The same, as it is done in the background; for tests. */
    void purgeOrWarn(Duration idle) {
        purge.runOrWarn(idle);
    }

    /** How many rows there are, idle names included; for tests. */
    long size() {
        return connections.autocommit(c -> {
            try (PreparedStatement s = sql.prepare(c, "size", Map.of());
                    ResultSet row = s.executeQuery()) {
                row.next();
                return row.getLong(1);
            }
        });
    }

    @Override
    public void close() {
        purge.close();
        wakeUps.close();
        connections.close();
        try {
            owned.close();
        } catch (Exception e) {
            throw new io.lockkeeper.LockkeeperException("could not close the connection pool", e);
        }
    }
}
