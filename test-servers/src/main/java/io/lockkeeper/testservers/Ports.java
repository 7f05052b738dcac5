// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testservers;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Chooses ports that are free now; a server that uses one may find it taken.
 *
 * <p>They lie below those that the system gives to outgoing connections (from 32768 on Linux, from 49152 elsewhere). Else, while
 * a server is down, its port could become a client's: a client that tries again and again would even connect to itself. Redis
 * Cluster adds 10000 to a port, and has room to.
 */
final class Ports {
    private static final int LOWEST = 15_000;
    private static final int HIGHEST = 32_700;

    private Ports() {}

    static List<Integer> free(int count) {
        List<Integer> ports = new ArrayList<>();
        while (ports.size() < count) {
            int port = ThreadLocalRandom.current().nextInt(LOWEST, HIGHEST);
            if (!ports.contains(port) && isFree(port)) {
                ports.add(port);
            }
        }
        return List.copyOf(ports);
    }

    static ServerSocket listen(int port) throws IOException {
        ServerSocket socket = new ServerSocket();
        try {
            socket.setReuseAddress(true);
            socket.bind(new InetSocketAddress(loopback(), port));
            return socket;
        } catch (IOException e) {
            socket.close();
            throw e;
        }
    }

    /** 127.0.0.1: {@link InetAddress#getLoopbackAddress()} may be that of IPv6, where no server listens. */
    static InetAddress loopback() {
        try {
            return InetAddress.getByAddress(new byte[] {127, 0, 0, 1});
        } catch (UnknownHostException e) {
            throw new IllegalStateException("four bytes are an address", e);
        }
    }

    private static boolean isFree(int port) {
        try (ServerSocket socket = listen(port)) {
            return socket.isBound();
        } catch (IOException e) {
            return false;
        }
    }
}
