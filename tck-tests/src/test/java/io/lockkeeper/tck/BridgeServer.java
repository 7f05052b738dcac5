// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck;

import io.lockkeeper.Guarantee;
import io.lockkeeper.Guarantees;
import io.lockkeeper.LeaseLost;
import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.ClaimId;
import io.lockkeeper.spi.LockStore;
import io.lockkeeper.spi.Promises;
import io.lockkeeper.spi.Signals;
import io.lockkeeper.spi.Subscription;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Lets other JVMs of this machine use a store that lives in this one. A connection carries steps, one after the other, or
 * the signals for one client. A step is a list: the name of a method of {@link LockStore}, and its arguments.
 */
final class BridgeServer implements AutoCloseable {
    private static final Set<String> STEPS = Set.of(
            "id",
            "claim",
            "renew",
            "release",
            "downgrade",
            "withdraw",
            "latch",
            "inspect",
            "list",
            "check",
            "breakHold");

    private static final Map<String, Method> METHODS = Arrays.stream(LockStore.class.getMethods())
            .filter(method -> STEPS.contains(method.getName()))
            .collect(Collectors.toMap(Method::getName, Function.identity()));

    private final LockStore store;
    private final ServerSocket server;
    private final Set<Socket> connections = ConcurrentHashMap.newKeySet();

    BridgeServer(LockStore store) throws IOException {
        this.store = store;
        this.server = new ServerSocket(0, 256, InetAddress.getLoopbackAddress());
        start("accept", this::acceptAll);
    }

    String url() {
        return "tckbridge://" + server.getLocalPort();
    }

    private static void start(String what, Runnable task) {
        Thread thread = new Thread(task, "bridge-" + what);
        thread.setDaemon(true);
        thread.start();
    }

    private void acceptAll() {
        while (!server.isClosed()) {
            try {
                Socket socket = server.accept();
                connections.add(socket);
                start("serve", () -> serve(socket));
            } catch (IOException e) {
                // Closed, or the client has gone already.
            }
        }
    }

    private void serve(Socket socket) {
        try (socket) {
            socket.setTcpNoDelay(true);
            DataInputStream in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
            DataOutputStream out = new DataOutputStream(new BufferedOutputStream(socket.getOutputStream()));
            while (!server.isClosed()) {
                List<?> request = (List<?>) Wire.read(in);
                if (request.get(0).equals("listen")) {
                    push((String) request.get(1), in, out);
                    return;
                }
                Wire.write(out, carryOut((String) request.get(0), request.subList(1, request.size())));
                out.flush();
            }
        } catch (IOException e) {
            // The client has gone.
        } finally {
            connections.remove(socket);
        }
    }

    private Object carryOut(String step, List<?> arguments) {
        try {
            if (step.equals("guarantees")) {
                return promises(store.guarantees());
            }
            if (step.equals("time")) {
                return store.time(store.lane("any"));
            }
            Method method = METHODS.get(step);
            return method == null
                    ? new IllegalArgumentException("no such step: " + step)
                    : method.invoke(store, arguments.toArray());
        } catch (InvocationTargetException e) {
            return e.getCause();
        } catch (ReflectiveOperationException | RuntimeException e) {
            return e;
        }
    }

    private static Promises promises(Guarantees guarantees) {
        return new Promises(
                Arrays.stream(Guarantee.values()).filter(guarantees::has).collect(Collectors.toSet()),
                guarantees.shortestLease());
    }

    /** Sends a client its signals until it goes. A client that does not read them holds up nobody else. */
    private void push(String client, DataInputStream in, DataOutputStream out) throws IOException {
        ExecutorService writer = Executors.newSingleThreadExecutor(task -> {
            Thread thread = new Thread(task, "bridge-push");
            thread.setDaemon(true);
            return thread;
        });
        try (Subscription subscription = store.listen(client, new Pushed(writer, out))) {
            Wire.write(out, true);
            out.flush();
            in.read(); // nothing comes but the end
        } finally {
            writer.shutdownNow();
        }
    }

    @Override
    public void close() {
        try {
            server.close();
            for (Socket socket : connections) {
                socket.close();
            }
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private record Pushed(ExecutorService writer, DataOutputStream out) implements Signals {
        private void push(Object... signal) {
            try {
                writer.execute(() -> {
                    try {
                        Wire.write(out, Arrays.asList(signal));
                        out.flush();
                    } catch (IOException e) {
                        // The client has gone, and its listener with it.
                    }
                });
            } catch (RejectedExecutionException e) {
                // The client has gone.
            }
        }

        @Override
        public void granted(ClaimId claim, Answer.Granted grant) {
            push("granted", claim, grant);
        }

        @Override
        public void recalled(ClaimId claim) {
            push("recalled", claim);
        }

        @Override
        public void changed(ClaimId claim) {
            push("changed", claim);
        }

        @Override
        public void lost(ClaimId claim, LeaseLost.Reason reason) {
            push("lost", claim, reason);
        }

        @Override
        public void opened(String latch) {
            push("opened", latch);
        }

        @Override
        public void sessionLost(String why) {
            push("sessionLost", why);
        }

        @Override
        public void missed() {
            push("missed");
        }
    }
}
