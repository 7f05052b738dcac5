// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testservers;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

/**
 * Runs a ZooKeeper server's {@code main} and prints when it serves clients: arguments are the class, its argument and the port.
 * The server itself says so only in its log, whose words and place are its user's.
 */
final class ReadyMain {
    static final String READY = "lockkeeper: the server is ready";

    private ReadyMain() {}

    public static void main(String[] args) throws Exception {
        int port = Integer.parseInt(args[2]);
        try (ServerSocket socket = Ports.listen(port)) {
            socket.getLocalPort();
        } catch (IOException e) {
            System.out.println("Address already in use");
            System.exit(1);
        }
        Thread watch = new Thread(() -> awaitMode(port), "ready");
        watch.setDaemon(true);
        watch.start();
        Class.forName(args[0]).getMethod("main", String[].class).invoke(null, (Object) new String[] {args[1]});
    }

    private static void awaitMode(int port) {
        while (!ask(port, "srvr").contains("Mode:")) {
            try {
                Thread.sleep(20);
            } catch (InterruptedException e) {
                return;
            }
        }
        System.out.println(READY);
    }

    /** The answer to one of the server's four-letter commands; empty when it has none yet. */
    static String ask(int port, String command) {
        try (Socket socket = new Socket()) {
            socket.connect(new InetSocketAddress(Ports.loopback(), port), 1_000);
            socket.setSoTimeout(2_000);
            socket.getOutputStream().write(command.getBytes(StandardCharsets.US_ASCII));
            try (InputStream in = socket.getInputStream()) {
                return new String(in.readAllBytes(), StandardCharsets.UTF_8);
            }
        } catch (IOException e) {
            return "";
        }
    }
}
