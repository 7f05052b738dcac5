// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testservers;

import io.lockkeeper.testservers.ProxyLane.Mode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * A bad network between a client and a server on this machine. What it does can be changed at any time, for each direction by
 * itself, and concerns open connections as well as new ones:
 *
 * <ul>
 *   <li>{@link #pass}: nothing; so it begins
 *   <li>{@link #delay}: all bytes come later
 *   <li>{@link #hold}: bytes come only after {@link #pass}, even if their sender has hung up: the late request
 *   <li>{@link #drop}: bytes never come. With {@link Direction#REPLIES} requests are executed and nobody is told
 *   <li>{@link #reset}: ends all connections
 *   <li>{@link #refuse}: no new connections
 * </ul>
 *
 * <p>Safe for use by several threads. Its own threads are daemons and end with {@link #close}.
 */
public final class TcpProxy implements AutoCloseable {
    /** A paused server whose queue is full neither accepts nor refuses. */
    private static final int CONNECT_MILLIS = 10_000;

    private final int target;
    private final int port;
    private final Map<Direction, ProxyLane> lanes = new EnumMap<>(Direction.class);
    private final Set<ProxyConnection> connections = ConcurrentHashMap.newKeySet();
    private final AtomicLong accepted = new AtomicLong();
    private @Nullable ServerSocket listener;
    private @Nullable Thread acceptor;
    private boolean closed;

    private TcpProxy(int target, ServerSocket listener) {
        this.target = target;
        this.port = listener.getLocalPort();
        for (Direction direction : Direction.values()) {
            lanes.put(direction, new ProxyLane());
        }
    }

    /** Starts a proxy in front of a port of {@code 127.0.0.1}. */
    public static TcpProxy to(int target) {
        while (true) {
            ServerSocket listener;
            try {
                listener = Ports.listen(Ports.free(1).get(0));
            } catch (IOException e) {
                // taken in between
                continue;
            }
            TcpProxy proxy = new TcpProxy(target, listener);
            proxy.listen(listener);
            return proxy;
        }
    }

    /** The port for clients; it stays the same. */
    public int port() {
        return port;
    }

    /**
     * Heals: ends {@link #delay}, {@link #hold}, {@link #drop} and {@link #refuse}. Held bytes are delivered. Connections that
     * lost bytes are reset: a stream with a gap is nothing that TCP would ever show.
     */
    public void pass() {
        for (Direction direction : Direction.values()) {
            lane(direction).set(Mode.PASS, Duration.ZERO);
        }
        connections.stream().filter(ProxyConnection::isTorn).forEach(ProxyConnection::reset);
        synchronized (this) {
            if (listener == null && !closed) {
                try {
                    listen(Ports.listen(port));
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            }
        }
    }

    /** Delivers bytes that go this way so much later than they arrive, those that are on their way included. */
    public void delay(Direction direction, Duration delay) {
        lane(direction).set(Mode.PASS, delay);
    }

    /** Keeps back what goes this way until {@link #pass}, also that a side has hung up. */
    public void hold(Direction direction) {
        lane(direction).set(Mode.HOLD, Duration.ZERO);
    }

    /**
     * Lets vanish what goes this way, held and delayed bytes included, also that a side has hung up. A connection on which
     * something vanished carries nothing more and is reset by {@link #pass}.
     */
    public void drop(Direction direction) {
        lane(direction).set(Mode.DROP, Duration.ZERO);
    }

    /** Ends all connections, with what is held on them; both sides see a reset. New ones are accepted. */
    public void reset() {
        connections.forEach(ProxyConnection::reset);
    }

    /** Refuses new connections until {@link #pass}; open ones stay. */
    public void refuse() {
        closeListener();
    }

    /** How many connections have been accepted so far. */
    public long connections() {
        return accepted.get();
    }

    /** How many connections are open. */
    public int openConnections() {
        return connections.size();
    }

    /** How many bytes that go this way have reached the proxy. */
    public long received(Direction direction) {
        return lane(direction).received.get();
    }

    /** How many bytes that go this way have left the proxy. */
    public long delivered(Direction direction) {
        return lane(direction).delivered.get();
    }

    /** Resets all connections and ends all threads. */
    @Override
    public void close() {
        synchronized (this) {
            closed = true;
        }
        closeListener();
        Set<ProxyConnection> last = Set.copyOf(connections);
        reset();
        last.stream().flatMap(ProxyConnection::threads).forEach(TcpProxy::join);
    }

    private ProxyLane lane(Direction direction) {
        return Objects.requireNonNull(lanes.get(direction));
    }

    private synchronized void listen(ServerSocket socket) {
        listener = socket;
        acceptor = new Thread(() -> accept(socket), "tcp-proxy-accept");
        acceptor.setDaemon(true);
        acceptor.start();
    }

    private void closeListener() {
        Thread last;
        synchronized (this) {
            last = acceptor;
            if (listener == null || last == null) {
                return;
            }
            try {
                listener.close();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            listener = null;
        }
        // as long as a thread is in accept(), Linux goes on accepting
        join(last);
    }

    private static void join(Thread thread) {
        try {
            thread.join(2 * CONNECT_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void accept(ServerSocket socket) {
        while (!socket.isClosed()) {
            try {
                connect(socket.accept());
            } catch (IOException e) {
                // closed, or the client has already gone
            }
        }
    }

    private void connect(Socket client) throws IOException {
        accepted.incrementAndGet();
        Socket server = new Socket();
        try {
            client.setTcpNoDelay(true);
            server.setTcpNoDelay(true);
            server.connect(new InetSocketAddress(Ports.loopback(), target), CONNECT_MILLIS);
        } catch (IOException e) {
            server.close();
            // the server is down: the nearest to a refusal that is left
            client.setSoLinger(true, 0);
            client.close();
            return;
        }
        ProxyConnection connection = new ProxyConnection(
                client, server, lane(Direction.REQUESTS), lane(Direction.REPLIES), connections::remove);
        synchronized (this) {
            connections.add(connection);
            connection.start();
            if (closed) {
                connection.reset();
            }
        }
    }
}
