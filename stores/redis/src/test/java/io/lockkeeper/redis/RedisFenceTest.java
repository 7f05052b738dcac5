// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lockkeeper.DistributedLock;
import io.lockkeeper.Fence;
import io.lockkeeper.Lease;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.Mode;
import io.lockkeeper.Sequencer;
import io.lockkeeper.StaleTokenException;
import io.lockkeeper.testservers.RedisCluster;
import io.lockkeeper.testservers.RedisServer;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.RedisClusterClient;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisException;

/** A fence in Redis refuses what comes late, and then writes nothing. */
class RedisFenceTest {
    private static RedisServer server;
    private static RedisClient client;

    private final RedisFence fence = RedisFence.of(client);

    @BeforeAll
    static void start() {
        server = RedisServer.start();
        client = RedisClient.create(new HostAndPort(server.host(), server.port()));
    }

    @AfterAll
    static void end() {
        client.close();
        server.close();
    }

    @BeforeEach
    void clear() {
        client.flushAll();
    }

    private static Sequencer exclusive(long token) {
        return new Sequencer("a", Mode.EXCLUSIVE, token);
    }

    private static Sequencer shared(long token) {
        return new Sequencer("a", Mode.SHARED, token);
    }

    private void refuses(Sequencer sequencer, long seen) {
        assertThatThrownBy(() -> fence.enter(sequencer)).isInstanceOfSatisfying(StaleTokenException.class, e -> {
            assertThat(e.token()).isEqualTo(sequencer.token());
            assertThat(e.seen()).isEqualTo(seen);
        });
    }

    @Test
    void itAdmitsWhatAFenceInMemoryAdmits() {
        Random random = new Random(7);
        Fence.InMemory judge = Fence.inMemory();
        int refused = 0;
        for (int i = 0; i < 2_000; i++) {
            long token = i / 10L + random.nextInt(12) + 1; // 9 and 10, 99 and 100 meet
            Sequencer next = random.nextInt(3) == 0 ? shared(token) : exclusive(token);
            String expected = outcome(judge, next);
            assertThat(outcome(fence, next)).as(i + ": " + next).isEqualTo(expected);
            refused += expected.isEmpty() ? 0 : 1;
        }
        assertThat(refused).isBetween(100, 1_900);
    }

    private static String outcome(Fence fence, Sequencer next) {
        try {
            fence.enter(next);
            return "";
        } catch (StaleTokenException e) {
            return e.token() + " after " + e.seen();
        }
    }

    @Test
    void tokensThatADoubleDoesNotHoldAreComparedExactly() {
        long large = (1L << 60) + 1;
        fence.enter(exclusive(large));
        refuses(exclusive(large - 1), large);
        fence.enter(exclusive(large));
        refuses(shared(large), large);
        fence.enter(shared(large + 1));
        refuses(exclusive(large), large + 1);
        fence.enter(exclusive(Long.MAX_VALUE));
        refuses(exclusive(Long.MAX_VALUE - 1), Long.MAX_VALUE);
    }

