// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.model.Signal;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.ClaimId;
import io.lockkeeper.spi.Signals;
import io.lockkeeper.sql.base.Daemons;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * For databases that notify nobody: one thread looks, in one query for all that wait, whether our claims have been
 * granted; often while something happens, and about once a second when nothing does ({@link Backoff}). About once a
 * second, while something is held, it looks whether a hold is being broken. There is no thread while nobody waits or
 * holds.
 */
class Poll extends WakeUps {
    private static final System.Logger LOG = System.getLogger("io.lockkeeper.sql");
    private static final long AFTER_FAILURE = 250_000_000;

    /** Of holds that are being broken; more would only be reported twice. */
    private static final int MOST_REPORTED = 10_000;

    private final Connections connections;
    private final ThreadFactory threads;
    private final Sql sql;
    private final AwaitedClaims awaitedClaims;
    private final AwaitedLatches latches;
    private final Backoff backoff = new Backoff();
    private final Set<ClaimId> reportedRecalls = ConcurrentHashMap.newKeySet();
    private volatile long holdsUntil = System.nanoTime();
    private volatile boolean restsLong;
    private volatile boolean closed;
    private @Nullable Thread thread;
    private volatile boolean isMissing;
    private volatile long looks;
    private volatile long refreshedAt = System.nanoTime() - Backoff.SLOW;
    private boolean warned;
    private long lookedForBreaks = System.nanoTime();
    private long breaks;

    Poll(Connections connections, Sql sql, long incarnation) {
        this(connections, sql, incarnation, Daemons.named("lockkeeper-sql-poll"));
    }

    /** The same, with threads from here. */
    Poll(Connections connections, Sql sql, long incarnation, ThreadFactory threads) {
        this.connections = connections;
        this.threads = threads;
        this.sql = sql;
        this.awaitedClaims = new AwaitedClaims(sql, incarnation);
        this.latches = new AwaitedLatches(sql);
        this.breaks = connections.autocommit(this::countBreaks);
    }

    /** Whether it is needed now. */
    boolean polls() {
        return true;
    }

    final AwaitedClaims awaitedClaims() {
        return awaitedClaims;
    }

    @Override
    List<Sql.Step> news(List<Signal> signals) {
        // They look for themselves; for holds that are being broken, only when there are any.
        boolean isBreak = signals.stream()
                .anyMatch(signal ->
                        signal instanceof Signal.Recalled && !listeners().containsKey(signal.client()));
        return isBreak ? List.of(new Sql.Step("break_note", Map.of())) : List.of();
    }

    @Override
    void holds(Duration remaining) {
        long until = System.nanoTime() + remaining.toNanos();
        if (until - holdsUntil > Backoff.SLOW / 10) {
            holdsUntil = until;
            start();
        } else {
            startIfMissing();
        }
    }

    @Override
    void expect(Claim claim) {
        awaitedClaims.expect(claim);
    }

    @Override
    void await(Claim claim) {
        awaitedClaims.queued(claim);
        changed();
    }

    @Override
    void stands(Claim claim, int ahead) {
        if (awaitedClaims.stands(claim, ahead)) {
            changed();
        }
    }

    @Override
    void refreshed(int claims) {
        if (claims >= awaitedClaims.size()) {
            refreshedAt = System.nanoTime();
        }
        startIfMissing();
    }

    @Override
    void forget(Claim claim) {
        awaitedClaims.remove(claim.id());
    }

    @Override
    void notifyHere(List<Signal> signals) {
        List<Signal> news = new ArrayList<>(signals.size());
        for (Signal signal : signals) {
            boolean isNews = true;
            if (signal instanceof Signal.Granted granted) {
                isNews = awaitedClaims.remove(granted.claim());
            } else if (signal instanceof Signal.Recalled recalled && listeners().containsKey(recalled.client())) {
                isNews = isNewlyRecalled(recalled.claim());
            }
            if (isNews) {
                news.add(signal);
            }
        }
        super.notifyHere(news);
        if (!signals.isEmpty() && !(awaitedClaims.isEmpty() && latches.isEmpty())) {
            changed();
        }
    }

    @Override
    void awaitLatch(String name, String client, long generation) {
        latches.add(name, client, generation);
        changed();
    }

    /** Something has happened: look again soon. */
    final void changed() {
        backoff.changed();
        start();
    }

    final synchronized void start() {
        if (closed || !polls()) {
            return;
        }
        if (thread == null) {
            // When there is no thread for it now, it is tried again with the next refresh or renewal.
            thread = Daemons.start(threads, this::loop);
            isMissing = thread == null;
        } else if (restsLong) {
            LockSupport.unpark(thread);
        }
    }

    private void startIfMissing() {
        if (isMissing) {
            start();
        }
    }

