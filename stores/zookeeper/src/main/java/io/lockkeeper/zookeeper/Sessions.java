// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.zookeeper;

import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.spi.Ticker;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.imps.CuratorFrameworkState;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.framework.state.ConnectionStateListener;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.jspecify.annotations.Nullable;

/**
 * The session that is current, opened when it is first needed and again after one has ended. One thread does all that
 * concerns it: it opens it, gives its signs of life, and ends it. Callers that need a session wait for that thread's
 * one search, each for as long as its own step may take. What Curator reports about the connection is only a hint to
 * check: such an event may be late, and about an earlier session.
 */
final class Sessions implements AutoCloseable {
    /** How long one look for a connection takes, and the pause after a failed sign of life. */
    private static final long SLICE_MILLIS = 100;

    private static final long IDLE_MILLIS = 60_000;

    private final CuratorFramework curator;
    private final Layout layout;
    private final List<ACL> acl;
    private final Ticker ticker;
    private final long operationTimeout;
    private final Events events;
    private final ConnectionStateListener listener = this::stateChanged;
    private final Thread thread;
    private final AtomicInteger waiting = new AtomicInteger();
    private final Semaphore wakes = new Semaphore(0);
    private volatile @Nullable Session current;
    private volatile @Nullable Session opening;
    private volatile boolean closed;

    /** What callers that need a session wait for; guarded by this. */
    private @Nullable CompletableFuture<Session> search;

    /** No session is older than this; far in the past when that is not known. Used by our thread alone. */
    private long notBefore;

    /**
     * Events of sessions, reported on the thread that keeps them: one session's end before the next one's beginning.
     *
     * @param changed see {@link Watches.Listener}
     * @param opened there is a new session, which is current
     * @param ended nothing that was made in the session counts any more, and why
     * @param reconnected events may have been missed
     */
    record Events(
            Watches.Listener changed,
            Consumer<Session> opened,
            BiConsumer<Session, String> ended,
            Runnable reconnected) {}

    Sessions(
            CuratorFramework curator,
            Layout layout,
            List<ACL> acl,
            Ticker ticker,
            long operationTimeout,
            long notBefore,
            Events events,
            ThreadFactory threads) {
        this.curator = curator;
        this.layout = layout;
        this.acl = acl;
        this.ticker = ticker;
        this.operationTimeout = operationTimeout;
        this.notBefore = notBefore;
        this.events = events;
        thread = threads.newThread(this::run);
        thread.setName("lockkeeper-zookeeper-session");
        thread.setDaemon(true);
    }

    void start() {
        curator.getConnectionStateListenable().addListener(listener);
        thread.start();
    }

    /** The session if there is one. */
    @Nullable
    Session peek() {
        Session session = current;
        return session == null || session.isOver() ? null : session;
    }

