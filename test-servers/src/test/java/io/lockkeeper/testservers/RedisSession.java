// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testservers;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

/** Talks to a Redis in inline commands that are answered with one line, over a connection of its own. */
final class RedisSession implements AutoCloseable {
    private final Socket socket;
    private final BufferedReader replies;

    RedisSession(int port) throws IOException {
        socket = new Socket(Ports.loopback(), port);
        socket.setSoTimeout(20_000);
        replies = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII));
    }

    /** The reply, or null if the server has hung up. */
    String ask(String command) throws IOException {
        send(command);
        return reply();
    }

    void send(String command) throws IOException {
        socket.getOutputStream().write((command + "\r\n").getBytes(StandardCharsets.US_ASCII));
    }

    String reply() throws IOException {
        return replies.readLine();
    }

    RedisSession timeout(int millis) throws IOException {
        socket.setSoTimeout(millis);
        return this;
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
