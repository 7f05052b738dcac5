// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.zookeeper;

import io.lockkeeper.StoreUnavailableException;
import java.lang.System.Logger.Level;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;

/** The thread that looks when something has changed that is waited for, and ends what nobody renews. */
final class Worker implements Runnable, AutoCloseable {
    private static final System.Logger LOG = System.getLogger("io.lockkeeper.zookeeper");
    private static final long RETRY = 200_000_000;
    private static final long IDLE = 60_000_000_000L;

    private final Desk desk;
    private final Sessions sessions;
    private final Looking looking;
    private final Ending ending;
    private final Mail mail;
    private final Latches latches;
    private final LinkedBlockingQueue<Runnable> tasks = new LinkedBlockingQueue<>();
    private final Thread thread;
    private volatile long nextWake = Long.MAX_VALUE;
    private volatile boolean closed;

    Worker(
            Desk desk,
            Sessions sessions,
            Looking looking,
            Ending ending,
            Mail mail,
            Latches latches,
            ThreadFactory threads) {
        this.desk = desk;
        this.sessions = sessions;
        this.looking = looking;
        this.ending = ending;
        this.mail = mail;
        this.latches = latches;
        thread = threads.newThread(this);
        thread.setName("lockkeeper-zookeeper");
        thread.setDaemon(true);
    }

    void start() {
        thread.start();
    }

    /** See {@link Watches.Listener}. */
    void look(Entry entry, Watches.Change change) {
        tasks.add(() -> {
            Session session = sessions.peek();
            if (session != null) {
                looking.wake(entry, session, change);
            }
        });
    }

    void readMail() {
        tasks.add(() -> {
            Session session = sessions.peek();
            if (session != null) {
                mail.readIfDue(session);
            }
        });
    }

    /** Something is to be done at this time, or before. */
    void wakeBy(long at) {
        if (at < nextWake) {
            tasks.add(() -> {});
        }
    }

    @Override
    public void run() {
        while (!closed) {
            try {
                pass();
            } catch (InterruptedException e) {
                return; // closed
            } catch (Throwable e) { // whatever it is: without this thread nobody would be woken or removed any more
                Failures.log("a look at the queue failed", e);
            }
        }
    }

    private void pass() throws InterruptedException {
        try {
            long now = desk.ticker.nanos();
            nextWake = Long.MAX_VALUE; // whatever comes while we look is looked at, too
            long next = Math.min(expireDue(now), latches.unwatchDue(now, sessions.peek()));
            nextWake = next;
            Runnable task = tasks.poll(Math.max(0, next - desk.ticker.nanos()), TimeUnit.NANOSECONDS);
            for (; task != null && !closed; task = tasks.poll()) {
                task.run();
            }
        } catch (StoreUnavailableException e) {
            // Whoever waits looks again by itself; what is overdue we try again.
            LOG.log(Level.DEBUG, "ZooKeeper did not answer", e);
        }
    }

    /** Ends what is overdue; answers when the next will be. */
    private long expireDue(long now) {
        long next = now + IDLE;
        for (Entry entry : desk.entries.values()) {
            if (entry.removedAt() <= now && !expire(entry)) {
                next = Math.min(next, desk.ticker.nanos() + RETRY);
            } else {
                next = Math.min(next, Math.max(entry.removedAt(), now + 1_000_000));
            }
        }
        return next;
    }

    /** What goes wrong with one is in the way of no other. */
    private boolean expire(Entry entry) {
        try {
            return ending.expire(entry, sessions.peek());
        } catch (Throwable e) {
            Failures.log("a claim that was overdue could not be ended", e);
            return false;
        }
    }

    @Override
    public void close() {
        closed = true;
        thread.interrupt();
        join(thread);
    }

    /** Waits for the end of a thread that has been told to end; keeps the interrupt flag. */
    static void join(Thread thread) {
        boolean interrupted = Thread.interrupted();
        try {
            thread.join(5_000);
        } catch (InterruptedException e) {
            interrupted = true;
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
