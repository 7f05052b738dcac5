// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lockkeeper.Lease;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.testservers.RedisCluster;
import io.lockkeeper.testservers.RedisSentinels;
import io.lockkeeper.testservers.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.Connection;
import redis.clients.jedis.ConnectionPoolConfig;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.RedisClusterClient;
import redis.clients.jedis.RedisSentinelClient;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.util.Pool;

/** Stores on clients that the user brings along. */
class OwnClientTest {
    private static final LockOptions LEASE = LockOptions.defaults().lease(Duration.ofSeconds(2));
    private static final JedisClientConfig PATIENT =
            DefaultJedisClientConfig.builder().timeoutMillis(10_000).build();

    private static Set<HostAndPort> hosts(String addresses) {
        return Arrays.stream(addresses.split(",")).map(HostAndPort::from).collect(Collectors.toSet());
    }

    /** Holds that are kept alive, hand-over by signal, latches; and the client is as before. */
    private static void locksAreKept(UnifiedJedis client) throws Exception {
        try (RedisStore store = RedisStore.of(client);
                RedisStore second = RedisStore.of(client, RedisOptions.defaults());
                Lockkeeper a = Lockkeeper.builder(store)
                        .operationTimeout(Duration.ofSeconds(20))
                        .build();
                Lockkeeper b = Lockkeeper.builder(second)
                        .operationTimeout(Duration.ofSeconds(20))
                        .build()) {
            assertThat(store.id()).isEqualTo(second.id());
            for (int i = 0; i < 20; i++) {
                String name = "name" + i;
                Lease lease = a.lock(name, LEASE).acquire();
                CompletableFuture<Lease> waiting = b.lock(name, LEASE).acquireAsync();
                Admin.await(
                        "it waits",
                        () -> b.inspector().inspect(name).orElseThrow().waiters() == 1);
                assertThat(lease.release()).isTrue();
                assertThat(waiting.get(Admin.LONG.toSeconds(), TimeUnit.SECONDS).release())
                        .isTrue();
            }
            Lease kept = a.lock("kept", LEASE).acquire();
            assertThat(b.inspector().list("k", 10)).hasSize(1);
            Admin.await("it is renewed", () -> {
                assertThat(kept.isValid()).isTrue();
                return a.inspector()
                        .inspect("kept")
                        .orElseThrow()
                        .holders()
                        .get(0)
                        .since()
                        .plusSeconds(3)
                        .isBefore(java.time.Instant.now());
            });
            assertThat(kept.release()).isTrue();
        }
        assertThat(client.set("the user's own", "1"))
                .as("the client was not closed")
                .isEqualTo("OK");
    }

    @Test
    void onOneServer() throws Exception {
        try (RedisServer server = RedisServer.start();
                RedisClient client = RedisClient.builder()
                        .hostAndPort(server.host(), server.port())
                        .clientConfig(PATIENT)
                        .build()) {
            locksAreKept(client);
            Admin.await("connections are given back", () -> client.getPool().getNumActive() == 0);
        }
    }

    private static ConnectionPoolConfig atMost(int connections) {
        ConnectionPoolConfig config = new ConnectionPoolConfig();
        config.setMaxTotal(connections);
        config.setMaxWait(Duration.ofMillis(-1)); // as long as it takes: the built-in
        return config;
    }

    /** Takes all connections of the pools away while a lock is held: it is kept, and other steps fail in time. */
    private static void locksSurviveExhaustion(
            UnifiedJedis client, Supplier<? extends Collection<? extends Pool<Connection>>> pools) throws Exception {
        Duration operation = Duration.ofSeconds(1);
        List<Connection> taken = new ArrayList<>();
        try (RedisStore store = RedisStore.of(client, RedisOptions.defaults().operationTimeout(operation));
                Lockkeeper keeper =
                        Lockkeeper.builder(store).operationTimeout(operation).build()) {
            Lease held = keeper.lock("held", LockOptions.defaults().lease(Duration.ofSeconds(3)))
                    .acquire();
            for (Pool<Connection> pool : pools.get()) {
                while (pool.getNumActive() < pool.getMaxTotal()) {
                    taken.add(pool.getResource());
                }
            }
            long start = System.nanoTime();
            assertThatThrownBy(() -> keeper.lock("other").tryAcquire())
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining("connections");
            assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(operation.multipliedBy(4));
            Admin.await("longer than the lease", () -> {
                assertThat(held.isValid()).isTrue();
                return System.nanoTime() - start > Duration.ofMillis(3_500).toNanos();
            });
            taken.forEach(Connection::close);
            taken.clear();
            assertThat(held.release()).isTrue();
            keeper.lock("other").acquire().close();
        } finally {
            taken.forEach(Connection::close);
        }
    }

    @Test
    void onAPoolThatOthersHaveExhausted() throws Exception { // H63
        try (RedisServer server = RedisServer.start();
                RedisClient client = RedisClient.builder()
                        .hostAndPort(server.host(), server.port())
                        .clientConfig(PATIENT)
                        .poolConfig(atMost(2))
                        .build()) {
            locksSurviveExhaustion(client, () -> List.of(client.getPool()));
            Admin.await("connections are given back", () -> client.getPool().getNumActive() == 0);
        }
    }

    @Test
    void aPoolThatIsTooSmallIsReportedWithTheNumberNeeded() throws Exception { // H63
        try (RedisServer server = RedisServer.start();
                RedisClient client = RedisClient.builder()
                        .hostAndPort(server.host(), server.port())
                        .clientConfig(PATIENT)
                        .poolConfig(atMost(1))
                        .build()) {
            assertThatThrownBy(() -> RedisStore.of(client))
                    .isInstanceOfSatisfying(StoreUnavailableException.class, e -> assertThat(e.worthRepeating())
                            .isFalse())
                    .hasMessageContaining("at most 1 connections; 2 are needed");
        }
    }

    @Test
    void onASentinelSet() throws Exception {
        try (RedisSentinels set = RedisSentinels.start(Duration.ofSeconds(30));
                RedisSentinelClient client = RedisSentinelClient.builder()
                        .masterName(RedisSentinels.MASTER)
                        .sentinels(hosts(set.addresses()))
                        .clientConfig(PATIENT)
                        .poolConfig(atMost(4))
                        .build()) {
            locksAreKept(client);
            locksSurviveExhaustion(
                    client, () -> client.getPrimaryNodesConnectionMap().values());
        }
    }

    @Test
    void onACluster() throws Exception {
        try (RedisCluster cluster = RedisCluster.start(Duration.ofSeconds(30));
                RedisClusterClient client = RedisClusterClient.builder()
                        .nodes(new HashSet<>(hosts(cluster.addresses())))
                        .clientConfig(PATIENT)
                        .poolConfig(atMost(4))
                        .build()) {
            locksAreKept(client);
            locksSurviveExhaustion(client, () -> client.getClusterNodes().values());
            try (RedisStore store = RedisStore.of(client)) {
                assertThat(store.lane("a").toString()).startsWith("127.0.0.1:");
            }
        }
    }

    @Test
    @SuppressWarnings("deprecation") // there is no other way to make one
    void anyOtherClientIsRefused() {
        try (UnifiedJedis other = new UnifiedJedis(
                new redis.clients.jedis.providers.PooledConnectionProvider(new HostAndPort("127.0.0.1", 1)),
                1,
                Duration.ofSeconds(1))) {
            assertThatThrownBy(() -> RedisStore.of(other))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("RedisClient");
        }
    }
}
