// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.zookeeper;

import io.lockkeeper.StoreUnavailableException;
import java.lang.System.Logger.Level;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The one thread of a store: it looks when something that is waited for has changed, ends what nobody renews, and keeps the
 * session in touch with the leader, with one {@code sync} every third of the session.
 */
final class Worker implements Runnable, AutoCloseable {
    private static final System.Logger LOG = System.getLogger("io.lockkeeper.zookeeper");
    private static final long RETRY = 200_000_000;
    private static final long IDLE = 60_000_000_000L;

    private final Desk desk;
    private final Sessions sessions;
    private final Looking looking;
    private final Ending ending;
    private final Mail mail;
    private final LinkedBlockingQueue<Runnable> tasks = new LinkedBlockingQueue<>();
    private final Thread thread = new Thread(this, "lockkeeper-zookeeper");
    private volatile long nextWake = Long.MAX_VALUE;
    private volatile boolean closed;
    private long nextSync = Long.MIN_VALUE;

    Worker(Desk desk, Sessions sessions, Looking looking, Ending ending, Mail mail) {
        this.desk = desk;
        this.sessions = sessions;
        this.looking = looking;
        this.ending = ending;
        this.mail = mail;
        thread.setDaemon(true);
    }

    void start() {
        thread.start();
    }

    /** See {@link Watches.Listener}. */
    void look(Entry entry, @Nullable String deleted) {
        tasks.add(() -> {
            Session session = sessions.peek();
            if (session != null) {
                looking.wake(entry, session, deleted);
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
                long now = desk.ticker.nanos();
                nextWake = Long.MAX_VALUE; // whatever comes while we look is looked at, too
                long next = Math.min(expireDue(now), stayInTouch(now));
                nextWake = next;
                Runnable task = tasks.poll(Math.max(0, next - desk.ticker.nanos()), TimeUnit.NANOSECONDS);
                for (; task != null && !closed; task = tasks.poll()) {
                    task.run();
                    stayInTouch(desk.ticker.nanos());
                }
            } catch (InterruptedException e) {
                return; // closed
            } catch (StoreUnavailableException e) {
                // Whoever waits looks again by itself; what is overdue we try again.
                LOG.log(Level.DEBUG, "ZooKeeper did not answer", e);
            } catch (RuntimeException e) {
                LOG.log(Level.ERROR, "a look at the queue failed", e);
            }
        }
    }

    /** Ends what is overdue; answers when the next will be. */
    private long expireDue(long now) {
        long next = now + IDLE;
        for (Entry entry : desk.entries.values()) {
            if (entry.removedAt() <= now && !ending.expire(entry, sessions.peek())) {
                next = Math.min(next, desk.ticker.nanos() + RETRY);
            } else {
                next = Math.min(next, Math.max(entry.removedAt(), now + 1_000_000));
            }
        }
        return next;
    }

    private long stayInTouch(long now) {
        @Nullable Session session = sessions.peek();
        if (session == null) {
            return now + IDLE;
        }
        long due = session.signOfLifeDue();
        if (due > now) {
            return due;
        }
        if (now >= nextSync) {
            session.sync();
            nextSync = now + session.timeout / 12; // if this one is not answered
        }
        return nextSync;
    }

    @Override
    public void close() {
        closed = true;
        thread.interrupt();
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
