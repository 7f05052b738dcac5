// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import io.lockkeeper.spi.Ticker;
import java.util.PriorityQueue;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The one timer of a keeper: runs the {@link Renewer}'s passes and whatever else is due, on one daemon thread that begins
 * with the first need and stays until the keeper is closed. Tasks are quick: they never do I/O or run user code.
 */
final class Timer {
    /** The work of a pass; answers when it wants to run again. */
    interface Pass {
        long run(long now);
    }

    /** A task that is due at a time. */
    static final class Task implements Comparable<Task> {
        private final long at;
        private final Runnable action;
        private boolean cancelled; // guarded by the tasks

        private Task(long at, Runnable action) {
            this.at = at;
            this.action = action;
        }

        @Override
        public int compareTo(Task other) {
            return Long.compare(at, other.at);
        }
    }

    /** A few cancelled tasks may stay until they are due. */
    private static final int FEW = 64;

    private final Ticker ticker;
    private final Pass pass;
    private final Threads threads;
    private final PriorityQueue<Task> tasks = new PriorityQueue<>();
    private int cancelled; // guarded by the tasks
    private volatile @Nullable Thread thread;
    private volatile boolean stopped;

    /** When the thread will wake by itself; {@link Long#MAX_VALUE} also while it is awake, so that nobody is missed. */
    private volatile long wakesAt = Long.MAX_VALUE;

    /** When the next pass is due, and whether one was asked for before that. */
    private volatile long passAt = Long.MAX_VALUE;

    private volatile boolean passAsked;

    /** Whether a pass or a task was asked for since the last one began. The park permit alone would not do: a pass may use it up. */
    private volatile boolean asked;

    Timer(Ticker ticker, Pass pass, Threads threads) {
        this.ticker = ticker;
        this.pass = pass;
        this.threads = threads;
    }

    long now() {
        return ticker.nanos();
    }

    /** Runs {@code action} at about that time. */
    Task schedule(long at, Runnable action) {
        Task task = new Task(at, action);
        synchronized (tasks) {
            tasks.add(task);
        }
        wake(at);
        return task;
    }

    /** Takes a task back; many can be taken back in time that grows with their number alone. */
    void cancel(Task task) {
        synchronized (tasks) {
            if (!task.cancelled) {
                task.cancelled = true;
                cancelled++;
                if (cancelled > FEW && cancelled > tasks.size() / 2) {
                    tasks.removeIf(t -> t.cancelled);
                    cancelled = 0;
                }
            }
        }
    }

    /**
     * Makes sure that a pass runs by then. Call it after the cause of the pass can be seen.
     *
     * @throws OutOfMemoryError when the timer's thread is needed for the first time and cannot be started
     */
    void wakeBy(long at) {
        if (at < passAt) {
            passAsked = true;
        }
        wake(at);
    }

    private void wake(long at) {
        if (at < wakesAt) {
            ensureStarted();
            asked = true;
            LockSupport.unpark(thread);
        }
    }

    /**
     * Starts the thread if that has not been done; with it, nothing that is scheduled fails.
     *
     * @throws OutOfMemoryError when the machine has no thread left
     */
    void ensureStarted() {
        Thread running = thread;
        if (running == null || !running.isAlive()) {
            start();
        }
    }

    private synchronized void start() {
        Thread running = thread;
        if ((running == null || !running.isAlive()) && !stopped) {
            thread = threads.start("timer", this::loop); // if that fails, the next who needs it tries again
        }
    }

    /** Outlives anything: without it no loss would be reported. Should it end all the same, the next call that needs it starts another. */
    private void loop() {
        try {
            while (!stopped) {
                try {
                    runAndRest();
                } catch (Throwable e) {
                    passAsked = true;
                    logFailure(e);
                }
            }
        } finally {
            passAsked = true;
            wakesAt = Long.MAX_VALUE;
        }
    }

    private void runAndRest() {
        wakesAt = Long.MAX_VALUE;
        asked = false;
        long next;
        try {
            next = Math.min(runPass(), runDue());
        } catch (Throwable e) {
            logFailure(e);
            passAsked = true;
            next = ticker.nanos() + 100_000_000;
        }
        wakesAt = next;
        if (!asked && ticker.nanos() < next && !stopped) {
            ticker.parkUntil(next);
        }
    }

    private static void logFailure(Throwable e) {
        try {
            Log.error("a timer pass failed", e);
        } catch (Throwable again) {
            e.addSuppressed(again); // no memory, no stack: the next pass matters more than the log
        }
    }

    /** A pass looks at everything that is held, so it runs only when it is due or was asked for. */
    private long runPass() {
        long now = ticker.nanos();
        if (passAsked || now >= passAt) {
            passAt = Long.MAX_VALUE; // so that a request made while it runs is not missed
            passAsked = false;
            passAt = pass.run(now);
        }
        return passAsked ? 0 : passAt;
    }

    private long runDue() {
        for (; ; ) {
            Task task;
            synchronized (tasks) {
                task = tasks.peek();
                if (task == null) {
                    return Long.MAX_VALUE;
                }
                if (task.cancelled) {
                    tasks.poll();
                    cancelled = Math.max(0, cancelled - 1);
                    continue;
                }
                if (task.at > ticker.nanos()) {
                    return task.at;
                }
                tasks.poll();
                task.cancelled = true; // too late for that: it must not be counted
            }
            task.action.run();
        }
    }

    /** Ends the thread and waits until it has ended. */
    void close() {
        Thread running;
        synchronized (this) {
            stopped = true;
            running = thread;
        }
        if (running == null || running == Thread.currentThread()) {
            return;
        }
        LockSupport.unpark(running);
        boolean interrupted = false;
        while (running.isAlive()) {
            try {
                running.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