    /** The session; waits for a connection if need be, for as long as a step may take. */
    Session current() {
        Session session = peek();
        if (session != null) {
            return session;
        }
        waiting.incrementAndGet();
        boolean interrupted = Thread.interrupted();
        long deadline = ticker.nanos() + operationTimeout;
        try {
            CompletableFuture<Session> shared = search();
            for (; ; ) {
                try {
                    return shared.get(deadline - ticker.nanos(), TimeUnit.NANOSECONDS);
                } catch (InterruptedException e) {
                    interrupted = true;
                } catch (TimeoutException e) {
                    throw unreachable("", e);
                } catch (ExecutionException e) {
                    throw e.getCause() instanceof StoreUnavailableException cause
                            ? cause
                            : unreachable(": " + e.getCause(), e);
                }
            }
        } finally {
            waiting.decrementAndGet();
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private synchronized CompletableFuture<Session> search() {
        if (closed) {
            throw hasBeenClosed();
        }
        Session session = peek();
        if (session != null) { // it was opened just now
            return CompletableFuture.completedFuture(session);
        }
        CompletableFuture<Session> shared = search;
        if (shared == null) {
            shared = new CompletableFuture<>();
            search = shared;
        }
        wake();
        return shared;
    }

    private StoreUnavailableException unreachable(String why, @Nullable Throwable cause) {
        String servers = curator.getZookeeperClient().getCurrentConnectionString();
        return new StoreUnavailableException("ZooKeeper at " + servers + " cannot be reached" + why, cause);
    }

    private static StoreUnavailableException hasBeenClosed() {
        return StoreUnavailableException.lasting("this store has been closed", null);
    }

    private void wake() {
        wakes.release();
    }

    private void stateChanged(CuratorFramework client, ConnectionState state) {
        Session session = current;
        if (session == null) {
            return;
        }
        if (session.isOver()) {
            wake();
        } else if (state == ConnectionState.RECONNECTED || state == ConnectionState.LOST) {
            events.reconnected.run(); // a session that was lost is an earlier one: this one lives
        }
    }

    // ---- On our own thread ----

    private void run() {
        while (!closed) {
            try {
                rest(stepOrPause());
            } catch (InterruptedException e) {
                // closed
            }
        }
    }

    private long stepOrPause() throws InterruptedException {
        try {
            return step();
        } catch (InterruptedException e) {
            throw e;
        } catch (Throwable e) { // whatever it is: without this thread the session would end, and no other begin
            Failures.log("the session could not be looked after", e);
            return SLICE_MILLIS;
        }
    }

    private void rest(long millis) throws InterruptedException {
        if (wakes.tryAcquire(millis, TimeUnit.MILLISECONDS)) {
            wakes.drainPermits();
        }
    }

    /** Does what is due; answers for how many ms there is nothing to do. */
    private long step() throws InterruptedException {
        Session session = current;
        if (session != null && session.isOver()) {
            end(session);
            session = null;
        }
        if (session == null) {
            CompletableFuture<Session> wanted;
            synchronized (this) {
                wanted = search;
            }
            if (wanted != null) {
                open(wanted);
            }
            return current != null ? 0 : wanted != null ? SLICE_MILLIS / 10 : IDLE_MILLIS;
        }
        long due = session.signOfLifeDue() - ticker.nanos();
        if (due > 0) {
            return TimeUnit.NANOSECONDS.toMillis(due) + 1;
        }
        long before = session.lastContact();
        session.giveSignOfLife();
        return session.isOver() || session.lastContact() > before
                ? 0
                : Math.min(SLICE_MILLIS, TimeUnit.NANOSECONDS.toMillis(session.timeout) / 50);
    }

    private void end(Session session) {
        boolean isAlive = session.zk.getState().isAlive();
        String why = isClientClosed()
                ? "the CuratorFramework has been closed"
                : isAlive ? "nodes of the session were deleted" : "the session has expired";
        notBefore = isAlive ? notBefore : session.lastContact(); // the next one begins later than that
        events.ended.accept(session, why);
        current = null;
    }

    /** It is said to be closed before it ends its session, so that nothing rests on a session that the server is ending. */
    private boolean isClientClosed() {
        return curator.getState() == CuratorFrameworkState.STOPPED;
    }

    private void open(CompletableFuture<Session> wanted) throws InterruptedException {
        try {
            if (isClientClosed()) {
                throw StoreUnavailableException.lasting("the CuratorFramework has been closed", null);
            }
            if (!curator.blockUntilConnected((int) SLICE_MILLIS, TimeUnit.MILLISECONDS)) {
                if (waiting.get() > 0 && !closed) {
                    return; // each caller has its own deadline
                }
                throw unreachable("", null);
            }
            ZooKeeper zk = curator.getZookeeperClient().getZooKeeper();
            if (zk.getSessionId() == 0) {
                throw unreachable("", null);
            }
            Session session = new Session(
                    zk, layout, acl, ticker, operationTimeout, notBefore, this::isClientClosed, events.changed);
            opening = session;
            session.open();
            current = session; // first, because those that are notified look for it here
            events.opened.accept(session);
            found(wanted);
            wanted.complete(session);
        } catch (InterruptedException e) {
            throw e;
        } catch (StoreUnavailableException e) {
            found(wanted);
            wanted.completeExceptionally(e);
        } catch (Exception e) {
            found(wanted);
            wanted.completeExceptionally(unreachable(": " + e.getMessage(), e));
        } finally {
            opening = null;
        }
    }

    private synchronized void found(CompletableFuture<Session> wanted) {
        if (search == wanted) {
            search = null;
        }
    }

    @Override
    public void close() {
        CompletableFuture<Session> wanted;
        synchronized (this) {
            closed = true;
            wanted = search;
        }
        curator.getConnectionStateListenable().removeListener(listener);
        if (wanted != null) {
            wanted.completeExceptionally(hasBeenClosed());
        }
        Session session = opening != null ? opening : current;
        if (session != null) {
            session.close();
        }
        thread.interrupt();
        Worker.join(thread);
    }
}
