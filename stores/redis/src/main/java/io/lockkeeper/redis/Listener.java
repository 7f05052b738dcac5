// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis;

import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.redis.server.Failures;
import io.lockkeeper.redis.server.JedisVersion;
import io.lockkeeper.redis.server.Node;
import io.lockkeeper.redis.server.Servers;
import io.lockkeeper.spi.ClaimId;
import io.lockkeeper.spi.NameCodec;
import io.lockkeeper.spi.Signals;
import io.lockkeeper.spi.Subscription;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Connection;
import redis.clients.jedis.JedisPubSub;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisException;

/**
 * Receives what the scripts publish: one connection and one thread for all clients of a store object, a channel for
 * each. When the connection breaks, another one is made, to another server if need be, and the clients are notified
 * that they may have missed something. While there is no client there is neither thread nor connection.
 *
 * <p>A connection that is dead without having noticed, or that leads to a server which has left the Cluster or is no
 * longer the master, is detected by the waiters: their refreshes {@linkplain #probe() probe} it.
 */
final class Listener implements AutoCloseable {
    private static final long PAUSE = 100_000_000;
    private static final int BEGIN_MILLIS = 1_000;
    private static final long SILENCE = 3_000_000_000L;
    private static final long PATIENCE = 2_000_000_000L;

    /** What was denied may be allowed in the meantime. */
    private static final long BETWEEN_TRIALS = 5_000_000_000L;

    /** What cannot be read is taken for something missed; a flood of it must not become a flood of requests. */
    private static final long BETWEEN_QUESTIONS = 100_000_000;

    private static final System.Logger LOG = System.getLogger("io.lockkeeper.redis");

    private final Servers servers;
    private final Keys keys;

    /** Whether the user may subscribe and unsubscribe, as far as it has been tried. */
    private volatile boolean maySubscribe = true;

    private volatile boolean mayUnsubscribe = true;

    private final Map<String, Client> clients = new ConcurrentHashMap<>();
    private @Nullable Thread thread;
    private @Nullable ListenerConnection current;
    private volatile boolean closed;

    /** What has been logged: each message once, because it may recur. */
    private final Set<String> complaints = ConcurrentHashMap.newKeySet();

    /** A client that listens. */
    private static final class Client {
        final Signals signals;
        final CountDownLatch begun = new CountDownLatch(1);
        long asked = System.nanoTime() - BETWEEN_QUESTIONS;

        Client(Signals signals) {
            this.signals = signals;
        }
    }

    Listener(Servers servers, Keys keys) {
        this.servers = servers;
        this.keys = keys;
    }

    Subscription listen(String client, Signals signals) {
        String channel = keys.channel(client);
        Client entry = new Client(signals);
        synchronized (this) {
            if (thread == null) {
                Thread listening = new Thread(this::loop, "lockkeeper-redis-listen");
                listening.setDaemon(true);
                clients.put(channel, entry);
                try {
                    listening.start();
                    thread = listening;
                } finally {
                    if (thread == null) { // there are too many threads: the next attempt may succeed
                        clients.remove(channel, entry);
                    }
                }
            } else {
                clients.put(channel, entry);
                if (current != null) {
                    current.add(channel);
                } else {
                    LockSupport.unpark(thread);
                }
            }
        }
        awaitBegin(entry.begun);
        return () -> {
            synchronized (this) {
                if (clients.remove(channel, entry) && current != null) {
                    current.remove(channel);
                } else {
                    LockSupport.unpark(thread);
                }
            }
        };
    }

