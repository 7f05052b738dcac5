// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lockkeeper.Lease;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.testservers.RedisCluster;
import io.lockkeeper.testservers.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** What a keeper finds when it starts: a Cluster that is known by a single address, a shard that is down. */
class ClusterStartTest {
    private static final LockOptions LEASE = LockOptions.defaults().lease(Duration.ofSeconds(6));

    @Test
    void aServerInClusterModeServesAllBucketsByOneAddress() throws Exception { // H97
        try (RedisServer server = RedisCluster.startOneNode();
                Lockkeeper keeper = Lockkeeper.builder("redis://" + server.address())
                        .operationTimeout(Duration.ofSeconds(10))
                        .build()) {
            List<Lease> leases = new ArrayList<>();
            for (String name : List.of("a", "b", "c", "d", "e")) {
                leases.add(keeper.lock(name, LEASE).acquire());
            }
            assertThat(leases.stream().map(lease -> Keys.bucket(lease.name())).distinct())
                    .hasSize(5);
            Map<Lease, Duration> last = new HashMap<>();
            Set<Lease> renewed = new HashSet<>();
            Admin.await("all are renewed", () -> {
                for (Lease lease : leases) {
                    assertThat(lease.isValid()).isTrue();
                    Duration now = lease.remaining();
                    Duration before = last.put(lease, now);
                    if (before != null && now.compareTo(before) > 0) {
                        renewed.add(lease);
                    }
                }
                return renewed.size() == leases.size();
            });
            assertThat(new Admin(server).errors("CROSSSLOT")).isZero();
            assertThat(leases).allMatch(Lease::release);
        }
    }

    @Test
    void aNodeOfALargerClusterIsRejectedAndAShardThatIsDownIsNot() throws Exception { // H97
        try (RedisCluster cluster =
                RedisCluster.start(Duration.ofMinutes(1), "--cluster-require-full-coverage", "no")) {
            String node = cluster.masters().get(2).address();
            assertThatThrownBy(() -> Lockkeeper.connect("redis://" + node))
                    .isInstanceOfSatisfying(StoreUnavailableException.class, e -> assertThat(e.worthRepeating())
                            .isFalse())
                    .hasMessageContaining(node)
                    .hasMessageContaining("redis-cluster:");

            String url = "redis-cluster://" + cluster.addresses() + "?operationTimeout=2s";
            String id;
            try (RedisStore before = RedisFixture.open(url)) {
                id = before.id();
            }
            RedisServer dead = ownerOfTheId(cluster);
            dead.kill();
            try (RedisStore store = RedisFixture.open(url);
                    Lockkeeper keeper = Lockkeeper.on(store)) {
                assertThat(store.id()).isEqualTo(id);
                String served = IntStream.range(0, 1_000)
                        .mapToObj(i -> "name" + i)
                        .filter(name -> !store.lane(name).toString().equals(dead.address()))
                        .findFirst()
                        .orElseThrow();
                keeper.lock(served).acquire().close();
            }
        }
    }

    private static RedisServer ownerOfTheId(RedisCluster cluster) {
        return cluster.masters().stream()
                .filter(master -> ((List<?>) new Admin(master).ask("KEYS", "lockkeeper:id")).size() == 1)
                .findFirst()
                .orElseThrow();
    }
}