    @Test
    void permitsAreRefused() {
        assertThatThrownBy(() -> fence.enter(new Sequencer("a", Mode.PERMITS, 1)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("permits");
        assertThat(client.keys("*")).isEmpty();
    }

    @Test
    void aStaleWriteWritesNothing() {
        assertThat(fence.write(exclusive(33), "SET", "balance", "100")).isEqualTo("OK");
        assertThat(fence.write(exclusive(33), "INCRBY", "balance", "-10")).isEqualTo(90L);
        fence.enter(exclusive(34)); // has only read
        assertThatThrownBy(() -> fence.write(exclusive(33), "SET", "balance", "80"))
                .isInstanceOf(StaleTokenException.class);
        assertThatThrownBy(() ->
                        fence.eval(exclusive(33), "return redis.call('DEL', KEYS[1])", List.of("balance"), List.of()))
                .isInstanceOf(StaleTokenException.class);
        assertThat(client.get("balance")).isEqualTo("90");
    }

    @Test
    void aScriptSeesItsOwnKeysAndArgumentsAndMayReturnNothing() {
        Object answer = fence.eval(
                exclusive(1),
                "redis.call('SET', KEYS[1], ARGV[1]) redis.call('SET', KEYS[2], ARGV[2]) return {#KEYS, #ARGV}",
                List.of("one", "two"),
                List.of("1", "2"));
        assertThat(answer).isEqualTo(List.of(2L, 2L));
        assertThat(client.mget("one", "two")).containsExactly("1", "2");
        assertThat(fence.eval(exclusive(1), "redis.call('DEL', KEYS[1])", List.of("one"), List.of()))
                .isNull();
        assertThat(fence.write(exclusive(1), "GET", "one")).isNull();
    }

    @Test
    void aFailedCommandIsThrownAsTheClientThrowsIt() {
        client.set("text", "x");
        assertThatThrownBy(() -> fence.write(exclusive(5), "INCR", "text")).isInstanceOf(JedisDataException.class);
        refuses(exclusive(4), 5);
    }

    @Test
    void aMarkOfAnUnknownFormatIsRejected() {
        client.set("lockkeeper-fence:{a}", "2 5 5 5");
        assertThatThrownBy(() -> fence.enter(exclusive(1)))
                .isInstanceOf(JedisDataException.class)
                .hasMessageContaining("lockkeeper-fence:{a}");
    }

    @Test
    void scriptsAreSentAgainAfterTheServerHasLostThem() {
        fence.enter(exclusive(1));
        client.scriptFlush();
        fence.enter(exclusive(2));
        refuses(exclusive(1), 2);
    }

    @Test
    void eachNameHasItsOwnMarkHoweverItIsWritten() {
        for (String name : List.of("a", "A", "a}", "{a}", "é", "e\u0301", "a b", "%61")) {
            fence.enter(new Sequencer(name, Mode.EXCLUSIVE, 9));
            fence.enter(new Sequencer(name + "-", Mode.EXCLUSIVE, 1));
        }
        assertThat(client.keys("lockkeeper-fence:*")).hasSize(16);
    }

    @Test
    void aLeaseOnSeveralLocksEntersWithAllOfThemOrNone() throws Exception {
        try (Lockkeeper keeper = Lockkeeper.connect("memory:")) {
            Lease both = DistributedLock.all(keeper.lock("a"), keeper.lock("b")).acquire();
            fence.enter(both);
            assertThat(fence.write(both, "SET", "k", "v")).isEqualTo("OK");
            assertThat(both.release()).isTrue();
            Lease later = keeper.lock("b").acquire();
            fence.enter(later);
            assertThatThrownBy(() -> fence.write(both, "SET", "k", "late"))
                    .isInstanceOf(StaleTokenException.class)
                    .hasMessageContaining("'b'");
            assertThat(client.get("k")).isEqualTo("v");
        }
    }

    @Test
    void itGuardsKeysOfOneSlotInACluster() {
        try (RedisCluster cluster = RedisCluster.start(Duration.ofMinutes(1));
                UnifiedJedis nodes = RedisClusterClient.create(
                        Arrays.stream(cluster.addresses().split(","))
                                .map(HostAndPort::from)
                                .collect(Collectors.toSet()))) {
            RedisFence byName = RedisFence.of(nodes);
            for (int i = 0; i < 20; i++) { // on all shards
                String name = "account/" + i;
                String key = "balance:{" + name + "}";
                byName.enter(new Sequencer(name, Mode.EXCLUSIVE, 9));
                assertThat(byName.write(new Sequencer(name, Mode.EXCLUSIVE, 10), "SET", key, "1"))
                        .isEqualTo("OK");
                assertThatThrownBy(() -> byName.write(new Sequencer(name, Mode.EXCLUSIVE, 9), "SET", key, "2"))
                        .isInstanceOf(StaleTokenException.class);
                assertThat(nodes.get(key)).isEqualTo("1");
            }
            RedisFence byTenant = RedisFence.of(nodes, name -> "mark:{tenant}:" + name);
            byTenant.enter(exclusive(2));
            assertThat(byTenant.write(exclusive(2), "HSET", "{tenant}:data", "f", "v"))
                    .isEqualTo(1L);
            assertThatThrownBy(() -> byTenant.write(exclusive(2), "SET", "elsewhere", "x"))
                    .isInstanceOf(JedisException.class);
            assertThat(nodes.exists("elsewhere")).isFalse();
        }
    }
}
