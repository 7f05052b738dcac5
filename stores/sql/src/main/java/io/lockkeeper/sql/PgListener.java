// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.spi.ClaimId;
import io.lockkeeper.spi.Signals;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Listens for one client, on its own connection and thread. When the connection breaks another one is made; each is
 * tried with a notification to itself, and the client is then notified that it may have missed something. Nothing that
 * arrives ends it: what cannot be read is logged once and counts as something missed.
 */
final class PgListener implements Connections.Spare {
    private static final System.Logger LOG = System.getLogger("io.lockkeeper.sql");

    /** How long a read waits: others may have to wait for its end. What arrives ends it immediately. */
    private static final int LISTEN_MILLIS = 250;

    private static final long BETWEEN_PROBES = 10_000_000_000L;
    private static final long SHORTEST_PAUSE = 100_000_000;

    /** Longer ones would not spare a server much; a wrong password is not tried too often. */
    private static final long LONGEST_PAUSE = 5_000_000_000L;

    /** How often to try again whether notifications get through. */
    private static final long BETWEEN_TRIALS = 60_000_000_000L;

    /** A notification takes less than a millisecond, unless the machine is very busy; until it is here, we poll. */
    private static final int TRIAL_MILLIS = 2_000;

    private static final int CONNECT_SECONDS = 3;
    private static final int BEGIN_MILLIS = 3_000;
    private static final int END_MILLIS = 1_000;

    private final PgNotify wakeUps;
    private final Connections connections;
    private final Sql sql;
    private final String client;
    private final Signals signals;
    private final Thread thread = new Thread(this::run, "lockkeeper-sql-listen");
    private final CountDownLatch begun = new CountDownLatch(1);
    private final ReentrantLock turn = new ReentrantLock(true);
    private volatile boolean proven;
    private volatile boolean ended;
    private @Nullable PgChannel open;
    private boolean failed;
    private boolean reportedUnknown;

    PgListener(PgNotify wakeUps, Connections connections, Sql sql, String client, Signals signals) {
        this.wakeUps = wakeUps;
        this.connections = connections;
        this.sql = sql;
        this.client = client;
        this.signals = signals;
        thread.setDaemon(true);
    }

    /** Whether notifications get through just now. */
    boolean isProven() {
        return proven;
    }

    /** Starts to listen, and waits until it is known whether that works; not for long. */
    void begin() {
        thread.start();
        boolean interrupted = Thread.interrupted();
        try {
            if (begun.await(BEGIN_MILLIS, TimeUnit.MILLISECONDS)) {
                return;
            }
        } catch (InterruptedException e) {
            interrupted = true;
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
        begun.countDown(); // it is notified later that it may have missed something
    }

    private void run() {
        try {
            long pause = SHORTEST_PAUSE;
            while (!ended) {
                boolean wasProven = connect();
                pause = wasProven ? SHORTEST_PAUSE : pause;
                if (!ended) {
                    wakeUps.start(); // others must look now
                    LockSupport.parkNanos(failed ? BETWEEN_TRIALS : pause);
                    pause = Math.min(2 * pause, LONGEST_PAUSE);
                }
            }
        } finally {
            wakeUps.ended(this);
        }
    }

    /** Listens until the connection breaks; whether notifications got through it. */
    private boolean connect() {
        boolean wasProven = false;
        try (PgChannel channel = PgChannel.of(connections.listening())) {
            if (!opened(channel)) {
                return false;
            }
            channel.listen(PgNotify.channel(client));
            wasProven = tries(channel);
            proven = wasProven;
            if (wasProven) {
                failed = false;
                wakeUps.getsThrough();
                if (begun.getCount() == 0) {
                    signals.missed(); // what was sent while nobody listened
                }
                begun.countDown();
                listen(channel);
            } else if (!ended) {
                fails("a notification to itself did not arrive; is there a pool that gives each transaction another"
                        + " connection?");
            }
        } catch (SQLException | StoreUnavailableException e) {
            // The database is away, or this connection is; waiters refresh and look in the meantime.
        } catch (PgChannel.CannotListenException e) {
            fails(e.getMessage());
        } catch (Throwable e) {
            unknown(e);
        } finally {
            proven = false;
            synchronized (this) {
                open = null;
            }
        }
        return wasProven;
    }

    private synchronized boolean opened(PgChannel channel) {
        open = channel;
        return !ended;
    }

    /** Sends a notification from another connection, as others do, and waits for it. */
    private boolean tries(PgChannel channel) throws SQLException {
        String word = "T " + UUID.randomUUID();
        connections.autocommit(c -> {
            sql.query(c, PgNotify.notification(client, word), rows -> {});
            return true;
        });
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(TRIAL_MILLIS);
        while (!ended) {
            long left = TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime());
            if (left <= 0) {
                return false;
            }
            if (channel.read((int) left).contains(word)) {
                return true; // whatever came with it: the client is notified that it may have missed something
            }
        }
        return false;
    }