    private void loop() {
        while (!closed) {
            rest();
            try {
                if (!isJustRefreshed()) {
                    look();
                }
                lookForBreaks();
            } catch (StoreUnavailableException e) {
                // The database is away: waiters find out by their own refreshes. Look again when it may be back.
                LockSupport.parkNanos(AFTER_FAILURE);
            } catch (Throwable e) {
                warn(e);
                LockSupport.parkNanos(AFTER_FAILURE);
            }
            synchronized (this) {
                boolean isIdle = awaitedClaims.isEmpty() && latches.isEmpty() && System.nanoTime() - holdsUntil > 0;
                if (isIdle || !polls()) {
                    thread = null;
                    return;
                }
            }
        }
    }

    /** Whether a slow look would find what the client has just asked itself. */
    private boolean isJustRefreshed() {
        long now = System.nanoTime();
        return latches.isEmpty() && backoff.isSlow(now) && now - refreshedAt < Backoff.SLOW;
    }

    private void warn(Throwable e) {
        if (!warned) {
            warned = true;
            LOG.log(System.Logger.Level.WARNING, "a look for grants failed; it is repeated, and not reported again", e);
        }
    }

    private void rest() {
        long until = Long.MAX_VALUE;
        while (!closed) {
            restsLong = true; // a waiter that comes from here on wakes us, and we rest for less
            boolean idles = awaitedClaims.isEmpty() && latches.isEmpty();
            long now = System.nanoTime();
            long rest = idles ? Backoff.SLOW : pause();
            until = until == Long.MAX_VALUE || now + rest - until < 0 ? now + rest : until;
            long left = until - now;
            if (left <= 0) {
                break;
            }
            restsLong = left > Backoff.LONGEST_QUICK;
            LockSupport.parkNanos(left);
        }
        restsLong = false;
    }

    /** How long to rest before the next look. */
    long pause() {
        return backoff.rest();
    }

    /** How often it has looked; for tests. */
    final long looks() {
        return looks;
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // by one thread
    private void look() {
        looks++;
        awaitedClaims.retain(listeners());
        awaitedClaims.forgetOthers();
        List<ClaimId> all = awaitedClaims.queued();
        long before = System.nanoTime();
        boolean changed = false;
        long opensIn = Long.MAX_VALUE;
        for (int i = 0; i < all.size(); i += AwaitedClaims.AT_ONCE) {
            List<ClaimId> part = all.subList(i, Math.min(all.size(), i + AwaitedClaims.AT_ONCE));
            AwaitedClaims.Look look = connections.autocommit(c -> awaitedClaims.look(c, part, listeners()));
            changed |= look.changed();
            opensIn = Math.min(opensIn, look.opensIn());
        }
        if (!latches.isEmpty()) {
            changed |= connections.autocommit(c -> latches.look(c, listeners()));
        }
        if (changed) {
            backoff.changed();
        }
        backoff.opensAt(opensIn == Long.MAX_VALUE ? before : before + opensIn * 1_000);
    }

    // ---- Holds that are being broken ----

    private boolean isNewlyRecalled(ClaimId claim) {
        if (reportedRecalls.size() >= MOST_REPORTED) {
            reportedRecalls.clear();
        }
        return reportedRecalls.add(claim);
    }

    private void lookForBreaks() {
        long now = System.nanoTime();
        if (now - lookedForBreaks < Backoff.SLOW || now - holdsUntil > 0) {
            return;
        }
        lookedForBreaks = now;
        connections.autocommit(connection -> {
            long count = countBreaks(connection);
            if (count != breaks) {
                reportRecalled(connection);
                breaks = count;
            }
            return true;
        });
    }

    private long countBreaks(Connection connection) throws SQLException {
        long[] count = {0};
        sql.query(connection, new Sql.Step("breaks", Map.of()), row -> count[0] = row.next() ? row.getLong(1) : 0);
        return count[0];
    }

    private void reportRecalled(Connection connection) throws SQLException {
        Set<ClaimId> found = new HashSet<>();
        sql.query(connection, new Sql.Step("recalled", Map.of()), row -> {
            while (row.next()) {
                try {
                    found.add(ClaimId.parse(String.valueOf(row.getString(1))));
                } catch (IllegalArgumentException e) {
                    sql.damaged().report(row.getString(1), e);
                }
            }
        });
        reportedRecalls.retainAll(found);
        for (ClaimId id : found) {
            Signals listener = listeners().get(id.client());
            if (listener != null && isNewlyRecalled(id)) {
                listener.recalled(id);
            }
        }
    }

    @Override
    public void close() {
        closed = true;
        Thread running;
        synchronized (this) {
            running = thread;
        }
        if (running != null) {
            LockSupport.unpark(running);
        }
    }
}
