// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.zookeeper;

import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.spi.Ticker;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.framework.state.ConnectionStateListener;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.jspecify.annotations.Nullable;

/** The session that is current, made when it is first needed and again after one has ended. */
final class Sessions implements AutoCloseable {
    private final CuratorFramework curator;
    private final Layout layout;
    private final List<ACL> acl;
    private final Ticker ticker;
    private final long operationTimeout;
    private final Consumer<Session> opened;
    private final BiConsumer<Session, String> ended;
    private final Runnable reconnected;
    private final ReentrantLock opening = new ReentrantLock();
    private final ConnectionStateListener listener = this::stateChanged;
    private volatile @Nullable Session current;
    private volatile boolean closed;

    /** No session is older than this; far in the past when that is not known. */
    private volatile long notBefore;

    Sessions(
            CuratorFramework curator,
            Layout layout,
            List<ACL> acl,
            Ticker ticker,
            long operationTimeout,
            long notBefore,
            Consumer<Session> opened,
            BiConsumer<Session, String> ended,
            Runnable reconnected) {
        this.curator = curator;
        this.layout = layout;
        this.acl = acl;
        this.ticker = ticker;
        this.operationTimeout = operationTimeout;
        this.notBefore = notBefore;
        this.opened = opened;
        this.ended = ended;
        this.reconnected = reconnected;
        curator.getConnectionStateListenable().addListener(listener);
    }

    /** The session if there is one. */
    @Nullable
    Session peek() {
        Session session = current;
        return session == null || session.isOver() ? null : session;
    }

    /** The session; connects if need be. */
    Session current() {
        Session session = current;
        if (session != null && !session.isOver()) {
            return session;
        }
        opening.lock();
        try {
            session = current;
            if (session != null && session.isOver()) {
                end(session, "the session has expired");
            }
            session = current;
            if (session == null) {
                session = open();
                current = session;
                opened.accept(session);
            }
            return session;
        } finally {
            opening.unlock();
        }
    }

    private Session open() {
        if (closed) {
            throw StoreUnavailableException.lasting("this store has been closed", null);
        }
        awaitConnection();
        ZooKeeper zk;
        try {
            zk = curator.getZookeeperClient().getZooKeeper();
        } catch (Exception e) {
            throw new StoreUnavailableException("ZooKeeper cannot be reached: " + e.getMessage(), e);
        }
        if (zk.getSessionId() == 0) {
            throw new StoreUnavailableException("ZooKeeper cannot be reached", null);
        }
        Session session = new Session(zk, layout, acl, ticker, operationTimeout, notBefore);
        session.open();
        return session;
    }

    private void awaitConnection() {
        boolean interrupted = Thread.interrupted();
        long deadline = ticker.nanos() + operationTimeout;
        try {
            for (; ; ) {
                try {
                    long left = TimeUnit.NANOSECONDS.toMillis(deadline - ticker.nanos());
                    if (!curator.blockUntilConnected((int) Math.max(1, left), TimeUnit.MILLISECONDS)) {
                        throw new StoreUnavailableException("ZooKeeper cannot be reached", null);
                    }
                    return;
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private void stateChanged(CuratorFramework client, ConnectionState state) {
        Session session = current;
        if (session == null) {
            return;
        }
        if (state == ConnectionState.LOST || session.isOver()) {
            end(session, "the session has expired");
        } else if (state == ConnectionState.RECONNECTED) {
            reconnected.run();
        }
    }

    /** Nothing that was made in it counts any more. */
    void end(Session session, String why) {
        session.end();
        opening.lock(); // whoever is told that all is lost has nothing in the next one yet
        try {
            if (current == session) {
                ended.accept(session, why);
                notBefore = session.lastContact(); // the next one began later than that
                current = null;
            }
        } finally {
            opening.unlock();
        }
    }

    @Override
    public void close() {
        closed = true;
        curator.getConnectionStateListenable().removeListener(listener);
    }
}
