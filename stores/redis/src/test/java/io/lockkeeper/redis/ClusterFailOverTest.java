// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lockkeeper.Lease;
import io.lockkeeper.LeaseLost;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.testservers.RedisCluster;
import io.lockkeeper.testservers.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A shard of a Cluster dies, moves, or is gone for good; the others have nothing to do with it. */
class ClusterFailOverTest {
    private static final LockOptions LONG_LEASE = LockOptions.defaults().lease(Duration.ofSeconds(60));
    private static final List<String> NAMES =
            IntStream.range(0, 60).mapToObj(i -> "name" + i).toList();

    private RedisCluster cluster;
    private RedisStore store;

    @BeforeEach
    void start() {
        cluster = RedisCluster.start(Duration.ofSeconds(5), "--cluster-require-full-coverage", "no");
        store = RedisFixture.open(url("2s"));
    }

    @AfterEach
    void end() {
        store.close();
        cluster.close();
    }

    private String url(String operationTimeout) {
        return "redis-cluster://" + cluster.addresses() + "?operationTimeout=" + operationTimeout;
    }

    private Lockkeeper keeper(Duration operationTimeout) {
        return Lockkeeper.builder(store)
                .operationTimeout(operationTimeout)
                .patience(Duration.ofSeconds(60))
                .build();
    }

    private List<String> namesOn(RedisServer server) {
        return NAMES.stream()
                .filter(name -> store.lane(name).toString().equals(server.address()))
                .toList();
    }

    /** Another name that is kept with this one. */
    private static String sibling(String name, int number) {
        return IntStream.range(0, 100_000)
                .mapToObj(i -> "sibling" + i)
                .filter(other -> Keys.bucket(other) == Keys.bucket(name))
                .skip(number)
                .findFirst()
                .orElseThrow();
    }

    @Test
    void everyShardIsALane() {
        Map<Object, List<String>> lanes = NAMES.stream().collect(Collectors.groupingBy(store::lane));
        assertThat(lanes).hasSize(3);
        assertThat(lanes.keySet().stream().map(Object::toString))
                .containsExactlyInAnyOrderElementsOf(
                        cluster.masters().stream().map(RedisServer::address).toList());
    }

    @Test
    void holdsOnHealthyShardsAreNotTouchedByTheDeathOfAnother() throws Exception {
        RedisServer dying = cluster.servers().get(0);
        List<String> onDying = namesOn(dying);
        // Shorter than it takes to put another server in its place: who is not renewed meanwhile is lost.
        LockOptions shortLease = LockOptions.defaults().lease(Duration.ofSeconds(4));
        Map<String, LeaseLost> losses = new ConcurrentHashMap<>();
        Map<String, Lease> leases = new HashMap<>();
        try (Lockkeeper keeper = keeper(Duration.ofSeconds(30))) {
            for (String name : NAMES) {
                leases.put(name, keeper.lock(name, shortLease).acquire().onLost(loss -> losses.put(name, loss)));
            }
            dying.kill();
            Admin.await("holders on the dead shard are notified", () -> losses.keySet()
                    .containsAll(onDying));
            Admin.await("a replica takes over", () -> cluster.masters()
                    .contains(cluster.servers().get(3)));
            for (String name : onDying) {
                try (Lease again = keeper.lock(name, shortLease).acquire()) {
                    assertThat(again.token()).isGreaterThan(leases.get(name).token());
                }
            }
            assertThat(losses).containsOnlyKeys(onDying);
            assertThat(losses.values()).allMatch(loss -> loss.reason() == LeaseLost.Reason.STORE_UNREACHABLE);
            leases.forEach((name, lease) -> assertThat(lease.isValid()).as(name).isEqualTo(!onDying.contains(name)));
            for (String name : NAMES) {
                if (!onDying.contains(name)) {
                    assertThat(leases.get(name).release()).isTrue();
                }
            }
        }
    }

    @Test
    void waitersAreServedAndTokensRiseWhenAMasterIsKilledUnderLoad() throws Exception {
        RedisServer dying = cluster.servers().get(1);
        String name = namesOn(dying).get(0);
        List<String> busy = List.of(
                namesOn(dying).get(1),
                namesOn(cluster.servers().get(0)).get(0),
                namesOn(cluster.servers().get(2)).get(0));
        try (RedisStore other = RedisFixture.open(url("2s"));
                Lockkeeper a = keeper(Duration.ofSeconds(30));
                Lockkeeper b = Lockkeeper.builder(other)
                        .operationTimeout(Duration.ofSeconds(30))
                        .patience(Duration.ofSeconds(60))
                        .build();
                Load load = new Load(List.of(a, b, b), busy)) {
            Lease held = a.lock(name, LONG_LEASE).acquire();
            CompletableFuture<Lease> waiting = b.lock(name, LONG_LEASE).acquireAsync();
            Admin.await(
                    "it waits", () -> a.inspector().inspect(name).orElseThrow().waiters() == 1);
            load.awaitCycles(3);
            RedisServer replica = cluster.servers().get(4);
            Admin.await("the replica has the queue", () -> new Admin(replica).hasQueue(name));
            dying.kill();
            Map<String, Long> before = load.tokens();
            load.awaitCycles(5);
            load.tokens().forEach((each, token) -> assertThat(token).as(each).isGreaterThan(before.get(each)));
            assertThat(cluster.masters()).contains(replica);
            assertThat(held.isValid()).isTrue();
            assertThat(a.inspector().check(held.sequencer())).isTrue();
            assertThat(held.release()).isTrue();
            try (Lease next = waiting.get(Admin.LONG.toSeconds(), TimeUnit.SECONDS)) {
                assertThat(next.token()).isGreaterThan(held.token());
            }
            assertThat(load.failures()).isEmpty();
        }
    }

