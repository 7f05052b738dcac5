// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.lockkeeper.DistributedLock;
import io.lockkeeper.Lease;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.tck.Tier;
import io.lockkeeper.testservers.ZooKeeperServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** How many requests things cost, by the server's own count. Sessions are long, so that no sign of life is among them. */
class RequestsTest {
    private static final Duration LONG = Duration.ofSeconds(60);

    private static ZooKeeperServer server;

    @BeforeAll
    static void start() {
        server = ZooKeeperServer.start();
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    private static Lockkeeper keeper() {
        return Lockkeeper.builder("zookeeper://" + server.address() + "?session=1h&operationTimeout=20s")
                .patience(Duration.ofHours(1))
                .build();
    }

    /** A lock that nobody looks at again by itself. */
    private static DistributedLock lock(Lockkeeper keeper, String name) {
        return keeper.lock(
                name, LockOptions.defaults().lease(Duration.ofHours(2)).fair(true));
    }

    @Test
    void anUncontendedAcquisitionIsOneRequestAndItsReleaseAnother() throws Exception {
        int cycles = 50;
        try (Lockkeeper keeper = keeper()) {
            lock(keeper, "alone").acquire().close(); // makes the folder
            long before = server.received();
            for (int i = 0; i < cycles; i++) {
                lock(keeper, "alone").acquire().close();
            }
            assertThat(server.received() - before).isEqualTo(2L * cycles);
        }
    }

    @Test
    void anAttemptThatDoesNotWaitReadsOnlyWhatDecidesIt() throws Exception {
        int attempts = 20;
        try (Lockkeeper holder = keeper();
                Lockkeeper other = keeper()) {
            Lease lease = lock(holder, "taken").acquire();
            assertThat(lock(other, "taken").tryAcquire()).isEmpty(); // from now on it knows that the name is in use
            long before = server.received();
            for (int i = 0; i < attempts; i++) {
                assertThat(lock(other, "taken").tryAcquire()).isEmpty();
            }
            assertThat(server.received() - before)
                    .as("a sync, the claims of the name, and the holder's, for it may be overdue")
                    .isLessThanOrEqualTo(3L * attempts);
            assertThat(lease.release()).isTrue();
        }
    }

    @Test
    void reentryAndValidityCostNoRequest() throws Exception {
        try (Lockkeeper keeper = keeper()) {
            DistributedLock lock = lock(keeper, "again");
            lock.lock();
            long before = server.received();
            for (int i = 0; i < 100; i++) {
                lock.lock();
                assertThat(lock.lease().isValid()).isTrue();
                lock.unlock();
            }
            assertThat(server.received()).isEqualTo(before);
            lock.unlock();
        }
    }

    @Test
    void aHandOffCostsTheSameWithFewAndWithManyWaiters() throws Exception {
        double few = requestsAHandOff(2);
        double many = requestsAHandOff(Tier.pick(100, 500));
        assertThat(few).isLessThanOrEqualTo(8);
        assertThat(many).isLessThanOrEqualTo(few + 1);
    }

    /** Grants that many claims one after another, and counts what each costs. */
    private static double requestsAHandOff(int waiters) throws Exception {
        String name = "queue-" + waiters;
        List<Lockkeeper> keepers = new ArrayList<>();
        try {
            for (int i = 0; i < 4; i++) {
                keepers.add(keeper());
            }
            Lease lease = lock(keepers.get(0), name).acquire();
            List<CompletableFuture<Lease>> waiting = new ArrayList<>();
            for (int i = 0; i < waiters; i++) {
                waiting.add(lock(keepers.get(i % keepers.size()), name).acquireAsync());
            }
            awaitWaiters(keepers.get(0), name, waiters);
            long before = server.received();
            for (int i = 0; i < waiters; i++) {
                lease.release();
                lease = CompletableFuture.anyOf(waiting.toArray(CompletableFuture[]::new))
                        .thenApply(Lease.class::cast)
                        .get(LONG.toSeconds(), TimeUnit.SECONDS);
                waiting.removeIf(CompletableFuture::isDone);
                assertThat(waiting).as("exactly one acquires").hasSize(waiters - i - 1);
            }
            double each = (double) (server.received() - before) / waiters;
            lease.release();
            return each;
        } finally {
            keepers.forEach(Lockkeeper::close);
        }
    }

    /** Threads of one client share its session: a release of one is the grant to the next, without a look. */
    @Test
    void aHandOffWithinAClientIsTheReleaseAlone() throws Exception {
        int handOffs = 20;
        try (Lockkeeper keeper = keeper()) {
            long requests = 0;
            Lease lease = lock(keeper, "within").acquire();
            for (int i = 0; i < handOffs; i++) {
                CompletableFuture<Lease> waiting = lock(keeper, "within").acquireAsync();
                awaitWaiters(keeper, "within", 1);
                keeper.inspector().inspect("within"); // whatever it asked for its place has come
                long before = server.received();
                assertThat(lease.release()).isTrue();
                lease = waiting.get(LONG.toSeconds(), TimeUnit.SECONDS);
                requests += server.received() - before;
            }
            assertThat(requests)
                    .as("the release, and an attempt to remove the name's node")
                    .isLessThanOrEqualTo(2L * handOffs);
            assertThat(lease.release()).isTrue();
        }
    }

    /** A client whose session is known to the server's counters. */
    private record Client(CuratorFramework curator, ZooKeeperStore store, Lockkeeper keeper) implements AutoCloseable {
        static Client open() throws Exception {
            CuratorFramework curator =
                    CuratorFrameworkFactory.newClient(server.address(), 3_600_000, 20_000, new RetryOneTime(100));
            curator.start();
            assertThat(curator.blockUntilConnected(60, TimeUnit.SECONDS)).isTrue();
            ZooKeeperStore store = ZooKeeperStore.of(curator, "/lockkeeper", List.of(), Duration.ofSeconds(20));
            return new Client(
                    curator,
                    store,
                    Lockkeeper.builder(store).patience(Duration.ofHours(1)).build());
        }

        long sent() throws Exception {
            return server.sent(curator.getZookeeperClient().getZooKeeper().getSessionId());
        }

        @Override
        public void close() {
            keeper.close();
            store.close();
            curator.close();
        }
    }

    private static void awaitWaiters(Lockkeeper keeper, String name, int waiters) {
        await().atMost(LONG)
                .until(() -> keeper.inspector().inspect(name).orElseThrow().waiters() == waiters);
    }

    @Test
    void aReleaseWakesOnlyTheNextClient() throws Exception {
        try (Client holder = Client.open();
                Client next = Client.open();
                Client third = Client.open();
                Client fourth = Client.open()) {
            Lease lease = lock(holder.keeper, "herd").acquire();
            List<CompletableFuture<Lease>> waiting = new ArrayList<>();
            for (Client client : List.of(next, third, fourth)) {
                waiting.add(lock(client.keeper, "herd").acquireAsync());
                awaitWaiters(holder.keeper, "herd", waiting.size());
                client.keeper.inspector().inspect("herd"); // whatever it was sent for its place has come
            }
            long nextBefore = next.sent();
            long thirdBefore = third.sent();
            long fourthBefore = fourth.sent();
            assertThat(lease.release()).isTrue();
            Lease second = waiting.get(0).get(LONG.toSeconds(), TimeUnit.SECONDS);
            assertThat(next.sent()).isGreaterThan(nextBefore);
            assertThat(third.sent()).isEqualTo(thirdBefore);
            assertThat(fourth.sent()).isEqualTo(fourthBefore);
            assertThat(second.release()).isTrue();
            assertThat(waiting.get(1).get(LONG.toSeconds(), TimeUnit.SECONDS).release())
                    .isTrue();
            assertThat(waiting.get(2).get(LONG.toSeconds(), TimeUnit.SECONDS).release())
                    .isTrue();
        }
    }

    @Test
    void aReleaseAdmitsAGroupOfReadersTogetherAndNotTheWriterAfterThem() throws Exception {
        LockOptions options = LockOptions.defaults().lease(Duration.ofHours(2)).fair(true);
        try (Client writer = Client.open();
                Client readers = Client.open();
                Client others = Client.open();
                Client last = Client.open()) {
            Lease lease =
                    writer.keeper.readWriteLock("group", options).writeLock().acquire();
            List<CompletableFuture<Lease>> reading = new ArrayList<>();
            for (int i = 0; i < 6; i++) {
                Lockkeeper keeper = (i % 2 == 0 ? readers : others).keeper;
                reading.add(keeper.readWriteLock("group", options).readLock().acquireAsync());
                awaitWaiters(writer.keeper, "group", i + 1);
            }
            CompletableFuture<Lease> writing =
                    last.keeper.readWriteLock("group", options).writeLock().acquireAsync();
            awaitWaiters(writer.keeper, "group", 7);
            assertThat(lease.release()).isTrue();
            List<Lease> shares = new ArrayList<>();
            for (CompletableFuture<Lease> each : reading) {
                shares.add(each.get(LONG.toSeconds(), TimeUnit.SECONDS));
            }
            assertThat(shares).allMatch(Lease::isValid);
            assertThat(writing).isNotDone();
            shares.forEach(share -> assertThat(share.release()).isTrue());
            assertThat(writing.get(LONG.toSeconds(), TimeUnit.SECONDS).release())
                    .isTrue();
        }
    }

    /** Nobody comes and nobody goes: then what a client asks for depends neither on its waiters nor on the names. */
    @Test
    void waitersThatDoNotAdvanceCostAClientAFewRequests() throws Exception { // H80
        int waiters = Tier.pick(200, 1_000);
        LockOptions fair = LockOptions.defaults().lease(Duration.ofHours(2)).fair(true);
        try (Lockkeeper holder = keeper();
                Lockkeeper waiting = Lockkeeper.builder(
                                "zookeeper://" + server.address() + "?session=1h&operationTimeout=20s")
                        .patience(Duration.ofSeconds(6)) // so that each looks every two seconds
                        .build()) {
            holder.lock("still", fair).acquire();
            for (int i = 0; i < waiters; i++) {
                holder.lock("still-" + i, fair).acquire();
                waiting.lock("still-" + i, fair).acquireAsync();
                waiting.lock("still", fair).acquireAsync();
            }
            awaitWaiters(holder, "still", waiters);
            awaitWaiters(holder, "still-" + (waiters - 1), 1);
            waiting.inspector().inspect("still");
            long before = server.received();
            long begun = System.nanoTime();
            await().atMost(LONG).until(() -> System.nanoTime() - begun > 4_200_000_000L);
            assertThat(server.received() - before)
                    .as("fewer than waiters, though each was refreshed twice")
                    .isBetween(2L, (long) waiters);
        }
    }

    @Test
    void theHeadOfASemaphoresQueueDoesNotReadAllHoldersAgain() throws Exception {
        int holders = Tier.pick(60, 300);
        LockOptions fair = LockOptions.defaults().lease(Duration.ofHours(2)).fair(true);
        try (Lockkeeper keeper = keeper();
                Lockkeeper other = keeper()) {
            List<Lease> leases = new ArrayList<>();
            for (int i = 0; i < holders; i++) {
                leases.add(keeper.semaphore("permits", holders, fair).acquire());
            }
            CompletableFuture<Lease> large =
                    other.semaphore("permits", holders, fair).acquireAsync(11);
            awaitWaiters(keeper, "permits", 1);
            other.inspector().inspect("permits");
            long before = server.received();
            for (int i = 0; i < 10; i++) {
                assertThat(leases.remove(0).release()).isTrue();
            }
            other.inspector().inspect("permits");
            assertThat(server.received() - before)
                    .as("ten releases, and a few reads for each")
                    .isLessThan(10L * 12);
            assertThat(large).isNotDone();
            assertThat(leases.remove(0).release()).isTrue();
            assertThat(large.get(LONG.toSeconds(), TimeUnit.SECONDS).release()).isTrue();
        }
    }

    @Test
    void watchesOfLatchesThatNobodyAwaitsAreRemoved() throws Exception {
        try (Lockkeeper keeper = Lockkeeper.builder("zookeeper://" + server.address() + "?session=1h")
                .operationTimeout(Duration.ofSeconds(20))
                .patience(Duration.ofSeconds(1))
                .build()) {
            assertThat(keeper.latch("unset").await(LONG)).isTrue();
            assertThat(keeper.latch("awaited").trySetCount(1)).isTrue();
            assertThat(keeper.latch("awaited").await(Duration.ofMillis(100))).isFalse();
            await().atMost(LONG).until(() -> !server.ask("wchp").contains("/lockkeeper/l/"));
            CompletableFuture<Void> waiting = keeper.latch("awaited").awaitAsync();
            await().atMost(LONG).until(() -> server.ask("wchp").contains("/lockkeeper/l/"));
            keeper.latch("awaited").countDown();
            waiting.get(LONG.toSeconds(), TimeUnit.SECONDS);
        }
    }

    /** All together cost a small write a dozen times a session, and a read for each renewal. */
    @Test
    void idleHoldsAreKeptBySignsOfLifeOfTheirSessionAndNotOneByOne() throws Exception {
        Duration session = Duration.ofSeconds(2);
        LockOptions options = LockOptions.defaults().lease(Duration.ofSeconds(4));
        try (Client looking = Client.open();
                Lockkeeper keeper =
                        Lockkeeper.connect("zookeeper://" + server.address() + "?session=2s&operationTimeout=20s")) {
            List<Lease> leases = new ArrayList<>();
            for (int i = 0; i < 100; i++) {
                leases.add(keeper.lock("idle-" + i, options).acquire());
            }
            long written = server.received();
            long begun = System.nanoTime();
            await().atMost(LONG).until(() -> System.nanoTime() - begun > 3 * session.toNanos());
            // In three sessions: twelve signs of life each, renewals each third of the lease, a few pings.
            assertThat(server.received() - written).isBetween(20L, 60L);
            for (int i = 0; i < 100; i++) {
                String path = new Layout("/lockkeeper").name("idle-" + i);
                String node =
                        path + "/" + looking.curator.getChildren().forPath(path).get(0);
                assertThat(looking.curator.checkExists().forPath(node).getVersion())
                        .as("how often it was written since it was made")
                        .isZero();
            }
            assertThat(leases).allMatch(Lease::isValid);
        }
    }
}
