// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.Lease;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.testservers.JumpingClock;
import io.lockkeeper.testservers.RedisServer;
import io.lockkeeper.testservers.TcpProxy;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.RedisClient;

/** Redis servers, clients of their quorum, each with its own network, and one more Redis with data that a fence protects. */
final class RedlockRig implements AutoCloseable {
    static final Duration LEASE = Duration.ofSeconds(2);
    static final LockOptions FIXED = LockOptions.defaults().fixedLease(LEASE);

    /** The sum of the longest lease and the clock lead. */
    static final Duration SITS_OUT = Duration.ofSeconds(6);

    /** New claims give up before a member has sat out. */
    private static final String OPTIONS = "?operationTimeout=3s&memberTimeout=500ms&longestLease=4s&clockLead=";

    final List<RedisServer> servers = new ArrayList<>();
    final List<JumpingClock> clocks = new ArrayList<>();
    private final Deque<AutoCloseable> toClose = new ArrayDeque<>();

    /** @param clockLibrary so that the servers' clocks can be set; null when nobody sets them */
    RedlockRig(int members, @Nullable Path clockLibrary, String... settings) throws Exception {
        for (int i = 0; i < members; i++) {
            JumpingClock clock = clockLibrary == null ? null : JumpingClock.in(clockLibrary);
            servers.add(closing(
                    clock == null
                            ? RedisServer.start(settings)
                            : RedisServer.start(clock.environment(), List.of(settings))));
            if (clock != null) {
                clocks.add(clock);
            }
        }
        // All are marked, as those of a quorum are that has been in use.
        try (Lockkeeper first = Lockkeeper.connect(RedlockFixture.url(servers) + OPTIONS + "2s")) {
            assertThat(first.lock("first", FIXED).acquire().release()).isTrue();
        }
    }

    /** A client, and what is between it and the servers. */
    record Client(Lockkeeper keeper, List<TcpProxy> network) {
        Lease take() throws InterruptedException {
            return keeper.lock("a", FIXED).acquire();
        }

        /** Tries once; true if it acquired the lock, which it then releases. */
        boolean couldTake() {
            try {
                return keeper.lock("a", FIXED).tryAcquire().map(Lease::release).orElse(false);
            } catch (StoreUnavailableException e) {
                return false;
            }
        }

        /** The network to these members breaks. */
        void cutOff(int... members) {
            for (int member : members) {
                network.get(member).refuse();
                network.get(member).reset();
            }
        }
    }

    Client client() {
        return client("2s");
    }

    Client client(String clockLead) {
        List<TcpProxy> network = new ArrayList<>();
        for (RedisServer server : servers) {
            network.add(closing(TcpProxy.to(server.port())));
        }
        Lockkeeper keeper = closing(Lockkeeper.connect(url(network, clockLead)));
        return new Client(keeper, network);
    }

    private static String url(List<TcpProxy> network, String clockLead) {
        return network.stream()
                .map(proxy -> "127.0.0.1:" + proxy.port())
                .collect(Collectors.joining(",", "redlock://", OPTIONS + clockLead));
    }

    /** For a client in another process. */
    String url() {
        return RedlockFixture.url(servers) + OPTIONS + "2s";
    }

    /** A Redis for the data. */
    RedisServer storage() {
        return closing(RedisServer.start());
    }

    RedisClient connect(int port) {
        return closing(RedisClient.create(new HostAndPort("127.0.0.1", port)));
    }

    /** The server restarts at once, and has forgotten everything. */
    void forget(int member) {
        servers.get(member).kill();
        servers.get(member).restart();
    }

    boolean isHeldAt(int member) {
        return new Admin(servers.get(member)).keys().stream().anyMatch(key -> key.endsWith(":n:a"));
    }

    <T extends AutoCloseable> T closing(T resource) {
        toClose.push(resource);
        return resource;
    }

    @Override
    public void close() throws Exception {
        while (!toClose.isEmpty()) {
            toClose.pop().close();
        }
    }
}
