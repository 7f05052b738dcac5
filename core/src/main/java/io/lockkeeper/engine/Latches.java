// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import io.lockkeeper.KeeperClosedException;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.spi.LatchState;
import io.lockkeeper.spi.LatchStep;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * Those of this keeper who await latches. All who await the same one share a watch: it looks at the latch when it is told
 * that it has opened, and at a slow interval in case that was not told, however many wait.
 */
final class Latches {
    private final Keeper keeper;
    private final Map<String, Watch> watches = new ConcurrentHashMap<>();

    /** One who waits; its outcome is true or an error. */
    static final class Waiter {
        private final Runnable wake;
        private long generation = -1;
        volatile @Nullable Object outcome;

        Waiter(Runnable wake) {
            this.wake = wake;
        }
    }

    private final class Watch {
        final String name;
        final Object lane;
        // Guarded by this.
        private final List<Waiter> waiters = new ArrayList<>();
        private @Nullable LatchState last;
        private Timer.@Nullable Task alarm;
        private long lastContact = keeper.ticker().nanos();
        private boolean looking;
        private boolean lookAgain;
        private boolean dead;

        Watch(String name) {
            this.name = name;
            this.lane = keeper.lane(name);
        }

        synchronized boolean add(Waiter w) {
            if (!dead) {
                waiters.add(w);
            }
            return !dead;
        }

        synchronized void remove(Waiter w) {
            waiters.remove(w);
            endIfIdle();
        }

        private void endIfIdle() {
            if (waiters.isEmpty() && !dead) {
                dead = true;
                watches.remove(name, this);
                if (alarm != null) {
                    keeper.timer().cancel(alarm);
                }
            }
        }

        /** What the waiter's own first look has found. */
        synchronized void begins(Waiter w, LatchState state) {
            boolean hasChanged = last != null
                    && last.generation() != state.generation()
                    && last.at().micros() > state.at().micros();
            if (w.outcome == null && (state.count() == 0 || hasChanged)) {
                settle(w, true);
            } else {
                w.generation = state.generation();
            }
            lastContact = keeper.ticker().nanos();
            rest();
        }

        private void rest() {
            if (alarm == null && !dead && !waiters.isEmpty()) {
                long next = keeper.ticker().nanos() + keeper.config().patience().toNanos() / 3;
                alarm = keeper.timer().schedule(next, this::look);
            }
        }

        void look() {
            synchronized (this) {
                if (alarm != null) {
                    keeper.timer().cancel(alarm);
                    alarm = null;
                }
                lookAgain = looking;
                if (dead || looking) {
                    return;
                }
                looking = true;
            }
            try {
                keeper.lanes().execute(lane, this::lookNow);
            } catch (RejectedExecutionException e) {
                return; // the keeper is being closed, and ends all who wait
            }
        }

        private void lookNow() {
            LatchState state = null;
            StoreUnavailableException failure = null;
            try {
                state = keeper.steps().once(lane, () -> keeper.store().latch(watchStep(name)));
            } catch (StoreUnavailableException e) {
                failure = e;
            }
            synchronized (this) {
                looking = false;
                if (state != null) {
                    found(state);
                } else if (failure != null) {
                    failed(failure);
                }
                if (lookAgain) {
                    lookAgain = false;
                    look();
                } else {
                    rest();
                }
            }
        }

        private void found(LatchState state) {
            last = state;
            lastContact = keeper.ticker().nanos();
            for (Waiter w : List.copyOf(waiters)) {
                if (state.count() == 0 || (w.generation >= 0 && w.generation != state.generation())) {
                    settle(w, true);
                }
            }
        }

        private void failed(StoreUnavailableException failure) {
            boolean patient = keeper.ticker().nanos() - lastContact
                    < keeper.config().patience().toNanos();
            if (failure.worthRepeating() && patient) {
                return;
            }
            for (Waiter w : List.copyOf(waiters)) {
                settle(w, failure.because("gave up awaiting the latch '" + name + "'"));
            }
        }

        private void settle(Waiter w, Object outcome) {
            w.outcome = outcome;
            waiters.remove(w);
            w.wake.run();
            endIfIdle();
        }

        synchronized void shut() {
            for (Waiter w : List.copyOf(waiters)) {
                settle(
                        w,
                        new KeeperClosedException("the keeper has been closed; nobody awaits '" + name + "' any more"));
            }
        }
    }

    Latches(Keeper keeper) {
        this.keeper = keeper;
    }

    LatchStep watchStep(String name) {
        return new LatchStep.Watch(name, keeper.clientId(), keeper.config().patience());
    }

    /** Begins to wait, with a first look at the latch on this thread; {@link #end} must follow. */
    void begin(String name, Waiter w) {
        Watch watch;
        do {
            keeper.ensureOpen();
            watch = watches.computeIfAbsent(name, Watch::new);
        } while (!watch.add(w));
        try {
            watch.begins(w, keeper.steps().latch(watch.lane, deadline -> watchStep(name)));
        } catch (RuntimeException | Error e) {
            watch.remove(w);
            throw e;
        }
        if (keeper.isClosed()) {
            watch.shut();
        }
    }

    void end(String name, Waiter w) {
        Watch watch = watches.get(name);
        if (watch != null) {
            watch.remove(w);
        }
    }

    void look(String name) {
        Watch watch = watches.get(name);
        if (watch != null) {
            watch.look();
        }
    }

    void lookAll() {
        watches.values().forEach(Watch::look);
    }

    void shut() {
        watches.values().forEach(Watch::shut);
    }
}