    @Test
    void aShardThatIsGoneForGoodIsAnErrorForItsNamesAlone() throws Exception { // H36, H43
        RedisServer master = cluster.servers().get(2);
        String gone = namesOn(master).get(0);
        String alive = namesOn(cluster.servers().get(0)).get(0);
        try (Lockkeeper keeper = keeper(Duration.ofSeconds(2))) {
            keeper.lock(gone, LONG_LEASE).acquire().close();
            cluster.servers().get(5).kill();
            master.kill();
            for (int i = 0; i < 3; i++) {
                assertThatThrownBy(() -> keeper.lock(gone, LONG_LEASE).tryAcquire())
                        .isInstanceOf(StoreUnavailableException.class);
                keeper.lock(alive, LONG_LEASE).acquire().close();
            }
            Admin.await("the others know", () -> new Admin(cluster.servers().get(0))
                    .text("CLUSTER", "NODES")
                    .lines()
                    .anyMatch(line -> line.contains(master.address()) && line.contains("master,fail ")));
            assertThatThrownBy(() -> keeper.lock(gone, LONG_LEASE).tryAcquire())
                    .isInstanceOf(StoreUnavailableException.class);
            keeper.lock(alive, LONG_LEASE).acquire().close();
            master.restart();
            Admin.await("it is back", () -> {
                try {
                    return keeper.lock(gone, LONG_LEASE)
                            .tryAcquire()
                            .map(Lease::release)
                            .orElse(false);
                } catch (StoreUnavailableException e) {
                    return false;
                }
            });
        }
    }

    /** Nothing breaks, and no slot in use was there: the one that waits has to find out by itself. */
    @Test
    void aServerThatLeavesTheClusterIsListenedToNoLonger() throws Exception {
        try (Lockkeeper a = keeper(Duration.ofSeconds(30));
                Lockkeeper b = keeper(Duration.ofSeconds(30))) {
            a.lock("x", LONG_LEASE).acquire().close();
            RedisServer leaving = cluster.masters().stream()
                    .filter(ClusterFailOverTest::isListenedTo)
                    .findFirst()
                    .orElseThrow();
            RedisServer replica = cluster.servers().get(cluster.servers().indexOf(leaving) + 3);
            List<RedisServer> staying = new ArrayList<>(cluster.servers());
            staying.removeAll(List.of(leaving, replica));
            String name = NAMES.stream()
                    .filter(each -> !store.lane(each).toString().equals(leaving.address()))
                    .findFirst()
                    .orElseThrow();
            Lease held = a.lock(name, LONG_LEASE).acquire();
            CompletableFuture<Lease> waiting = b.lock(name, LONG_LEASE).acquireAsync();
            String id = new Admin(leaving).text("CLUSTER", "MYID");
            replica.kill(); // it would not forget its master
            new Admin(leaving).ask("FLUSHALL");
            for (RedisServer server : staying) {
                new Admin(server).ask("CLUSTER", "FORGET", id);
            }
            new Admin(leaving).ask("CLUSTER", "RESET", "SOFT");
            Admin.await("nobody listens there any more", () -> !isListenedTo(leaving));
            Admin.await("it listens elsewhere", () -> staying.stream().anyMatch(server -> isListenedTo(server)));
            assertThat(held.release()).isTrue();
            waiting.get(Admin.LONG.toSeconds(), TimeUnit.SECONDS).close();
        }
    }

    private static boolean isListenedTo(RedisServer server) {
        return !new Admin(server).text("CLIENT", "LIST", "TYPE", "pubsub").isBlank();
    }

    /** Moves all keys of a slot, which the servers know to be moving. */
    private static void moveKeys(Admin source, RedisServer to, String slot) {
        List<String> move = new ArrayList<>(List.of(to.host(), Integer.toString(to.port()), "", "0", "20000", "KEYS"));
        ((List<?>) source.ask("CLUSTER", "GETKEYSINSLOT", slot, "1000")).forEach(key -> move.add(Admin.text(key)));
        source.ask("MIGRATE", move.toArray(String[]::new));
    }

