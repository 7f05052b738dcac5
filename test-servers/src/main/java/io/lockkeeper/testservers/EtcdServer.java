// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testservers;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** An etcd cluster of one member. */
public final class EtcdServer extends LocalServer {
    private final List<String> settings;

    private EtcdServer(List<String> settings) {
        // without it etcd 3.4 refuses to run on ARM
        super(ServerKind.ETCD, Map.of("ETCD_UNSUPPORTED_ARCH", "arm64"), 2);
        this.settings = List.copyOf(settings);
    }

    /**
     * Starts an etcd.
     *
     * @param settings more of the command line, such as {@code "--quota-backend-bytes=1000000"}
     */
    public static EtcdServer start(String... settings) {
        EtcdServer server = new EtcdServer(List.of(settings));
        server.begin();
        return server;
    }

    /** The URL for clients. */
    public String url() {
        return "http://" + address();
    }

    @Override
    List<String> command(List<Integer> ports) {
        String client = "http://" + host() + ":" + ports.get(0);
        String peer = "http://" + host() + ":" + ports.get(1);
        List<String> command = new ArrayList<>(List.of(
                Binaries.of(ServerKind.ETCD).executable("etcd").toString(),
                "--name=n1",
                "--data-dir=" + folder().resolve("data"),
                "--listen-client-urls=" + client,
                "--advertise-client-urls=" + client,
                "--listen-peer-urls=" + peer,
                "--initial-advertise-peer-urls=" + peer,
                "--initial-cluster=n1=" + peer,
                // 3.4 has another logger by default, with other messages
                "--logger=zap"));
        command.addAll(settings);
        return command;
    }

    @Override
    String readyText() {
        return "serving client traffic insecurely";
    }
}
