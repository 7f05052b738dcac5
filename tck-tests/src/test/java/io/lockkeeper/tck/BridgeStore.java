// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck;

import io.lockkeeper.Guarantees;
import io.lockkeeper.LeaseLost;
import io.lockkeeper.LockInfo;
import io.lockkeeper.Sequencer;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.ClaimId;
import io.lockkeeper.spi.Grant;
import io.lockkeeper.spi.LatchState;
import io.lockkeeper.spi.LatchStep;
import io.lockkeeper.spi.LockStore;
import io.lockkeeper.spi.Renewal;
import io.lockkeeper.spi.Renewals;
import io.lockkeeper.spi.Signals;
import io.lockkeeper.spi.StoreTime;
import io.lockkeeper.spi.Subscription;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/** A store in another JVM, behind a {@link BridgeServer}: each step is one request on a connection of a small pool. */
final class BridgeStore implements LockStore {
    private static final int STEPS_AT_ONCE = 16;

    private final int port;
    private final int timeoutMillis;
    private final Semaphore turns = new Semaphore(STEPS_AT_ONCE, true);
    private final ConcurrentLinkedDeque<Connection> idle = new ConcurrentLinkedDeque<>();
    private final Set<Connection> open = ConcurrentHashMap.newKeySet();
    private final Guarantees guarantees;
    private volatile boolean closed;

    BridgeStore(int port, Duration operationTimeout) {
        this.port = port;
        this.timeoutMillis = (int) operationTimeout.toMillis();
        this.guarantees = (Guarantees) step("guarantees");
    }

    private final class Connection implements AutoCloseable {
        final Socket socket = new Socket();
        final DataInputStream in;
        final DataOutputStream out;

        Connection() throws IOException {
            socket.setTcpNoDelay(true);
            socket.setSoTimeout(timeoutMillis);
            socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), timeoutMillis);
            in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
            out = new DataOutputStream(new BufferedOutputStream(socket.getOutputStream()));
            open.add(this);
        }

        Object ask(Object... request) throws IOException {
            Wire.write(out, Arrays.asList(request));
            out.flush();
            return Wire.read(in);
        }

        @Override
        public void close() throws IOException {
            open.remove(this);
            socket.close();
        }
    }

    private Object step(Object... request) {
        Object answer;
        takeTurn();
        try {
            Connection connection = idle.pollFirst();
            if (connection == null) {
                connection = new Connection();
            }
            try {
                answer = connection.ask(request);
                idle.addFirst(connection);
            } catch (IOException | RuntimeException e) {
                connection.close();
                throw e;
            }
        } catch (IOException e) {
            throw new StoreUnavailableException("the bridge does not answer: " + e, e);
        } finally {
            turns.release();
        }
        if (closed) {
            closeAll();
        }
        if (answer instanceof RuntimeException failure) {
            throw failure;
        }
        return answer;
    }

    /** An interrupt does not break a step. */
    private void takeTurn() {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMillis);
        boolean interrupted = false;
        try {
            for (; ; ) {
                try {
                    if (turns.tryAcquire(deadline - System.nanoTime(), TimeUnit.NANOSECONDS)) {
                        return;
                    }
                    throw new StoreUnavailableException("all connections to the bridge are busy", null);
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

    @Override
    public String id() {
        return (String) step("id");
    }

    @Override
    public Guarantees guarantees() {
        return guarantees;
    }

    @Override
    public StoreTime time(Object lane) {
        return (StoreTime) step("time");
    }

    @Override
    public Answer claim(Claim claim) {
        return (Answer) step("claim", claim);
    }

    @Override
    public Renewal renew(Renewals batch) {
        return (Renewal) step("renew", batch);
    }

    @Override
    public boolean release(Grant grant) {
        return (boolean) step("release", grant);
    }

    @Override
    @SuppressWarnings("unchecked")
    public Optional<Grant> downgrade(Grant grant) {
        return (Optional<Grant>) step("downgrade", grant);
    }

    @Override
    public void withdraw(Claim claim) {
        step("withdraw", claim);
    }

    @Override
    public LatchState latch(LatchStep latchStep) {
        return (LatchState) step("latch", latchStep);
    }

    @Override
    @SuppressWarnings("unchecked")
    public Optional<LockInfo> inspect(String name) {
        return (Optional<LockInfo>) step("inspect", name);
    }

    @Override
    @SuppressWarnings("unchecked")
    public List<LockInfo> list(String prefix, int limit) {
        return (List<LockInfo>) step("list", prefix, limit);
    }

    @Override
    public boolean check(Sequencer sequencer) {
        return (boolean) step("check", sequencer);
    }

    @Override
    public boolean breakHold(String name, long token, Duration lockDelay, boolean now) {
        return (boolean) step("breakHold", name, token, lockDelay, now);
    }

    @Override
    public Subscription listen(String client, Signals signals) {
        try {
            Connection connection = new Connection();
            connection.ask("listen", client);
            connection.socket.setSoTimeout(0);
            Thread reader = new Thread(() -> deliver(connection, signals), "bridge-signals");
            reader.setDaemon(true);
            reader.start();
            return () -> closeQuietly(connection);
        } catch (IOException e) {
            throw new StoreUnavailableException("the bridge does not answer: " + e, e);
        }
    }

    private void deliver(Connection connection, Signals signals) {
        try {
            for (; ; ) {
                List<?> signal = (List<?>) Wire.read(connection.in);
                switch ((String) signal.get(0)) {
                    case "granted" -> signals.granted((ClaimId) signal.get(1), (Answer.Granted) signal.get(2));
                    case "recalled" -> signals.recalled((ClaimId) signal.get(1));
                    case "changed" -> signals.changed((ClaimId) signal.get(1));
                    case "lost" -> signals.lost((ClaimId) signal.get(1), (LeaseLost.Reason) signal.get(2));
                    case "opened" -> signals.opened((String) signal.get(1));
                    case "sessionLost" -> signals.sessionLost((String) signal.get(1));
                    case "missed" -> signals.missed();
                    default -> throw new IOException("unknown signal " + signal);
                }
            }
        } catch (IOException e) {
            // The end, here or there: the server ends with the test, and signals are hints.
        }
    }

    private static void closeQuietly(Connection connection) {
        try {
            connection.close();
        } catch (IOException e) {
            // It is gone all the same.
        }
    }

    private void closeAll() {
        open.forEach(BridgeStore::closeQuietly);
    }

    @Override
    public void close() {
        closed = true;
        closeAll();
    }
}