    private void fails(@Nullable String why) {
        failed = true;
        wakeUps.doesNotGetThrough(String.valueOf(why));
        begun.countDown();
    }

    private void unknown(Throwable e) {
        signals.missed();
        if (!reportedUnknown) {
            reportedUnknown = true;
            LOG.log(
                    System.Logger.Level.WARNING,
                    "something arrived from PostgreSQL that is not understood; it is ignored, and not reported again",
                    e);
        }
    }

    private void listen(PgChannel channel) throws SQLException {
        long probed = System.nanoTime();
        while (!ended) {
            turn.lock();
            try {
                List<String> texts = channel.read(LISTEN_MILLIS);
                if (ended) {
                    return;
                }
                if (!texts.isEmpty()) {
                    received(channel, texts);
                } else if (System.nanoTime() - probed > BETWEEN_PROBES) {
                    channel.probe(CONNECT_SECONDS);
                    probed = System.nanoTime();
                    connections.rest(true);
                }
            } finally {
                turn.unlock();
            }
        }
    }

    // ---- For a step of others, between two reads ----

    @Override
    @SuppressWarnings("LockNotBeforeTry") // it is given back later
    public @Nullable Connection take() {
        turn.lock();
        PgChannel channel;
        synchronized (this) {
            channel = open;
        }
        if (proven && channel != null && !ended) {
            return channel.connection();
        }
        turn.unlock();
        return null;
    }

    @Override
    public void giveBack() {
        turn.unlock();
    }

    /**
     * Asks the database about the claims that these are about: here about those that may have been granted, with one query for all;
     * the rest is for the client to ask.
     */
    private void received(PgChannel channel, List<String> texts) throws SQLException {
        Set<ClaimId> granted = new LinkedHashSet<>();
        for (String text : texts) {
            try {
                SignalText.Hint hint = SignalText.hint(client, text);
                if (hint.latch() != null) {
                    signals.opened(hint.latch());
                } else if (hint.claim() != null
                        && hint.isGrant()
                        && wakeUps.awaitedClaims().isQueued(hint.claim())) {
                    granted.add(hint.claim());
                } else if (hint.claim() != null) {
                    signals.changed(hint.claim());
                }
            } catch (RuntimeException | Error e) {
                unknown(e);
            }
        }
        List<ClaimId> all = List.copyOf(granted);
        for (int i = 0; i < all.size(); i += AwaitedClaims.AT_ONCE) {
            List<ClaimId> part = all.subList(i, Math.min(all.size(), i + AwaitedClaims.AT_ONCE));
            wakeUps.awaitedClaims().look(channel.connection(), part, wakeUps.listeners());
        }
    }

    /** Ends the thread. */
    void end() {
        ended = true;
        if (!connections.areShared() || !endsQuietly()) {
            abort();
        }
        LockSupport.unpark(thread);
    }

    private synchronized void abort() {
        if (open != null) {
            open.abort();
        }
    }

    /** The application gets its connection back whole, after the next read. */
    private boolean endsQuietly() {
        if (!proven || Thread.currentThread() == thread) {
            return false;
        }
        boolean interrupted = Thread.interrupted();
        try {
            thread.join(END_MILLIS);
        } catch (InterruptedException e) {
            interrupted = true;
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
        return !thread.isAlive();
    }
}
