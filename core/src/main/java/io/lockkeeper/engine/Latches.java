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
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Those of this keeper who await latches. All who await the same one share a watch: it looks at the latch when a signal says
 * that it has opened, and at a slow interval in case the signal was lost, however many wait.
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
        final Lane lane;
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
            this.lane = keeper.calls().lane(name);
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
                settle(v -> v == w, true);
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
            long asked = keeper.ticker().nanos();
            if (!lane.refreshes.execute(() -> lookNow(asked))) {
                return; // the keeper is being closed, and ends all who wait
            }
        }

        private void lookNow(long asked) {
            LatchState state = null;
            Throwable failure = null;
            try {
                keeper.calls().refuseIfDown(lane, asked); // many latches do not wait for an outage one after the other
                state = keeper.calls().look(lane, watchStep(name));
            } catch (Throwable e) {
                failure = e;
            }
            boolean again;
            synchronized (this) {
                looking = false;
                if (state != null) {
                    found(state);
                } else if (failure != null) {
                    failed(failure);
                }
                again = lookAgain;
                lookAgain = false;
                if (!again) {
                    rest();
                }
            }
            if (again) {
                look();
            }
        }

        synchronized boolean isRecent() {
            return keeper.ticker().nanos() - lastContact <= keeper.calls().timeout();
        }

        synchronized void saw(LatchState state) {
            found(state);
        }

        private void found(LatchState state) {
            last = state;
            lastContact = keeper.ticker().nanos();
            settle(w -> state.count() == 0 || (w.generation >= 0 && w.generation != state.generation()), true);
        }

        private void failed(Throwable failure) {
            String what = "gave up awaiting the latch " + Printable.quoted(name);
            StoreUnavailableException cause = failure instanceof StoreUnavailableException outage
                    ? outage.because(what)
                    : new StoreUnavailableException(what + ": " + failure, failure);
            boolean isPatient = keeper.ticker().nanos() - lastContact
                    < keeper.config().patience().toNanos();
            if (!cause.worthRepeating() || !isPatient) {
                settle(w -> true, cause);
            }
        }

        private void settle(Predicate<Waiter> which, Object outcome) {
            waiters.removeIf(w -> {
                boolean goes = which.test(w);
                if (goes) {
                    w.outcome = outcome;
                    w.wake.run();
                }
                return goes;
            });
            endIfIdle();
        }

        synchronized void shut() {
            settle(
                    w -> true,
                    new KeeperClosedException(
                            "the keeper has been closed; nobody awaits " + Printable.quoted(name) + " any more"));
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
            watch.begins(w, keeper.calls().latch(watch.lane, deadline -> watchStep(name)));
        } catch (Throwable e) { // a store may throw what it does not declare
            watch.remove(w);
            throw e;
        }
        if (keeper.isClosed()) {
            watch.shut();
        }
    }

    /**
     * The time of a waiter is up: looks a last time, on this thread, unless the latch was looked at not long ago. So neither a lost
     * signal nor an outage looks like a latch that is closed.
     */
    void lookAtTheEnd(String name) {
        Watch watch = watches.get(name);
        if (watch != null && !watch.isRecent()) {
            LatchState state = keeper.calls().latch(watch.lane, deadline -> watchStep(name));
            watch.saw(state);
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
