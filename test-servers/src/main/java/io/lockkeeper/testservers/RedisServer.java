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
    private final List<String> program;

    private enum Kind {
        PLAIN(1),
        /** Its clients' port speaks TLS only. */
        TLS(1),
        CLUSTER(2),
        /** Its clients' port and its bus speak TLS; the third port, for its operator, does not. */
        CLUSTER_TLS(3);

        final int ports;

        Kind(int ports) {
            this.ports = ports;
        }
    }

    private RedisServer(Map<String, String> environment, List<String> settings, Kind kind) {
        this(environment, settings, kind, List.of());
    }

    private RedisServer(Map<String, String> environment, List<String> settings, Kind kind, List<String> program) {
        super(ServerKind.REDIS, environment, kind.ports);
        this.program = List.copyOf(program);
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

    /** As {@link #start(String...)}, in the version of a {@link DebianRelease}, or a fork such as Valkey. */
    public static RedisServer start(DebianRelease release, String program) {
        RedisServer server = new RedisServer(Map.of(), List.of(), Kind.PLAIN, release.command(program));
        server.begin();
        return server;
    }

    /** As {@link #start(String...)}, with more in its environment, such as {@code LD_PRELOAD}. */
    public static RedisServer start(Map<String, String> environment, List<String> settings) {
        RedisServer server = new RedisServer(environment, settings, Kind.PLAIN);
        server.begin();
        return server;
    }

    /**
     * Starts a Redis that speaks TLS only, with a certificate and its key, both as PEM.
     *
     * @param settings more of the command line, such as {@code "--tls-auth-clients", "yes"}, with which it asks clients for a
     *     certificate that is signed by its own
     */
    public static RedisServer startTls(Path certificate, Path key, String... settings) {
        RedisServer server = new RedisServer(Map.of(), tls(certificate, key, settings), Kind.TLS);
        server.begin();
        return server;
    }

    /** The settings of a server, or a Sentinel, that can speak TLS. */
    static List<String> tls(Path certificate, Path key, String... settings) {
        List<String> all = new ArrayList<>(List.of(
                "--tls-cert-file",
                certificate.toString(),
                "--tls-key-file",
                key.toString(),
                "--tls-ca-cert-file",
                certificate.toString(),
                "--tls-auth-clients",
                "no"));
        all.addAll(List.of(settings));
        return all;
    }

    /** A node that is to become part of a {@link RedisCluster}. */
    static RedisServer startNode(List<String> settings) {
        RedisServer server = new RedisServer(Map.of(), settings, Kind.CLUSTER);
        server.begin();
        return server;
    }

    /** A node that speaks TLS with its clients and with other nodes. */
    static RedisServer startTlsNode(List<String> settings) {
        RedisServer server = new RedisServer(Map.of(), settings, Kind.CLUSTER_TLS);
        server.begin();
        return server;
    }

    /** The port for {@link RedisConsole}. */
    int operatorPort() {
        return kind == Kind.CLUSTER_TLS ? port(2) : port();
    }

    /** The port on which the nodes of a cluster talk to each other. */
    int busPort() {
        return port(1);
    }

    @Override
    List<String> command(List<Integer> ports) {
        List<String> command = new ArrayList<>(
                program.isEmpty()
                        ? List.of(Binaries.of(ServerKind.REDIS)
                                .executable("redis-server")
                                .toString())
                        : program);
        command.addAll(List.of(
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
        if (kind == Kind.CLUSTER_TLS) {
            command.addAll(List.of(
                    "--port",
                    ports.get(2).toString(),
                    "--tls-port",
                    ports.get(0).toString(),
                    "--tls-cluster",
                    "yes",
                    "--tls-replication",
                    "yes"));
        }
        if (kind == Kind.CLUSTER || kind == Kind.CLUSTER_TLS) {
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
