// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testservers;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** One Redis. It keeps nothing on disk unless told to, so that a restart loses all data. */
public final class RedisServer extends LocalServer {
    private final List<String> settings;

    private final Kind kind;

    private enum Kind {
        PLAIN,
        TLS,
        CLUSTER
    }

    private RedisServer(Map<String, String> environment, List<String> settings, Kind kind) {
        super(ServerKind.REDIS, environment, kind == Kind.CLUSTER ? 2 : 1);
        this.settings = List.copyOf(settings);
        this.kind = kind;
    }

    /**
     * Starts a Redis.
     *
     * @param settings more of the command line, such as {@code "--appendonly", "yes", "--appendfsync", "always"}, with which
     *     data survive a restart; the last of equal settings counts
     */
    public static RedisServer start(String... settings) {
        return start(Map.of(), List.of(settings));
    }

    /** As {@link #start(String...)}, with more in its environment, such as {@code LD_PRELOAD}. */
    public static RedisServer start(Map<String, String> environment, List<String> settings) {
        RedisServer server = new RedisServer(environment, settings, Kind.PLAIN);
        server.begin();
        return server;
    }

    /** Starts a Redis that speaks TLS only, with a certificate and its key, both as PEM. */
    public static RedisServer startTls(Path certificate, Path key) {
        RedisServer server = new RedisServer(
                Map.of(),
                List.of(
                        "--tls-cert-file",
                        certificate.toString(),
                        "--tls-key-file",
                        key.toString(),
                        "--tls-ca-cert-file",
                        certificate.toString(),
                        "--tls-auth-clients",
                        "no"),
                Kind.TLS);
        server.begin();
        return server;
    }

    /** A node that is to become part of a {@link RedisCluster}. */
    static RedisServer startNode(List<String> settings) {
        RedisServer server = new RedisServer(Map.of(), settings, Kind.CLUSTER);
        server.begin();
        return server;
    }

    /** The port on which the nodes of a cluster talk to each other. */
    int busPort() {
        return port(1);
    }

    @Override
    List<String> command(List<Integer> ports) {
        List<String> command = new ArrayList<>(List.of(
                Binaries.of(ServerKind.REDIS).executable("redis-server").toString(),
                "--port",
                ports.get(0).toString(),
                "--bind",
                host(),
                "--dir",
                folder().toString(),
                "--save",
                "",
                "--appendonly",
                "no"));
        if (kind == Kind.TLS) {
            command.addAll(List.of("--port", "0", "--tls-port", ports.get(0).toString()));
        }
        if (kind == Kind.CLUSTER) {
            command.addAll(List.of(
                    "--cluster-enabled", "yes", "--cluster-port", ports.get(1).toString()));
        }
        command.addAll(settings);
        return command;
    }

    @Override
    String readyText() {
        return "Ready to accept connections";
    }
}
