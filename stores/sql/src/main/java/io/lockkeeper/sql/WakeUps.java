// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import io.lockkeeper.model.Signal;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.Signals;
import io.lockkeeper.spi.Subscription;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** How waiters are woken: those of this store object directly, others by the server or by their own poll. */
abstract class WakeUps implements AutoCloseable {
    private final Map<String, Signals> listeners = new ConcurrentHashMap<>();

    /** Makes the instance that suits a store. */
    interface Maker {
        WakeUps make(Connections connections, Sql sql, long incarnation);
    }

    /** Whether clients elsewhere are notified, too. */
    boolean pushes() {
        return false;
    }

    /** The statements that notify clients elsewhere, as part of the transaction that caused them. */
    abstract List<Sql.Step> news(List<Signal> signals);

    /** Ends a transaction: writes what has changed, and notifies clients elsewhere. */
    final <R> NameTransaction.Result<R> finish(Connection connection, Sql sql, NameTransaction.Result<R> result)
            throws SQLException {
        List<Sql.Step> steps = new ArrayList<>(result.writes());
        steps.addAll(news(result.signals()));
        sql.finish(connection, steps);
        return result;
    }

    /** One of our claims is about to be made, and may be queued. */
    void expect(Claim claim) {}

    /** It is queued. */
    void await(Claim claim) {}

    /** It was asked about, and is queued, with that many claims ahead. */
    void stands(Claim claim, int ahead) {}

    /** That many queued claims have just been asked about, and those that were granted are known. */
    void refreshed(int claims) {}

    /** It is not, or no longer. */
    void forget(Claim claim) {}

    /** A client of this store object holds something, for at least that long. */
    void holds(Duration remaining) {}

    /** A latch is awaited. */
    void awaitLatch(String name, String client, long generation) {}

    /** A connection that is there for waking, and has time for a step. */
    Connections.@Nullable Spare spare() {
        return null;
    }

    Subscription listen(String client, Signals signals) {
        listeners.put(client, signals);
        return () -> listeners.remove(client, signals);
    }

    Map<String, Signals> listeners() {
        return listeners;
    }

    /** Notifies the clients of this store object, after the transaction. */
    void notifyHere(List<Signal> signals) {
        for (Signal signal : signals) {
            Signals listener = listeners.get(signal.client());
            if (listener != null) {
                signal.deliver(listener);
            }
        }
    }

    @Override
    public abstract void close();
}
