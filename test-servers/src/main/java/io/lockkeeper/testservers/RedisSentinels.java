// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testservers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;

/** A Redis master with two replicas, and three Sentinels that watch over them. */
public final class RedisSentinels implements AutoCloseable {
    /** The name by which the Sentinels know the master. */
    public static final String MASTER = "locks";

    private static final Duration START_LIMIT = Duration.ofSeconds(60);
    private static final int REPLICAS = 2;
    private static final int SENTINELS = 3;

    private final List<RedisServer> servers = new ArrayList<>();
    private final List<Sentinel> sentinels = new ArrayList<>();

    private RedisSentinels() {}

    /**
     * Starts all of them; returns when the replicas follow and the Sentinels know each other.
     *
     * @param downAfter how long a server must be silent to be taken for dead
     */
    public static RedisSentinels start(Duration downAfter) {
        RedisSentinels set = new RedisSentinels();
        try {
            RedisServer master = RedisServer.start("--repl-diskless-sync-delay", "0");
            set.servers.add(master);
            for (int i = 0; i < REPLICAS; i++) {
                set.servers.add(RedisServer.start(
                        "--repl-diskless-sync-delay", "0", "--replicaof", master.host() + " " + master.port()));
            }
            for (int i = 0; i < SENTINELS; i++) {
                Sentinel sentinel = new Sentinel(master.port(), downAfter, 2, List.of());
                set.sentinels.add(sentinel);
                sentinel.begin();
            }
            set.await("replicas that follow", set::isWhole);
            set.await("Sentinels that know each other", set::isWatched);
            return set;
        } catch (RuntimeException e) {
            set.close();
            throw e;
        }
    }

    /**
     * Starts one master without replicas, and one Sentinel that watches over it, which speak TLS only.
     *
     * @param password of the Sentinel; the master has none
     */
    public static RedisSentinels startTls(Path certificate, Path key, String password) {
        RedisSentinels set = new RedisSentinels();
        try {
            RedisServer master = RedisServer.startTls(certificate, key);
            set.servers.add(master);
            List<String> settings = new ArrayList<>(RedisServer.tls(certificate, key));
            settings.addAll(List.of("--tls-replication", "yes", "--requirepass", password));
            Sentinel sentinel = new Sentinel(master.port(), Duration.ofMinutes(1), 1, settings);
            set.sentinels.add(sentinel);
            sentinel.begin();
            return set;
        } catch (RuntimeException e) {
            set.close();
            throw e;
        }
    }

    private boolean isWhole() {
        return RedisConsole.ask(servers.get(0).port(), "INFO replication").contains("connected_slaves:" + REPLICAS);
    }

    private boolean isWatched() {
        return sentinels.stream().allMatch(sentinel -> {
            String state = RedisConsole.ask(sentinel.port(), "INFO sentinel");
            return state.contains("slaves=" + REPLICAS) && state.contains("sentinels=" + SENTINELS);
        });
    }

    private void await(String what, BooleanSupplier condition) {
        if (!Deadline.await(START_LIMIT, condition)) {
            throw new IllegalStateException("no " + what + " within " + START_LIMIT + ":\n"
                    + sentinels.get(sentinels.size() - 1).log());
        }
    }

    /** {@code host:port} of the Sentinels, with commas between them. */
    public String addresses() {
        return sentinels.stream().map(LocalServer::address).collect(Collectors.joining(","));
    }

    /** Who the Sentinels say is the master now. */
    public RedisServer master() {
        String[] address = RedisConsole.ask(sentinels.get(0).port(), "SENTINEL get-master-addr-by-name " + MASTER)
                .split("\n");
        int port = Integer.parseInt(address[1]);
        return servers.stream()
                .filter(server -> server.port() == port)
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("the Sentinels name a stranger, " + port));
    }

    /** The master of the beginning, then its replicas. */
    public List<RedisServer> servers() {
        return List.copyOf(servers);
    }

    /** The Sentinels. */
    public List<LocalServer> sentinels() {
        return List.copyOf(sentinels);
    }

    @Override
    public void close() {
        sentinels.forEach(LocalServer::close);
        servers.forEach(LocalServer::close);
    }

    private static final class Sentinel extends LocalServer {
        private final int master;
        private final Duration downAfter;
        private final int quorum;
        private final List<String> settings;

        /** @param settings more of its settings, as on a command line; those of TLS make it speak nothing else */
        Sentinel(int master, Duration downAfter, int quorum, List<String> settings) {
            super(ServerKind.REDIS, Map.of(), 1);
            this.master = master;
            this.downAfter = downAfter;
            this.quorum = quorum;
            this.settings = settings;
        }

        @Override
        List<String> command(List<Integer> ports) {
            Path file = folder().resolve("sentinel.conf"); // a Sentinel writes to it what it has learnt
            StringBuilder more = new StringBuilder();
            for (int i = 0; i < settings.size(); i += 2) {
                more.append(settings.get(i).substring(2))
                        .append(' ')
                        .append(settings.get(i + 1))
                        .append('\n');
            }
            try {
                Files.writeString(
                        file,
                        String.join(
                                "\n",
                                settings.isEmpty() ? "port " + ports.get(0) : "port 0\ntls-port " + ports.get(0),
                                "bind " + host(),
                                "dir " + folder(),
                                "sentinel monitor " + MASTER + " " + host() + " " + master + " " + quorum,
                                "sentinel down-after-milliseconds " + MASTER + " " + downAfter.toMillis(),
                                "sentinel failover-timeout " + MASTER + " 5000",
                                "sentinel parallel-syncs " + MASTER + " " + REPLICAS,
                                more.toString()));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            return List.of(
                    Binaries.of(ServerKind.REDIS).executable("redis-server").toString(), file.toString(), "--sentinel");
        }

        @Override
        String readyText() {
            return "+monitor master";
        }
    }
}
