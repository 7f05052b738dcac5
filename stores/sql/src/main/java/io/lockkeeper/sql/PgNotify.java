// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import io.lockkeeper.model.Signal;
import io.lockkeeper.spi.Signals;
import io.lockkeeper.spi.Subscription;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * PostgreSQL wakes waiters itself: NOTIFY, as part of the transaction that hands over, on a channel of the client; only when
 * there is somebody to wake, because notifying commits wait for each other. One connection and one thread listen for each client
 * of this store object.
 *
 * <p>Every user of the database may notify, also one that may not write. So a notification is only a hint: what it says is
 * checked with the database before it counts. It may not get through at all, as with a pool that gives each transaction another
 * connection: each listener therefore tries it with a notification to itself, and while one has not been proven, the clients of
 * this store object are polled for as on any other database.
 */
final class PgNotify extends Poll {
    private static final System.Logger LOG = System.getLogger("io.lockkeeper.sql");
    private static final String CHANNEL = "lockkeeper_";

    private final Connections connections;
    private final Sql sql;
    private final Set<PgListener> running = ConcurrentHashMap.newKeySet();
    private final AtomicBoolean reported = new AtomicBoolean();
    private volatile boolean pushed = true;

    PgNotify(Connections connections, Sql sql, long incarnation) {
        super(connections, sql, incarnation);
        this.connections = connections;
        this.sql = sql;
    }

    /** As far as it has been tried. */
    @Override
    boolean pushes() {
        return pushed;
    }

    @Override
    boolean polls() {
        return running.stream().anyMatch(listener -> !listener.isProven());
    }

    /** A listener has found that notifications get through. */
    void getsThrough() {
        pushed = true;
    }

    /** A listener has found that they do not. */
    void doesNotGetThrough(String why) {
        pushed = false;
        if (reported.compareAndSet(false, true)) {
            LOG.log(
                    System.Logger.Level.WARNING,
                    "NOTIFY of PostgreSQL does not get through ({0}); waiters are found by polling",
                    why);
        }
    }

    static String channel(String client) {
        return CHANNEL + client;
    }

    @Override
    List<Sql.Step> news(List<Signal> signals) {
        List<Sql.Step> steps = new ArrayList<>(super.news(signals)); // for clients that poll
        for (Signal signal : signals) {
            if (!listeners().containsKey(signal.client())) {
                steps.add(notification(signal.client(), SignalText.write(signal)));
            }
        }
        return steps;
    }

    static Sql.Step notification(String client, String text) {
        return new Sql.Step("notify", Map.of("channel", channel(client), "text", text));
    }

    @Override
    Subscription listen(String client, Signals signals) {
        Subscription subscription = super.listen(client, signals);
        PgListener listener = new PgListener(this, connections, sql, client, signals);
        running.add(listener);
        try {
            listener.begin();
        } catch (Throwable e) { // no thread could be started
            running.remove(listener);
            subscription.close();
            throw e;
        }
        return () -> {
            subscription.close();
            listener.end();
        };
    }

    @Override
    Connections.@Nullable Spare spare() {
        for (PgListener listener : running) {
            if (listener.isProven()) {
                return listener;
            }
        }
        return null;
    }

    void ended(PgListener listener) {
        running.remove(listener);
    }

    @Override
    public void close() {
        super.close();
        running.forEach(PgListener::end);
    }
}
