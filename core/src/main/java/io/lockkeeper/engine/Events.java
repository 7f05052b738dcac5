// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import io.lockkeeper.KeeperListener;
import io.lockkeeper.StoreUnavailableException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.ArrayDeque;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Everything that runs user code: the listener, loss actions, the completion of futures. It runs on the user's executor
 * or on threads of its own, never on those that renew, so that a callback that blocks or throws harms no lock.
 */
final class Events {
    static final Logger LOG = System.getLogger("io.lockkeeper");

    /** So many callbacks may block before others have to wait for them. */
    private static final int THREADS = 32;

    private static final int LONGEST_BACKLOG = 10_000;

    private final @Nullable KeeperListener listener;
    private final @Nullable Executor given;
    private final ThreadPoolExecutor own;
    private final Set<Object> downLanes = ConcurrentHashMap.newKeySet();

    // The listener's events wait here so that they come in order, one at a time. Guarded by itself.
    private final ArrayDeque<Consumer<KeeperListener>> backlog = new ArrayDeque<>();
    private boolean draining;
    private boolean dropping;

    Events(@Nullable KeeperListener listener, @Nullable Executor given, String clientName) {
        this.listener = listener;
        this.given = given;
        this.own = new ThreadPoolExecutor(
                THREADS,
                THREADS,
                5,
                TimeUnit.SECONDS,
                new LinkedBlockingQueue<>(),
                Lanes.daemons(clientName, "callback"));
        own.allowCoreThreadTimeOut(true);
    }

    boolean hasListener() {
        return listener != null;
    }

    /** Has user code run, never on this thread: the user's executor may be a direct one. What it throws is logged. */
    void run(Runnable userCode) {
        Runnable guarded = () -> {
            try {
                if (given == null) {
                    userCode.run();
                } else {
                    runOnGiven(given, userCode);
                }
            } catch (RuntimeException | Error e) {
                LOG.log(Level.WARNING, "a callback failed", e);
            }
        };
        try {
            own.execute(guarded);
        } catch (RejectedExecutionException e) {
            Lanes.daemons("closed", "callback").newThread(guarded).start();
        }
    }

    /** A future whose completion got lost would keep its lock for ever: what the executor refuses is run here. */
    private static void runOnGiven(Executor given, Runnable userCode) {
        AtomicBoolean begun = new AtomicBoolean();
        try {
            given.execute(() -> {
                begun.set(true);
                userCode.run();
            });
        } catch (RejectedExecutionException e) {
            if (begun.get()) {
                throw e; // thrown by the user's code on a direct executor
            }
            LOG.log(Level.WARNING, "the executor refuses callbacks; they run on the keeper's own threads", e);
            userCode.run();
        }
    }

    void tell(Consumer<KeeperListener> event) {
        if (listener == null) {
            return;
        }
        synchronized (backlog) {
            if (backlog.size() >= LONGEST_BACKLOG) {
                if (!dropping) {
                    dropping = true;
                    LOG.log(Level.WARNING, "the listener is too slow: events are dropped");
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
        run(this::drain);
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
            } catch (RuntimeException | Error e) {
                LOG.log(Level.WARNING, "the listener failed", e);
            }
        }
    }

    /** A lane has answered; the store is up again when all that had failed have. */
    void storeAnswered(Object lane) {
        if (!downLanes.isEmpty() && downLanes.remove(lane) && downLanes.isEmpty()) {
            tell(KeeperListener::storeUp);
        }
    }

    /** A lane has failed; the store is down from the first one on. */
    void storeFailed(Object lane, StoreUnavailableException cause) {
        boolean wasUp = downLanes.isEmpty();
        if (downLanes.add(lane) && wasUp) {
            tell(l -> l.storeDown(cause));
        }
    }

    /** Lets what is under way end, for a moment; a callback that blocks for longer is the user's. */
    void close() {
        own.shutdown();
        try {
            own.awaitTermination(250, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