    /**
     * Waits until the client's channel is subscribed; not for long: it is notified later that it may have missed
     * something.
     */
    private static void awaitBegin(CountDownLatch begun) {
        boolean interrupted = Thread.interrupted();
        try {
            if (begun.await(BEGIN_MILLIS, TimeUnit.MILLISECONDS)) {
                return;
            }
        } catch (InterruptedException e) {
            interrupted = true;
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
        begun.countDown();
    }

    /** Whether the clients receive anything, as far as it has been tried, which {@link #listen} does. */
    boolean pushes() {
        return maySubscribe;
    }

    private void loop() {
        while (goesOn()) {
            Node node = null;
            try {
                node = servers.listening();
                new ListenerConnection(node, node.keep()).run();
                if (!maySubscribe && !closed) {
                    LockSupport.parkNanos(this, BETWEEN_TRIALS);
                }
            } catch (JedisException | StoreUnavailableException e) {
                failed(node); // the server is away; waiters refresh in the meantime
            } catch (Throwable e) { // whatever it is: without this thread no client would receive anything any more
                complain("The listener failed, and begins again", e);
                failed(node);
            }
        }
    }

    /** The user lacks a permission: another server would say the same, and there is nothing wrong with this one. */
    private void denied(String said) {
        if (said.contains("unsubscribe")) {
            mayUnsubscribe = false;
            warnOnce("UNSUBSCRIBE is denied to the user; a client that stops listening makes the others that share its"
                    + " connection connect again. Allow it with ACL SETUSER … +unsubscribe (docs/stores/redis.md): "
                    + said);
        } else {
            maySubscribe = false;
            warnOnce("SUBSCRIBE is denied to the user; waiters are not notified when it is their turn, and find out by"
                    + " asking. Allow it with ACL SETUSER … +subscribe +unsubscribe (docs/stores/redis.md): " + said);
            clients.values().forEach(client -> client.begun.countDown());
        }
    }

    private void warnOnce(String what) {
        if (complaints.add(what)) {
            LOG.log(System.Logger.Level.WARNING, what);
        }
    }

    private void failed(@Nullable Node node) {
        try {
            if (node != null) {
                servers.failed(node);
            }
        } catch (RuntimeException | Error e) {
            complain("No server could be found to listen to", e);
        }
        if (!closed) {
            LockSupport.parkNanos(this, PAUSE);
        }
    }

    private void complain(String what, Throwable e) {
        if (complaints.add(what)) {
            LOG.log(System.Logger.Level.WARNING, what, e);
        }
    }

    private synchronized boolean goesOn() {
        if (closed || clients.isEmpty()) {
            thread = null;
            return false;
        }
        return true;
    }

    /** Checks that the connection is alive, if it has been silent for long, and still leads to the right server. */
    void probe() {
        ListenerConnection connection;
        synchronized (this) {
            connection = current;
        }
        if (connection != null) {
            connection.probe(System.nanoTime());
        }
    }

    /** One connection, as long as it lasts. */
    private final class ListenerConnection extends JedisPubSub {
        private final Node node;
        private final Connection connection;
        private final Set<String> channels = new HashSet<>();
        private final Set<String> confirmed = new HashSet<>();
        private volatile long heard = System.nanoTime();
        private volatile long asked = heard;

        ListenerConnection(Node node, Connection connection) {
            this.node = node;
            this.connection = connection;
        }

        void run() {
            try {
                channels.addAll(clients.keySet());
                if (!channels.isEmpty()) {
                    proceed(connection, channels.toArray(String[]::new));
                }
            } catch (JedisDataException e) {
                if (!Failures.isDenied(Failures.said(e))) {
                    throw e;
                }
                denied(Failures.said(e));
            } finally {
                synchronized (Listener.this) {
                    current = null;
                }
                connection.setBroken(); // it cannot be used for anything else
                connection.close();
            }
        }

        /** To be called while holding the listener's monitor, as for {@link #remove}. */
        void add(String channel) {
            channels.add(channel);
            try {
                subscribe(channel);
            } catch (JedisException e) {
                cut();
            }
        }

        void remove(String channel) {
            channels.remove(channel);
            confirmed.remove(channel);
            try {
                if (mayUnsubscribe) {
                    unsubscribe(channel);
                } else {
                    cut();
                }
            } catch (JedisException e) {
                cut();
            }
        }

        /** Ends the thread's read. */
        void cut() {
            JedisVersion.cut(connection);
        }

        /** By repeating an existing subscription: a PING would need one more permission. */
        void probe(long now) {
            synchronized (Listener.this) {
                if (!servers.isHeardAt(node) || (asked - heard > 0 && now - asked > PATIENCE)) {
                    cut();
                } else if (now - heard > SILENCE && now - asked > SILENCE && !channels.isEmpty()) {
                    asked = now;
                    try {
                        subscribe(channels.iterator().next());
                    } catch (JedisException e) {
                        cut();
                    }
                }
            }
        }

        @Override
        public void onSubscribe(String channel, int count) {
            heard = System.nanoTime();
            Client client;
            synchronized (Listener.this) {
                if (!confirmed.add(channel)) {
                    return; // it was a probe
                }
                maySubscribe = true;
                if (current == null) {
                    current = this;
                    // Clients that were added while there was no connection.
                    clients.keySet().stream()
                            .filter(other -> !channels.contains(other))
                            .toList()
                            .forEach(this::add);
                }
                client = clients.get(channel);
                if (closed) {
                    cut();
                } else if (client == null) {
                    remove(channel);
                }
            }
            if (client != null && client.begun.getCount() == 0) {
                client.signals.missed(); // what was published while nobody listened
            } else if (client != null) {
                client.begun.countDown();
            }
        }

        @Override
        public void onMessage(String channel, String message) {
            heard = System.nanoTime();
            Client client = clients.get(channel);
            if (client == null) {
                return;
            }
            try {
                deliver(client.signals, message);
            } catch (RuntimeException | Error e) {
                complain("A message on " + channel + " could not be read; it is taken for one that was missed", e);
                askAgain(client);
            }
        }
    }

    private static void askAgain(Client client) {
        long now = System.nanoTime();
        if (now - client.asked >= BETWEEN_QUESTIONS) {
            client.asked = now;
            client.signals.missed();
        }
    }

    /** A message is a hint: any client that may publish could have sent it. */
    private static void deliver(Signals signals, String message) {
        if (message.startsWith("C ")) {
            signals.changed(ClaimId.parse(message.substring(2)));
        } else if (message.startsWith("O ")) {
            signals.opened(NameCodec.read(message.substring(2)).orElseThrow());
        } else {
            throw new IllegalArgumentException("it begins with neither C nor O");
        }
    }

    @Override
    public void close() {
        Thread ending;
        synchronized (this) {
            closed = true;
            ending = thread;
            if (current != null) {
                current.cut();
            }
        }
        if (ending != null) {
            LockSupport.unpark(ending);
        }
    }
}
