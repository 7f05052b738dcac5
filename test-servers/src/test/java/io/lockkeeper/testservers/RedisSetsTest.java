// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testservers;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Several Redis servers that belong together. */
@Timeout(180)
class RedisSetsTest {
    private static final Duration LONG = Duration.ofSeconds(60);

    @BeforeAll
    static void find() {
        Servers.require(ServerKind.REDIS, Assumptions::abort);
    }

    @Test
    void sentinelsPutAReplicaInThePlaceOfADeadMaster() {
        try (RedisSentinels set = RedisSentinels.start(Duration.ofSeconds(1))) {
            RedisServer first = set.master();
            assertThat(first).isSameAs(set.servers().get(0));
            assertThat(RedisConsole.ask(first.port(), "SET a 1")).isEqualTo("OK");
            assertThat(RedisConsole.ask(first.port(), "WAIT 2 20000")).isEqualTo("2");
            first.kill();
            Awaitility.await().atMost(LONG).until(() -> set.master() != first);
            RedisServer second = set.master();
            Awaitility.await().atMost(LONG).ignoreExceptions().until(() -> RedisConsole.ask(second.port(), "INCR a")
                    .equals("2"));
        }
    }

    @Test
    void aClusterPutsAReplicaInThePlaceOfADeadMaster() {
        try (RedisCluster cluster = RedisCluster.start(Duration.ofSeconds(1))) {
            assertThat(cluster.masters()).hasSize(3);
            RedisServer first = cluster.servers().get(0);
            RedisServer replica = cluster.servers().get(3);
            assertThat(RedisConsole.ask(first.port(), "SET {b}a 1")).isEqualTo("OK"); // slot 3300
            assertThat(RedisConsole.ask(first.port(), "WAIT 1 20000")).isEqualTo("1");
            first.kill();
            Awaitility.await().atMost(LONG).ignoreExceptions().until(() -> RedisConsole.ask(replica.port(), "INCR {b}a")
                    .equals("2"));
            assertThat(cluster.masters()).hasSize(3).contains(replica);
        }
    }
}