    @Test
    void aSlotThatMovesTakesItsLocksAlong() throws Exception { // MOVED, ASK, TRYAGAIN
        RedisServer from = cluster.servers().get(0);
        RedisServer to = cluster.servers().get(1);
        Admin source = new Admin(from);
        Admin target = new Admin(to);
        String name = namesOn(from).get(0);
        String slot = Integer.toString(Keys.slot(Keys.bucket(name)));
        try (Lockkeeper a = keeper(Duration.ofSeconds(30));
                Lockkeeper b = keeper(Duration.ofSeconds(30))) {
            Lease held = a.lock(name, LONG_LEASE).acquire();
            String beside = sibling(name, 0);
            String crowded = sibling(name, 1);
            Lease fixed = a.lock(sibling(name, 2), LockOptions.defaults().fixedLease(Duration.ofSeconds(60)))
                    .acquire();
            List<Lease> readers = List.of(
                    a.readWriteLock(crowded, LONG_LEASE).readLock().acquire(),
                    b.readWriteLock(crowded, LONG_LEASE).readLock().acquire());
            CompletableFuture<Lease> waiting = b.lock(name, LONG_LEASE).acquireAsync();
            Admin.await(
                    "it waits", () -> a.inspector().inspect(name).orElseThrow().waiters() == 1);
            String targetId = target.text("CLUSTER", "MYID");
            target.ask("CLUSTER", "SETSLOT", slot, "IMPORTING", source.text("CLUSTER", "MYID"));
            source.ask("CLUSTER", "SETSLOT", slot, "MIGRATING", targetId);
            CompletableFuture<Lease> late = b.lock(name, LONG_LEASE.fair(true)).acquireAsync();
            Admin.await("there are keys on both sides", () -> source.errors("TRYAGAIN") > 0);
            moveKeys(source, to, slot);
            assertThat(a.inspector().check(held.sequencer())).isTrue();
            assertThat(source.errors("ASK")).isPositive();
            assertThat(readers).allMatch(reader -> a.inspector().check(reader.sequencer()));
            assertThat(fixed.renew(Duration.ofSeconds(70))).isTrue();
            assertThat(fixed.release()).isTrue();
            assertThat(a.lock(beside, LONG_LEASE).acquire().release()).isTrue();
            assertThat(late).as("it needs keys that do not exist").isNotDone();
            assertThat(source.errors("MOVED")).isZero();
            List.of(to, from, cluster.servers().get(2))
                    .forEach(master -> new Admin(master).ask("CLUSTER", "SETSLOT", slot, "NODE", targetId));
            assertThat(a.inspector().check(held.sequencer())).isTrue();
            assertThat(source.errors("MOVED")).isPositive();
            readers.forEach(reader -> assertThat(reader.release()).isTrue());
            assertThat(held.release()).isTrue();
            Lease next = waiting.get(Admin.LONG.toSeconds(), TimeUnit.SECONDS);
            assertThat(next.token()).isGreaterThan(held.token());
            next.release();
            late.get(Admin.LONG.toSeconds(), TimeUnit.SECONDS).release();
            Admin.await(
                    "its lane is the other shard",
                    () -> store.lane(name).toString().equals(to.address()));
        }
    }

    @Test
    void aSlotThatNobodyServesIsAnErrorThatPasses() throws Exception { // CLUSTERDOWN
        RedisServer owner = cluster.servers().get(0);
        String name = namesOn(owner).get(0);
        String slot = Integer.toString(Keys.slot(Keys.bucket(name)));
        try (Lockkeeper a = keeper(Duration.ofSeconds(2));
                Lockkeeper b = keeper(Duration.ofSeconds(2));
                Lockkeeper c = keeper(Duration.ofSeconds(2))) {
            Lease held = a.lock(name, LONG_LEASE).acquire();
            CompletableFuture<Lease> waiting = b.lock(name, LONG_LEASE).acquireAsync();
            Admin.await(
                    "it waits", () -> a.inspector().inspect(name).orElseThrow().waiters() == 1);
            for (RedisServer server : cluster.servers()) {
                new Admin(server).ask("CLUSTER", "DELSLOTS", slot);
            }
            for (int i = 0; i < 2; i++) { // the server says so first, then our own map
                assertThatThrownBy(() -> c.lock(name, LONG_LEASE).tryAcquire())
                        .isInstanceOfSatisfying(StoreUnavailableException.class, e -> assertThat(e.worthRepeating())
                                .isTrue())
                        .hasMessageContaining("CLUSTERDOWN");
            }
            assertThat(new Admin(owner).errors("CLUSTERDOWN")).isPositive();
            assertThat(held.isValid()).isTrue();
            new Admin(owner).ask("CLUSTER", "ADDSLOTS", slot);
            Admin.await("it is served again", () -> a.inspector().check(held.sequencer()));
            assertThat(held.release()).isTrue();
            try (Lease next = waiting.get(Admin.LONG.toSeconds(), TimeUnit.SECONDS)) {
                assertThat(next.token()).isGreaterThan(held.token());
            }
        }
    }
}
