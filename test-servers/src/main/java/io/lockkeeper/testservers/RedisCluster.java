// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testservers;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.stream.Collectors;

/** A Redis Cluster of three masters, each with a replica. */
public final class RedisCluster implements AutoCloseable {
    private static final Duration START_LIMIT = Duration.ofSeconds(60);
    private static final int MASTERS = 3;
    private static final int SLOTS = 16_384;

    private final List<RedisServer> servers = new ArrayList<>();

    private final int mastersWithReplica;

    private RedisCluster(int mastersWithReplica) {
        this.mastersWithReplica = mastersWithReplica;
    }

    /**
     * Starts all of them; returns when every slot is served and every replica follows.
     *
     * @param nodeTimeout how long a node must be silent to be taken for dead
     * @param settings more of the command line of each node
     */
    public static RedisCluster start(Duration nodeTimeout, String... settings) {
        return start(MASTERS, all(nodeTimeout, List.of(settings)), RedisServer::startNode);
    }

    /** Starts three masters that speak TLS with their clients and among each other, without replicas. */
    public static RedisCluster startTls(Duration nodeTimeout, Path certificate, Path key) {
        return start(0, all(nodeTimeout, RedisServer.tls(certificate, key)), RedisServer::startTlsNode);
    }

    /** Starts a Cluster of one node, which serves all slots. */
    public static RedisServer startOneNode() {
        RedisServer server = RedisServer.startNode(List.of());
        try {
            RedisConsole.ask(server.port(), "CLUSTER ADDSLOTSRANGE 0 " + (SLOTS - 1));
            if (!Deadline.await(START_LIMIT, () -> RedisConsole.ask(server.port(), "CLUSTER INFO")
                    .contains("cluster_state:ok"))) {
                throw new IllegalStateException("the Cluster is not ready within " + START_LIMIT);
            }
            return server;
        } catch (RuntimeException e) {
            server.close();
            throw e;
        }
    }

    private static List<String> all(Duration nodeTimeout, List<String> settings) {
        List<String> all = new ArrayList<>(List.of(
                "--cluster-node-timeout", Long.toString(nodeTimeout.toMillis()), "--repl-diskless-sync-delay", "0"));
        all.addAll(settings);
        return all;
    }

    private static RedisCluster start(
            int replicas, List<String> settings, Function<List<String>, RedisServer> starter) {
        RedisCluster cluster = new RedisCluster(replicas);
        try {
            for (int i = 0; i < MASTERS + replicas; i++) {
                cluster.servers.add(starter.apply(settings));
            }
            cluster.join();
            return cluster;
        } catch (RuntimeException e) {
            cluster.close();
            throw e;
        }
    }

    private void join() {
        for (int i = 0; i < servers.size(); i++) {
            ask(i, "CLUSTER SET-CONFIG-EPOCH " + (i + 1)); // otherwise they take turns to settle who is who
        }
        for (int i = 0; i < MASTERS; i++) {
            int first = i * SLOTS / MASTERS;
            int last = (i + 1) * SLOTS / MASTERS - 1;
            ask(i, "CLUSTER ADDSLOTSRANGE " + first + " " + last);
        }
        for (RedisServer server : servers.subList(1, servers.size())) {
            ask(0, "CLUSTER MEET " + server.host() + " " + server.port() + " " + server.busPort());
        }
        await("nodes that know each other", () -> all("CLUSTER INFO", "cluster_known_nodes:" + servers.size()));
        for (int i = 0; i < mastersWithReplica; i++) {
            String master = ask(i, "CLUSTER MYID");
            int replica = MASTERS + i;
            await("replica", () -> accepts(replica, "CLUSTER REPLICATE " + master));
        }
        await("slots that are all served", () -> all("CLUSTER INFO", "cluster_state:ok"));
        await("replicas that follow", () -> servers.subList(MASTERS, servers.size()).stream()
                .allMatch(server -> RedisConsole.ask(server.operatorPort(), "INFO replication")
                        .contains("master_link_status:up")));
        await("masters that know their replicas", () -> servers.stream()
                .allMatch(server -> replicas(server) == mastersWithReplica));
    }

    private static long replicas(RedisServer server) {
        return RedisConsole.ask(server.operatorPort(), "CLUSTER NODES")
                .lines()
                .filter(line -> line.contains("slave") && line.contains(" connected"))
                .count();
    }

    private boolean all(String command, String text) {
        return servers.stream().allMatch(server -> RedisConsole.ask(server.operatorPort(), command)
                .contains(text));
    }

    /** A node that has not heard of another one yet refuses to follow it. */
    private boolean accepts(int server, String command) {
        try {
            ask(server, command);
            return true;
        } catch (IllegalStateException e) {
            return false;
        }
    }

    private String ask(int server, String command) {
        return RedisConsole.ask(servers.get(server).operatorPort(), command);
    }

    private void await(String what, BooleanSupplier condition) {
        if (!Deadline.await(START_LIMIT, condition)) {
            throw new IllegalStateException("no " + what + " within " + START_LIMIT + ":\n" + ask(0, "CLUSTER NODES"));
        }
    }

    /** {@code host:port} of all nodes, with commas between them. */
    public String addresses() {
        return servers.stream().map(LocalServer::address).collect(Collectors.joining(","));
    }

    /** The masters of the beginning, then their replicas in the same order. */
    public List<RedisServer> servers() {
        return List.copyOf(servers);
    }

    /** The nodes that are masters now. */
    public List<RedisServer> masters() {
        return servers.stream()
                .filter(LocalServer::isAlive)
                .filter(server -> RedisConsole.ask(server.operatorPort(), "INFO replication")
                        .contains("role:master"))
                .toList();
    }

    @Override
    public void close() {
        servers.forEach(LocalServer::close);
    }
}
