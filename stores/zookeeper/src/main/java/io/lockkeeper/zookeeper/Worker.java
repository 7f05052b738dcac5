// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.zookeeper;

import io.lockkeeper.StoreUnavailableException;
import java.lang.System.Logger.Level;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;

/** The thread that checks claims when a node that they wait for has changed, and ends what nobody renews. */
final class Worker implements Runnable, AutoCloseable {
    private static final System.Logger LOG = System.getLogger("io.lockkeeper.zookeeper");
    private static final long RETRY = 200_000_000;
    private static final long IDLE = 60_000_000_000L;

    private final ClientState clientState;
    private final Sessions sessions;
    private final TurnCheck turnCheck;
    private final ClaimRemoval claimRemoval;
    private final SessionMailbox mailbox;
    private final Latches latches;
    private final LinkedBlockingQueue<Runnable> tasks = new LinkedBlockingQueue<>();
    private final Thread thread;
    private volatile long nextWake = Long.MAX_VALUE;
    private volatile boolean closed;

    Worker(
            ClientState clientState,
            Sessions sessions,
            TurnCheck turnCheck,
            ClaimRemoval claimRemoval,
            SessionMailbox mailbox,
            Latches latches,
            ThreadFactory threads) {
        this.clientState = clientState;
        this.sessions = sessions;
        this.turnCheck = turnCheck;
        this.claimRemoval = claimRemoval;
        this.mailbox = mailbox;
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
                turnCheck.wake(entry, session, change);
            }
        });
    }

    void readMail() {
        tasks.add(() -> {}); // each pass reads it
    }

    private void readMailIfDue() {
        Session session = mailbox.isDue() ? sessions.peek() : null;
        if (session == null) {
            return;
        }
        try {
            mailbox.readIfDue(session);
        } catch (StoreUnavailableException e) {
            LOG.log(Level.DEBUG, "the mailbox could not be read", e); // the next pass tries again
        }
    }

    /** Wakes this thread at this time, or before. */
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
            } catch (Throwable e) { // whatever it is: without this thread no waiter would be woken and no claim removed
                // any more
                Failures.log("a look at the queue failed", e);
            }
        }
    }

    private void pass() throws InterruptedException {
        try {
            long now = clientState.ticker.nanos();
            nextWake = Long.MAX_VALUE; // whatever arrives during this pass is handled, too
            long next = Math.min(expireDue(now), latches.unwatchDue(now, sessions.peek()));
            if (mailbox.isDue()) {
                next = Math.min(next, now + RETRY); // it could not be read
            }
            nextWake = next;
            Runnable task = tasks.poll(Math.max(0, next - clientState.ticker.nanos()), TimeUnit.NANOSECONDS);
            readMailIfDue();
            for (; task != null && !closed; task = tasks.poll()) {
                task.run();
            }
        } catch (StoreUnavailableException e) {
            // Waiters check again by themselves; what is overdue we try again.
            LOG.log(Level.DEBUG, "ZooKeeper did not answer", e);
        }
    }

    /** Ends what is overdue; answers when the next will be. */
    private long expireDue(long now) {
        long next = now + IDLE;
        for (Entry entry : clientState.entries.values()) {
            if (entry.removedAt() <= now && !expire(entry)) {
                next = Math.min(next, clientState.ticker.nanos() + RETRY);
            } else {
                next = Math.min(next, Math.max(entry.removedAt(), now + 1_000_000));
            }
        }
        return next;
    }

    /** A failure of one does not affect the others. */
    private boolean expire(Entry entry) {
        try {
            return claimRemoval.expire(entry, sessions.peek());
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

    /** Waits for the end of a thread that was asked to end; keeps the interrupt flag. */
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
