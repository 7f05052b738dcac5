// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import io.lockkeeper.KeeperListener;
import io.lockkeeper.LeaseLost;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.spi.Answer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.HashSet;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Everything that runs user code: the listener, loss actions, the completion of futures. It runs on the keeper's own threads or
 * on the user's executor, never on those that renew, so that a callback that blocks or throws harms no lock. Loss has its
 * own threads: however many other callbacks block, those who lost a lock are notified.
 */
final class Events {
    private static final int CALLBACK_THREADS = 32;
    private static final int LOSS_THREADS = 4;
    private static final int OWN_THREADS = 2;
    private static final int LONGEST_BACKLOG = 10_000;
    private static final long CLOSE_NANOS = 250_000_000;

    private final @Nullable KeeperListener listener;
    private final @Nullable UserExecutor user;
    private final Workers callbacks;
    private final Workers losses;
    private final Workers own;
    private final Timer timer;
    private final Set<Lane> downLanes = new HashSet<>(); // guarded by itself

    // The listener's events wait here so that they come in order, one at a time. Guarded by itself.
    private final ArrayDeque<Consumer<KeeperListener>> backlog = new ArrayDeque<>();
    private boolean draining;
    private boolean dropping;

    // Lines of the log, likewise. Guarded by itself.
    private final ArrayDeque<Runnable> lines = new ArrayDeque<>();
    private boolean isLogging;

    Events(Config config, Threads threads, Timer timer) {
        BooleanSupplier never = () -> false;
        this.listener = config.listener();
        this.timer = timer;
        this.callbacks = Workers.growing("callback", threads, timer, CALLBACK_THREADS, never);
        this.losses = Workers.growing("loss", threads, timer, LOSS_THREADS, never);
        this.own = new Workers("event", threads, timer, OWN_THREADS, never);
        this.user = config.executor() == null ? null : new UserExecutor(config.executor(), timer, this::runCallback);
    }

    boolean hasListener() {
        return listener != null;
    }

    // ---- Running user code ----

    /** Runs code of ours, which does not block, on a thread that no user code can occupy. */
    void runOwn(Runnable task) {
        run(own, task);
    }

    /** Runs a task on a thread that may run user code, not on the user's executor. */
    void runCallback(Runnable task) {
        run(callbacks, task);
    }

    /** Runs user code, never on this thread. What it throws is logged. */
    void run(Runnable userCode) {
        run(callbacks, user == null ? userCode : () -> user.run(userCode, userCode));
    }

    /** Runs user code that hands over a lock; the other one instead if the user's executor is shut down. */
    void handOver(Runnable userCode, Runnable ifShutDown) {
        run(callbacks, () -> handOverHere(userCode, ifShutDown));
    }

    /** {@link #handOver} on a thread that may run user code. */
    void handOverHere(Runnable userCode, Runnable ifShutDown) {
        if (user == null) {
            userCode.run();
        } else {
            user.run(userCode, ifShutDown);
        }
    }

    /** Runs an action of somebody who has lost a lock. */
    void lossAction(Runnable userCode) {
        run(losses, user == null ? userCode : () -> user.runSoon(userCode));
    }

    /** Logs a loss, not on this thread: a logger may block, and others have locks to keep. */
    void logLoss(Runnable line) {
        run(losses, line);
    }

    /** Logs what has become of the store, in order, and not on this thread. */
    private void log(Runnable line) {
        synchronized (lines) {
            if (lines.size() >= LONGEST_BACKLOG) {
                return; // the logger blocks
            }
            lines.add(line);
            if (isLogging) {
                return;
            }
            isLogging = true;
        }
        try {
            run(losses, this::logAll);
        } catch (Throwable e) {
            synchronized (lines) {
                isLogging = false; // the next line tries again
            }
            throw e;
        }
    }

    private void logAll() {
        for (; ; ) {
            Runnable line;
            synchronized (lines) {
                line = lines.poll();
                if (line == null) {
                    isLogging = false;
                    return;
                }
            }
            try {
                line.run();
            } catch (Throwable e) {
                Log.warning("a line could not be logged", e);
            }
        }
    }

    private static void run(Workers workers, Runnable task) {
        Runnable guarded = () -> {
            try {
                task.run();
            } catch (Throwable e) {
                Log.warning("a callback failed", e);
            }
        };
        if (!workers.execute(guarded)) {
            // The keeper is closed. Those who hear of it last still hear of it, on a thread that ends with that.
            new Threads("closed").start("callback", guarded);
        }
    }

    // ---- The listener ----

