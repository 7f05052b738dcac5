// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import io.lockkeeper.spi.Ticker;
import java.lang.System.Logger.Level;
import java.util.PriorityQueue;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The one timer of a keeper: runs the {@link Renewer}'s passes and whatever else is due, on one daemon thread that begins
 * with the first need. Tasks are quick: they never do I/O or run user code.
 */
final class Timer {
    /** The work of a pass; answers when it wants to run again. */
    interface Pass {
        long run(long now);
    }

    /** A task that is due at a time. */
    record Task(long at, Runnable action) implements Comparable<Task> {

        @Override
        public int compareTo(Task other) {
            return Long.compare(at, other.at);
        }
    }

    private final Ticker ticker;
    private final Pass pass;
    private final String clientName;
    private final PriorityQueue<Task> tasks = new PriorityQueue<>();
    private volatile @Nullable Thread thread;
    private volatile boolean stopped;

    /** When the thread will wake by itself; {@link Long#MAX_VALUE} also while it is awake, so that nobody is missed. */
    private volatile long wakesAt = Long.MAX_VALUE;

    /** Whether a pass was asked for since the last one began. The park permit alone would not do: a pass may use it up. */
    private volatile boolean asked;

    Timer(Ticker ticker, Pass pass, String clientName) {
        this.ticker = ticker;
        this.pass = pass;
        this.clientName = clientName;
    }

    /** Runs {@code action} at about that time. */
    Task schedule(long at, Runnable action) {
        Task task = new Task(at, action);
        synchronized (tasks) {
            tasks.add(task);
        }
        wakeBy(at);
        return task;
    }

    void cancel(Task task) {
        synchronized (tasks) {
            tasks.remove(task);
        }
    }

    /** Makes sure that a pass runs by then. Call it after the cause of the pass can be seen. */
    void wakeBy(long at) {
        if (at < wakesAt) {
            Thread running = thread;
            if (running == null) {
                running = start();
            }
            asked = true;
            LockSupport.unpark(running);
        }
    }

    private synchronized @Nullable Thread start() {
        if (thread == null && !stopped) {
            Thread created = Lanes.daemons(clientName, "timer").newThread(this::loop);
            created.start(); // if that fails, the next who needs it tries again
            thread = created;
        }
        return thread;
    }

    private void loop() {
        while (!stopped) {
            wakesAt = Long.MAX_VALUE;
            asked = false;
            long next;
            try {
                next = Math.min(pass.run(ticker.nanos()), runDue());
            } catch (RuntimeException | Error e) {
                // The timer must outlive anything: without it no loss would be told.
                Events.LOG.log(Level.ERROR, "a timer pass failed", e);
                next = ticker.nanos() + 100_000_000;
            }
            wakesAt = next;
            if (!asked && ticker.nanos() < next && !stopped) {
                ticker.parkUntil(next);
            }
        }
    }

    private long runDue() {
        for (; ; ) {
            Task task;
            synchronized (tasks) {
                task = tasks.peek();
                if (task == null) {
                    return Long.MAX_VALUE;
                }
                if (task.at > ticker.nanos()) {
                    return task.at;
                }
                tasks.poll();
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
