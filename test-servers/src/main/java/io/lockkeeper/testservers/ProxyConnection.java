// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testservers;

import java.io.IOException;
import java.net.Socket;
import java.net.SocketException;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * One connection through a proxy. Each direction has a thread that reads and one that writes: so bytes can be late without those
 * behind them becoming later still, and held bytes reach the server even if the client has long hung up.
 */
final class ProxyConnection {
    /** Bytes and when they arrived; no bytes: the sender has hung up. */
    private static final class Chunk {
        final byte[] bytes;
        final long arrived = System.nanoTime();
        final long ticket;

        Chunk(byte[] bytes, long ticket) {
            this.bytes = bytes;
            this.ticket = ticket;
        }
    }

    private final Socket client;
    private final Socket server;
    private final Consumer<ProxyConnection> whenEnded;
    private final AtomicInteger openDirections = new AtomicInteger(2);
    private final List<Thread> threads;
    private volatile boolean torn;

    ProxyConnection(
            Socket client, Socket server, ProxyLane requests, ProxyLane replies, Consumer<ProxyConnection> whenEnded) {
        this.client = client;
        this.server = server;
        this.whenEnded = whenEnded;
        BlockingQueue<Chunk> toServer = new LinkedBlockingQueue<>();
        BlockingQueue<Chunk> toClient = new LinkedBlockingQueue<>();
        threads = List.of(
                thread("requests-in", () -> read(client, requests, toServer)),
                thread("requests-out", () -> write(toServer, requests, server)),
                thread("replies-in", () -> read(server, replies, toClient)),
                thread("replies-out", () -> write(toClient, replies, client)));
    }

    void start() {
        threads.forEach(Thread::start);
    }

    /** Whether bytes are missing in the middle of a stream, which TCP never does to anyone. */
    boolean isTorn() {
        return torn;
    }

    /** Ends the connection; both sides see a reset. */
    void reset() {
        for (Socket socket : List.of(client, server)) {
            try {
                socket.setSoLinger(true, 0);
            } catch (SocketException e) {
                // it is closed already
            }
        }
        end();
    }

    Stream<Thread> threads() {
        return threads.stream();
    }

    private static Thread thread(String name, Runnable work) {
        Thread thread = new Thread(work, "tcp-proxy-" + name);
        thread.setDaemon(true);
        return thread;
    }

    private static void read(Socket from, ProxyLane lane, BlockingQueue<Chunk> queue) {
        byte[] buffer = new byte[16 * 1024];
        try {
            while (true) {
                int length = from.getInputStream().read(buffer);
                if (length < 0) {
                    break;
                }
                Chunk chunk = new Chunk(Arrays.copyOf(buffer, length), lane.ticket());
                // counted before they are passed on: once their effect is visible, they are counted
                lane.received.addAndGet(length);
                queue.add(chunk);
            }
        } catch (IOException e) {
            // A reset is passed on as an orderly end: a reset would overtake the bytes before it, and a late request
            // get lost.
        }
        queue.add(new Chunk(new byte[0], lane.ticket()));
    }

    private void write(BlockingQueue<Chunk> queue, ProxyLane lane, Socket to) {
        boolean gap = false;
        try {
            while (true) {
                Chunk chunk = queue.take();
                gap = gap || !lane.mayPass(chunk.arrived, chunk.ticket);
                if (gap) {
                    // after a gap nothing may follow; the proxy resets such connections when it is repaired
                    torn = true;
                    if (!lane.isDropping()) {
                        reset();
                    }
                } else if (chunk.bytes.length == 0) {
                    to.shutdownOutput();
                    break;
                } else {
                    lane.delivered.addAndGet(chunk.bytes.length);
                    to.getOutputStream().write(chunk.bytes);
                }
            }
        } catch (IOException e) {
            // The receiver has gone, so nothing will come from it either: the other direction ends by itself, after
            // what it holds.
        } catch (InterruptedException e) {
            return;
        }
        if (openDirections.decrementAndGet() == 0) {
            end();
        }
    }

    private void end() {
        try (client;
                server) {
            whenEnded.accept(this);
        } catch (IOException e) {
            // nothing more can be done
        } finally {
            threads.forEach(Thread::interrupt);
        }
    }
}
