// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A few threads for tasks that must not run on the caller's own. Every task that was accepted is run, or, when this is
 * closed first, {@link Task#abort() aborted}: nobody waits for a task that was dropped.
 *
 * <p>Threads begin when they are needed and end after a while without work. A thread that cannot be started, because the
 * process has too many, is tried again until it can: tasks wait meanwhile. Tasks that stand in line because all threads are
 * blocked by user code get additional threads, if that was asked for.
 */
final class Workers {
    /** A task that somebody waits for. */
    interface Task extends Runnable {
        /** It will not be run, or its end is no longer awaited. */
        void abort();
    }

    private static final long IDLE = 5_000_000_000L;

    /** How long a task waits for a blocked thread before another is started, and for a thread that could not be started. */
    private static final long STALLED = 50_000_000;

    private static final int MOST_AT_THE_END = 64;

    private final String what;
    private final Threads threads;
    private final Timer timer;
    private final int most;
    private final boolean grows;
    private final BooleanSupplier isNeeded;

    // Guarded by this.
    private final ArrayDeque<Runnable> tasks = new ArrayDeque<>(2);
    private final List<Task> running = new ArrayList<>(2);
    private final List<Thread> alive = new ArrayList<>(2);
    private int idle;
    private int extra;
    private long taken;
    private long takenBefore;
    private boolean watched;
    private boolean closed;

    private volatile boolean hasThread;

    /**
     * At most {@code most} threads.
     *
     * @param isNeeded whether one thread stays though there is nothing to do
     */
    Workers(String what, Threads threads, Timer timer, int most, BooleanSupplier isNeeded) {
        this(what, threads, timer, most, false, isNeeded);
    }

    private Workers(String what, Threads threads, Timer timer, int most, boolean grows, BooleanSupplier isNeeded) {
        this.what = what;
        this.threads = threads;
        this.timer = timer;
        this.most = most;
        this.grows = grows;
        this.isNeeded = isNeeded;
    }

    /** Threads for user code, which may block: more than {@code usually} as long as tasks wait for blocked ones. */
    static Workers growing(String what, Threads threads, Timer timer, int usually, BooleanSupplier isNeeded) {
        return new Workers(what, threads, timer, usually, true, isNeeded);
    }

    /**
     * Has a task run.
     *
     * @return false when this is closed; then the task is not run
     * @throws OutOfMemoryError when no thread can be started, now or later
     */
    synchronized boolean execute(Runnable task) {
        if (closed) {
            return false;
        }
        tasks.addLast(task);
        if (idle >= tasks.size()) {
            notify();
        } else if (alive.size() >= most + extra ? grows : !startOne()) {
            watch(task);
        }
        return true;
    }

    /** Makes sure that a thread is there before it is needed; it is no failure when that is not possible now. */
    void prepare() {
        if (!hasThread) {
            synchronized (this) {
                if (alive.isEmpty() && !closed) {
                    startOne();
                }
            }
        }
    }

    /** False when the machine has no thread for us. */
    private boolean startOne() {
        try {
            alive.add(threads.start(what, this::work));
            hasThread = true;
            return true;
        } catch (OutOfMemoryError e) {
            return false;
        }
    }

    /** Looks again soon whether the tasks have got a thread. */
    private void watch(Runnable task) {
        if (!watched) {
            try {
                watched = true;
                takenBefore = taken;
                timer.schedule(timer.now() + STALLED, this::look);
            } catch (RuntimeException | Error e) {
                watched = false;
                tasks.removeLastOccurrence(task);
                throw e;
            }
        }
    }

    private synchronized void look() {
        watched = false;
        if (tasks.isEmpty() || (closed && !alive.isEmpty())) {
            return;
        }
        if (alive.size() < most + extra && idle < tasks.size()) {
            startOne();
        } else if (grows && taken == takenBefore) {
            // Nobody has taken a task for that long: all are blocked. Twice as many may do.
            for (int i = Math.min(tasks.size(), alive.size()); i > 0 && startOne(); i--) {
                extra++;
            }
        }
        watch(tasks.getLast());
    }

    private void work() {
        Runnable task = null;
        boolean hasEnded = false;
        try {
            do {
                task = next(task);
                if (task != null) {
                    run(task);
                }
            } while (task != null);
            hasEnded = true;
        } finally {
            if (!hasEnded) {
                died(task);
            }
        }
    }

    private static void run(Runnable task) {
        try {
            task.run();
        } catch (Throwable e) {
            Log.error("a task failed", e);
        } finally {
            Thread.interrupted(); // what was meant for this task does not concern the next
        }
    }

    /** This thread ends because of something that nobody could handle, such as a lack of memory: another takes its place. */
    private synchronized void died(@Nullable Runnable task) {
        if (task instanceof Task begun) {
            running.remove(begun);
        }
        alive.remove(Thread.currentThread());
        hasThread = !alive.isEmpty();
        notifyAll();
        if (!tasks.isEmpty() && !startOne()) {
            watch(tasks.getLast());
        }
    }

    /** The next task for this thread; null when the thread is to end. */
    private synchronized @Nullable Runnable next(@Nullable Runnable done) {
        if (done instanceof Task ended) {
            running.remove(ended);
        }
        boolean isExtra = extra > 0 && alive.size() > most;
        long until = System.nanoTime() + IDLE;
        while (tasks.isEmpty()) {
            long left = until - System.nanoTime();
            if (closed || isExtra || (left <= 0 && !(alive.size() == 1 && isNeeded.getAsBoolean()))) {
                alive.remove(Thread.currentThread());
                hasThread = !alive.isEmpty();
                extra -= isExtra ? 1 : 0;
                notifyAll();
                return null;
            }
            until = left <= 0 ? System.nanoTime() + IDLE : until;
            idle++;
            try {
                wait(Math.max(1, left / 1_000_000));
            } catch (InterruptedException e) {
                // Nobody has a reason to interrupt it but close(), which is looked at.
            } finally {
                idle--;
            }
        }
        Runnable task = tasks.removeFirst();
        taken++;
        if (task instanceof Task begun) {
            running.add(begun);
        }
        return task;
    }

    /** Waits until all threads have ended, by {@code deadline} of {@link System#nanoTime}; what is not done then is aborted. */
    void close(long deadline) {
        List<Task> unfinished = new ArrayList<>();
        awaitEnd(deadline);
        synchronized (this) {
            alive.forEach(Thread::interrupt);
            unfinished.addAll(running);
            tasks.forEach(task -> {
                if (task instanceof Task waiting) {
                    unfinished.add(waiting);
                }
            });
            tasks.clear();
        }
        unfinished.forEach(Task::abort);
    }

    /**
     * The same for threads that run callbacks: what they block on is not ours to interrupt, and nothing is dropped. The threads,
     * and a few more if all are blocked, end when everything has run.
     */
    void finish(long deadline) {
        awaitEnd(deadline);
        synchronized (this) {
            for (int i = Math.min(tasks.size(), MOST_AT_THE_END); i > 0 && startOne(); i--) {
                extra++;
            }
        }
    }

    private void awaitEnd(long deadline) {
        boolean interrupted = Thread.interrupted();
        synchronized (this) {
            closed = true;
            notifyAll();
            alive.remove(Thread.currentThread()); // who closes from within a task does not wait for itself
            long left = deadline - System.nanoTime();
            while (!alive.isEmpty() && left > 0) {
                try {
                    wait(Math.max(1, left / 1_000_000));
                } catch (InterruptedException e) {
                    interrupted = true;
                }
                left = deadline - System.nanoTime();
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
