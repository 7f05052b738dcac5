// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testservers;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;

/** A ZooKeeper ensemble of three servers, each in its own JVM. */
public final class ZooKeeperEnsemble implements AutoCloseable {
    private static final int SIZE = 3;

    private final List<ZooKeeperServer> members;

    private ZooKeeperEnsemble(List<ZooKeeperServer> members) {
        this.members = List.copyOf(members);
    }

    /** Starts an ensemble; returns when it has a leader. */
    public static ZooKeeperEnsemble start() {
        return start(List.of());
    }

    /** As {@link #start()}, with more options for the JVMs. */
    public static ZooKeeperEnsemble start(List<String> jvmOptions) {
        List<Integer> ports = Ports.free(2 * SIZE);
        List<String> lines = new ArrayList<>();
        for (int i = 0; i < SIZE; i++) {
            lines.add("server." + (i + 1) + "=127.0.0.1:" + ports.get(2 * i) + ":" + ports.get(2 * i + 1));
        }
        List<CompletableFuture<ZooKeeperServer>> starting = new ArrayList<>();
        for (int i = 1; i <= SIZE; i++) {
            int number = i;
            starting.add(
                    CompletableFuture.supplyAsync(() -> ZooKeeperServer.member(number, jvmOptions, lines), task -> {
                        Thread thread = new Thread(task, "zookeeper-" + number);
                        thread.setDaemon(true);
                        thread.start();
                    }));
        }
        List<ZooKeeperServer> started = new ArrayList<>();
        RuntimeException failure = null;
        for (CompletableFuture<ZooKeeperServer> each : starting) {
            try {
                started.add(each.join());
            } catch (RuntimeException e) {
                failure = e;
            }
        }
        ZooKeeperEnsemble ensemble = new ZooKeeperEnsemble(started);
        if (failure != null) {
            ensemble.close();
            throw failure;
        }
        return ensemble;
    }

    /** The servers. */
    public List<ZooKeeperServer> members() {
        return members;
    }

    /** The one that leads now. */
    public ZooKeeperServer leader() {
        return members.stream()
                .filter(ZooKeeperServer::leads)
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("the ensemble has no leader"));
    }

    /** One that follows now. */
    public ZooKeeperServer follower() {
        return members.stream()
                .filter(member -> member.ask("srvr").contains("Mode: follower"))
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("the ensemble has no follower"));
    }

    /** {@code host:port} of all, separated by commas. */
    public String addresses() {
        return members.stream().map(LocalServer::address).collect(Collectors.joining(","));
    }

    /** Kills all and deletes their data. */
    @Override
    public void close() {
        members.forEach(LocalServer::close);
    }
}
