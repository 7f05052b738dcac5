// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis;

import io.lockkeeper.LeaseLost;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.spi.ClaimId;
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
import redis.clients.jedis.exceptions.JedisException;

/**
 * Hears what the scripts publish: one connection and one thread for all clients of a store object, a channel for each. When the
 * connection breaks, another one is made, to another server if need be, and the clients are told that they may have missed
 * something. While there is no client there is neither thread nor connection.
 *
 * <p>A connection that is dead without having been told so is found by those who wait: their refreshes {@linkplain #probe()
 * probe} it.
 */
final class Listener implements AutoCloseable {
    private static final long PAUSE = 100_000_000;
    private static final int BEGIN_MILLIS = 1_000;
    private static final long SILENCE = 3_000_000_000L;
    private static final long PATIENCE = 2_000_000_000L;

    private final Servers servers;
    private final Keys keys;
    private final long incarnation;
    private final boolean believesGrants;
    private final Map<String, Client> clients = new ConcurrentHashMap<>();
    private @Nullable Thread thread;
    private @Nullable Hearing current;
    private volatile boolean closed;

    private record Client(Signals signals, CountDownLatch begun) {}

    /** @param believesGrants false when a grant is to be looked at again before it is believed */
    Listener(Servers servers, Keys keys, long incarnation, boolean believesGrants) {
        this.servers = servers;
        this.keys = keys;
        this.incarnation = incarnation;
        this.believesGrants = believesGrants;
    }

    Subscription listen(String client, Signals signals) {
        String channel = keys.channel(client);
        Client entry = new Client(signals, new CountDownLatch(1));
        synchronized (this) {
            clients.put(channel, entry);
            if (thread == null) {
                thread = new Thread(this::loop, "lockkeeper-redis-listen");
                thread.setDaemon(true);
                thread.start();
            } else if (current != null) {
                current.add(channel);
            }
        }
        awaitBegin(entry.begun);
        return () -> {
            synchronized (this) {
                if (clients.remove(channel, entry) && current != null) {
                    current.remove(channel);
                }
            }
        };
    }

    /** Waits until the client is being listened for; not for long: it is told later that it may have missed something. */
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

    private void loop() {
        while (goesOn()) {
            Node node = null;
            try {
                node = servers.listening();
                new Hearing(node.keep()).run();
            } catch (JedisException | StoreUnavailableException e) {
                if (node != null) {
                    servers.failed(node);
                }
                if (!closed) {
                    LockSupport.parkNanos(this, PAUSE); // the server is away; those who wait refresh meanwhile
                }
            }
        }
    }

    private synchronized boolean goesOn() {
        if (closed || clients.isEmpty()) {
            thread = null;
            return false;
        }
        return true;
    }

    /** Looks whether the connection is alive, if it has been silent for long. */
    void probe() {
        Hearing hearing;
        synchronized (this) {
            hearing = current;
        }
        if (hearing != null) {
            hearing.probe(System.nanoTime());
        }
    }

    /** One connection, as long as it lasts. */
    private final class Hearing extends JedisPubSub {
        private final Connection connection;
        private final Set<String> channels = new HashSet<>();
        private volatile long heard = System.nanoTime();
        private volatile long asked = heard;

        Hearing(Connection connection) {
            this.connection = connection;
        }

        void run() {
            try {
                channels.addAll(clients.keySet());
                if (!channels.isEmpty()) {
                    proceed(connection, channels.toArray(String[]::new));
                }
            } finally {
                synchronized (Listener.this) {
                    current = null;
                }
                connection.setBroken(); // it is of no use for anything else
                connection.close();
            }
        }

        /** For the one that holds the listener's monitor, as for {@link #remove}. */
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
            try {
                unsubscribe(channel);
            } catch (JedisException e) {
                cut();
            }
        }

        /** Ends the thread's read. */
        void cut() {
            try {
                connection.forceDisconnect();
            } catch (java.io.IOException e) {
                // It is gone.
            }
        }

        void probe(long now) {
            synchronized (Listener.this) {
                if (asked - heard > 0 && now - asked > PATIENCE) {
                    cut();
                } else if (now - heard > SILENCE && now - asked > SILENCE) {
                    asked = now;
                    try {
                        ping();
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
                if (current == null) {
                    current = this;
                    // Those that came while there was nobody to tell.
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
                client.signals.missed(); // what was told while nobody listened
            } else if (client != null) {
                client.begun.countDown();
            }
        }

        @Override
        public void onPong(String pattern) {
            heard = System.nanoTime();
        }

        @Override
        public void onMessage(String channel, String message) {
            heard = System.nanoTime();
            Client client = clients.get(channel);
            if (client != null) {
                deliver(client.signals, message.split(" "));
            }
        }
    }

    private void deliver(Signals signals, String[] words) {
        switch (words[0]) {
            case "G" -> {
                if (believesGrants) {
                    signals.granted(ClaimId.parse(words[1]), Words.granted(words, 2, incarnation));
                } else {
                    signals.missed();
                }
            }
            case "R" -> signals.recalled(ClaimId.parse(words[1]));
            case "L" -> signals.lost(ClaimId.parse(words[1]), LeaseLost.Reason.valueOf(words[2]));
            case "O" -> signals.opened(Code.decode(words[1]));
            default -> signals.missed(); // a newer client tells something that we do not know
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
