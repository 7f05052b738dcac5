// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import io.lockkeeper.model.Signal;
import io.lockkeeper.spi.Signals;
import io.lockkeeper.spi.Subscription;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;

/**
 * PostgreSQL tells waiters itself: NOTIFY, as part of the transaction that hands over, on a channel of the client; only when
 * there is somebody to tell, because notifying commits wait for each other. One connection and one thread listen for each client
 * of this store object. When the connection breaks, another one is made, and the client is told that it may have missed
 * something.
 */
final class PgNotify extends Wakes {
    private static final String CHANNEL = "lockkeeper_";
    private static final int LISTEN_MILLIS = 10_000;
    private static final long SHORTEST_PAUSE = 100_000_000;

    /** Longer ones would not spare a server much; a wrong password is not tried too often. */
    private static final long LONGEST_PAUSE = 5_000_000_000L;

    private static final int CONNECT_SECONDS = 3;
    private static final int BEGIN_MILLIS = 1_000;

    private final Connections connections;
    private final Set<Listener> running = ConcurrentHashMap.newKeySet();

    PgNotify(Connections connections) {
        this.connections = connections;
    }

    @Override
    boolean pushes() {
        return true;
    }

    @Override
    List<Sql.Step> news(List<Signal> signals) {
        return signals.stream()
                .filter(signal -> !listeners().containsKey(signal.client()))
                .map(signal -> new Sql.Step(
                        "notify", Map.of("channel", CHANNEL + signal.client(), "text", SignalText.write(signal))))
                .toList();
    }

    @Override
    Subscription listen(String client, Signals signals) {
        Subscription subscription = super.listen(client, signals);
        Listener listener = new Listener(client, signals);
        running.add(listener);
        listener.thread.start();
        listener.awaitBegin();
        return () -> {
            subscription.close();
            listener.end();
        };
    }

    /** A client's connection, and the thread that reads from it. */
    private final class Listener {
        final String client;
        final Signals signals;
        final Thread thread = new Thread(this::run, "lockkeeper-sql-listen");
        private final CountDownLatch begun = new CountDownLatch(1);
        private @Nullable PGConnection open;
        private volatile boolean ended;

        Listener(String client, Signals signals) {
            this.client = client;
            this.signals = signals;
            thread.setDaemon(true);
        }

        /** Waits until the client is being listened for; not for long. */
        void awaitBegin() {
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
            begun.countDown(); // it is told later that it may have missed something
        }

        private void run() {
            try {
                loop();
            } finally {
                running.remove(this);
            }
        }

        private void loop() {
            long pause = SHORTEST_PAUSE;
            while (!ended) {
                try (Connection connection = connections.listening()) {
                    PGConnection pg = connection.unwrap(PGConnection.class);
                    synchronized (this) {
                        if (ended) {
                            return;
                        }
                        open = pg;
                    }
                    connection.setNetworkTimeout(Runnable::run, 0);
                    try (Statement s = connection.createStatement()) {
                        s.execute("LISTEN \"" + CHANNEL + client + "\"");
                    }
                    pause = SHORTEST_PAUSE;
                    if (begun.getCount() == 0) {
                        signals.missed(); // what was told while nobody listened
                    }
                    begun.countDown();
                    while (!ended) {
                        PGNotification[] all = pg.getNotifications(LISTEN_MILLIS);
                        if (all != null && !ended) {
                            for (PGNotification one : all) {
                                SignalText.read(client, one.getParameter())
                                        .ifPresentOrElse(signal -> signal.deliver(signals), signals::missed);
                            }
                        }
                        if (all == null || all.length == 0) {
                            probe(connection);
                        }
                    }
                } catch (SQLException e) {
                    if (!ended) {
                        LockSupport.parkNanos(pause); // the database is away; those who wait refresh meanwhile
                        pause = Math.min(2 * pause, LONGEST_PAUSE);
                    }
                } finally {
                    synchronized (this) {
                        open = null;
                    }
                }
            }
        }

        /** A connection that is dead without having been told so must not be listened to for ever. */
        private void probe(Connection connection) throws SQLException {
            if (!ended && !connection.isValid(CONNECT_SECONDS)) {
                throw new SQLException("the connection to listen on is gone", "08006");
            }
        }

        /** Ends the thread: its read fails when the socket closes under it. */
        synchronized void end() {
            ended = true;
            if (open instanceof Connection connection) {
                try {
                    connection.abort(Runnable::run);
                } catch (SQLException e) {
                    // It is gone.
                }
            }
            LockSupport.unpark(thread);
        }
    }

    @Override
    public void close() {
        running.forEach(Listener::end);
    }
}