    void acquired(LeaseHandle handle, long start) {
        if (listener != null) {
            Duration waited = since(start);
            tell(l -> l.acquired(handle, waited));
        }
    }

    void notAcquired(String name, long start) {
        if (listener != null) {
            Duration waited = since(start);
            tell(l -> l.notAcquired(name, waited));
        }
    }

    void released(Possession possession) {
        if (listener != null) {
            Duration held = possession.held();
            tell(l -> l.released(possession.name(), possession.token, held));
        }
    }

    void lost(LeaseLost loss) {
        tell(l -> l.lost(loss));
    }

    void atRisk(Hold hold, long now) {
        Duration left = Duration.ofNanos(Math.max(0, hold.validity.deadline() - now));
        tell(l -> l.atRisk(hold.grant.claim().name(), hold.grant.token(), left));
    }

    private Duration since(long start) {
        return Duration.ofNanos(timer.now() - start);
    }

    private void tell(Consumer<KeeperListener> event) {
        if (listener == null) {
            return;
        }
        synchronized (backlog) {
            if (backlog.size() >= LONGEST_BACKLOG) {
                if (!dropping) {
                    dropping = true;
                    Log.warning("the listener is too slow: events are dropped", null);
                }
                return;
            }
            dropping = false;
            backlog.add(event);
            if (draining) {
                return;
            }
            draining = true;
        }
        try {
            run(this::drain);
        } catch (Throwable e) {
            synchronized (backlog) {
                draining = false; // the next event tries again
            }
            throw e;
        }
    }

    private void drain() {
        KeeperListener target = listener;
        if (target == null) {
            return;
        }
        for (; ; ) {
            Consumer<KeeperListener> event;
            synchronized (backlog) {
                event = backlog.poll();
                if (event == null) {
                    draining = false;
                    return;
                }
            }
            try {
                event.accept(target);
            } catch (Throwable e) {
                Log.warning("the listener failed", e);
            }
        }
    }

    /**
     * A lane has answered a step that began then. It is up again if no later step has failed, and if the answer shows that it is;
     * the store is up again when all its lanes are. An answer to what was asked before the failure shows nothing.
     *
     * @param showsUp whether this answer shows it; may ask the store
     */
    void storeAnswered(Lane lane, long begun, BooleanSupplier showsUp) {
        if (!lane.down) {
            return;
        }
        synchronized (downLanes) {
            Lane.Failure last = lane.failure;
            if (last != null && begun >= last.begun()) {
                lane.failure = null;
            }
        }
        if (mayBeUp(lane) && showsUp.getAsBoolean()) {
            synchronized (downLanes) {
                upAgain(lane);
            }
        }
    }

    /**
     * A lane has answered a claim. A store that cannot decide claims is down, also while it answers all else; so it is up again
     * only when it grants one.
     */
    void claimAnswered(Lane lane, Answer answer) {
        boolean isUndecided = Claims.isUndecided(answer);
        if (isUndecided == lane.undecided || !(isUndecided || answer instanceof Answer.Granted)) {
            return;
        }
        synchronized (downLanes) {
            lane.undecided = isUndecided;
            if (!isUndecided) {
                upAgain(lane);
            } else {
                String why = Printable.text(((Answer.Refused) answer).detail());
                down(lane, new StoreUnavailableException(why, null));
            }
        }
    }

    /** A lane has failed in a step that began then; the store is down from the first one on. */
    void storeFailed(Lane lane, StoreUnavailableException cause, long begun) {
        synchronized (downLanes) {
            lane.failure = new Lane.Failure(cause, begun);
            down(lane, cause);
        }
    }

    private void down(Lane lane, StoreUnavailableException cause) {
        lane.down = true;
        if (downLanes.add(lane) && downLanes.size() == 1) {
            if (listener == null) {
                log(() -> Log.warning("the store does not respond: " + cause.getMessage(), null));
            }
            tell(l -> l.storeDown(cause));
        }
    }

    private static boolean mayBeUp(Lane lane) {
        return lane.failure == null && !lane.undecided;
    }

    private void upAgain(Lane lane) {
        if (mayBeUp(lane) && downLanes.remove(lane)) {
            lane.down = false;
            if (downLanes.isEmpty()) {
                if (listener == null) {
                    log(() -> Log.info("the store responds again"));
                }
                tell(KeeperListener::storeUp);
            }
        }
    }

    /** Lets what is under way end, for a moment; a callback that blocks for longer is the user's. */
    void close() {
        if (user != null) {
            user.close();
        }
        long deadline = System.nanoTime() + CLOSE_NANOS;
        own.finish(deadline);
        callbacks.finish(deadline);
        losses.finish(deadline);
    }
}
