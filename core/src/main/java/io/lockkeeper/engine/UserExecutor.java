// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The executor that the user gave. It may refuse tasks, be shut down with tasks in its queue, or never run them; but a future
 * whose completion got lost would keep its lock forever. So each task is watched until it has begun: what the executor
 * refuses, drops, or leaves lying for too long is taken back and run on a thread of ours.
 */
final class UserExecutor {
    private static final long LOOK_EVERY = 100_000_000;

    /** Those who have lost a lock wait no longer than this for the executor. */
    private static final long SOON = 100_000_000;

    /** Others wait no longer than this; a thread of the executor may itself wait for the future that is to be completed. */
    private static final long LATE = 1_000_000_000;

    private final Executor given;
    private final Timer timer;
    private final Consumer<Runnable> own;
    private final Set<Handed> waiting = ConcurrentHashMap.newKeySet();
    private volatile boolean closed;
    private final AtomicBoolean watching = new AtomicBoolean();
    private final AtomicBoolean warned = new AtomicBoolean();

    /** A task that the executor was given. */
    private static final class Handed implements Runnable {
        private final AtomicBoolean begun = new AtomicBoolean();
        private final Runnable userCode;
        private final Runnable ifShutDown;
        private final long until;
        private final Set<Handed> waiting;

        Handed(Runnable userCode, Runnable ifShutDown, long until, Set<Handed> waiting) {
            this.userCode = userCode;
            this.ifShutDown = ifShutDown;
            this.until = until;
            this.waiting = waiting;
        }

        @Override
        public void run() {
            begin(userCode);
        }

        void begin(Runnable code) {
            if (begun.compareAndSet(false, true)) {
                waiting.remove(this);
                try {
                    code.run();
                } catch (Throwable e) {
                    Log.warning("a callback failed", e);
                }
            }
        }
    }

    /** An executor whose tasks are taken back to {@code own} threads. */
    UserExecutor(Executor given, Timer timer, Consumer<Runnable> own) {
        this.given = given;
        this.timer = timer;
        this.own = own;
    }

    private boolean isShutDown() {
        return given instanceof ExecutorService service && service.isShutdown();
    }

    /** Runs user code on the executor; {@code ifShutDown} on a thread of ours if that is shut down before it has begun. */
    void run(Runnable userCode, Runnable ifShutDown) {
        hand(new Handed(userCode, ifShutDown, timer.now() + LATE, waiting));
    }

    /** Runs user code on the executor if that begins soon, and on a thread of ours otherwise. */
    void runSoon(Runnable userCode) {
        hand(new Handed(userCode, userCode, timer.now() + SOON, waiting));
    }

    private void hand(Handed task) {
        waiting.add(task);
        if (closed) {
            task.begin(task.userCode); // nobody would look whether it has begun
            return;
        }
        watch(Math.min(task.until, timer.now() + LOOK_EVERY)); // before, because the executor may block us
        try {
            given.execute(task);
        } catch (Throwable e) {
            // What the user's code throws does not come here, even if the executor runs it on this thread.
            warn("the executor refuses callbacks", e);
            task.begin(isShutDown() ? task.ifShutDown : task.userCode);
        }
    }

    private void watch(long at) {
        if (watching.compareAndSet(false, true)) {
            timer.schedule(at, this::look);
        }
    }

    private void look() {
        watching.set(false);
        long now = timer.now();
        long next = Long.MAX_VALUE;
        for (Handed task : waiting) {
            if (isShutDown()) {
                takeBack(task, task.ifShutDown, "the executor was shut down with callbacks in its queue");
            } else if (now >= task.until) {
                takeBack(task, task.userCode, "the executor is too slow");
            } else {
                next = Math.min(next, Math.min(task.until, now + LOOK_EVERY));
            }
        }
        if (next != Long.MAX_VALUE) {
            watch(next);
        }
    }

    /** The keeper is being closed: nobody will look again, so all that has not begun is taken back. */
    void close() {
        closed = true;
        for (Handed task : waiting) {
            own.accept(() -> task.begin(isShutDown() ? task.ifShutDown : task.userCode));
        }
    }

    private void takeBack(Handed task, Runnable code, String why) {
        own.accept(
                () -> { // not on this thread, which is the timer's: a logger may block
                    warn(why, null);
                    task.begin(code);
                });
    }

    private void warn(String what, @Nullable Throwable e) {
        if (warned.compareAndSet(false, true)) {
            Log.warning(what + "; they run on the keeper's own threads", e);
        }
    }
}
