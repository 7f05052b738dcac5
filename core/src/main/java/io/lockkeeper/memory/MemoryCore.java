// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.memory;

import io.lockkeeper.model.Command;
import io.lockkeeper.model.Model;
import io.lockkeeper.model.Signal;
import io.lockkeeper.spi.Signals;
import io.lockkeeper.spi.StoreTime;
import io.lockkeeper.spi.Subscription;
import io.lockkeeper.spi.Ticker;
import java.time.Duration;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The {@link Model} behind a lock, with a clock and those who listen. Signals are delivered on the thread whose command
 * gave rise to them, after the lock is let go: there is no thread in here.
 */
public final class MemoryCore {
    private final String id = UUID.randomUUID().toString();
    private final ReentrantLock lock = new ReentrantLock();
    private final Model model = new Model(UUID.randomUUID().getMostSignificantBits());
    private final Map<String, Signals> listeners = new ConcurrentHashMap<>();
    private final Ticker ticker;
    private final long epochMicros;

    private MemoryCore(Ticker ticker, long epochMicros) {
        this.ticker = ticker;
        this.epochMicros = epochMicros - ticker.nanos() / 1_000;
    }

    /** A core that goes by the machine's monotonic clock. */
    public static MemoryCore system() {
        return new MemoryCore(Ticker.SYSTEM, System.currentTimeMillis() * 1_000);
    }

    /** A core that goes by another clock, for tests; its time begins at one day after the epoch. */
    public static MemoryCore on(Ticker ticker) {
        return new MemoryCore(ticker, Duration.ofDays(1).toSeconds() * 1_000_000);
    }

    String id() {
        return id;
    }

    Ticker ticker() {
        return ticker;
    }

    StoreTime time() {
        lock.lock();
        try {
            return new StoreTime(model.time().incarnation(), micros());
        } finally {
            lock.unlock();
        }
    }

    <R> R apply(Command<R> command) {
        Model.Step<R> step;
        lock.lock();
        try {
            step = model.apply(command, micros());
        } finally {
            lock.unlock();
        }
        for (Signal signal : step.signals()) {
            Signals listener = listeners.get(signal.client());
            if (listener != null) {
                signal.deliver(listener);
            }
        }
        return step.answer();
    }

    Subscription listen(String client, Signals signals) {
        listeners.put(client, signals);
        return () -> listeners.remove(client, signals);
    }

    /** How many records the store has; an idle one has none. */
    public int size() {
        lock.lock();
        try {
            return model.size();
        } finally {
            lock.unlock();
        }
    }

    private long micros() {
        return epochMicros + ticker.nanos() / 1_000;
    }
}
