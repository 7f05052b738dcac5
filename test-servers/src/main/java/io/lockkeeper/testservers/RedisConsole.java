// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testservers;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** Gives a Redis orders, as its operator would. */
final class RedisConsole {
    private static final int TIMEOUT_MILLIS = 20_000;

    private RedisConsole() {}

    /**
     * Runs a command on its own connection.
     *
     * @return the answer, an array as its elements line by line
     * @throws IllegalStateException if the answer is an error
     */
    static String ask(int port, String command) {
        try (Socket socket = new Socket(Ports.loopback(), port)) {
            socket.setSoTimeout(TIMEOUT_MILLIS);
            socket.getOutputStream().write((command + "\r\n").getBytes(StandardCharsets.US_ASCII));
            return String.join(
                    "\n",
                    read(new BufferedReader(
                            new InputStreamReader(socket.getInputStream(), StandardCharsets.ISO_8859_1))));
        } catch (IOException e) {
            throw new UncheckedIOException(command, e);
        }
    }

    private static List<String> read(BufferedReader in) throws IOException {
        String line = in.readLine();
        if (line == null || line.startsWith("-")) {
            throw new IllegalStateException("Redis said " + line);
        }
        String rest = line.substring(1);
        if (line.startsWith("$")) {
            char[] text = new char[Math.max(0, Integer.parseInt(rest))];
            for (int read = 0; read < text.length; ) {
                read += in.read(text, read, text.length - read);
            }
            in.readLine();
            return List.of(new String(text));
        }
        if (line.startsWith("*")) {
            List<String> all = new ArrayList<>();
            for (int i = Integer.parseInt(rest); i > 0; i--) {
                all.addAll(read(in));
            }
            return all;
        }
        return List.of(rest);
    }
}
