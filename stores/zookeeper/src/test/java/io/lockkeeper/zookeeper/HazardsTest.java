// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.lockkeeper.Lease;
import io.lockkeeper.LeaseLost;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.Mode;
import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.ClaimId;
import io.lockkeeper.spi.Grant;
import io.lockkeeper.spi.LockStore;
import io.lockkeeper.spi.StoreUrl;
import io.lockkeeper.spi.Terms;
import io.lockkeeper.spi.Ticker;
import io.lockkeeper.testservers.ZooKeeperServer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.RetryOneTime;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** What has gone wrong with locks in ZooKeeper before. Most of it waits for sessions to end: so all at once. */
@Execution(ExecutionMode.CONCURRENT)
class HazardsTest {
    private static final Duration LONG = Duration.ofSeconds(60);
    private static final int SESSION_MILLIS = 6_000;

    private static ZooKeeperServer server;

    @BeforeAll
    static void start() {
        server = ZooKeeperServer.start();
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    private static CuratorFramework curator() throws Exception {
        CuratorFramework curator = CuratorFrameworkFactory.builder()
                .connectString(server.address())
                .sessionTimeoutMs(SESSION_MILLIS)
                .connectionTimeoutMs(5_000)
                .retryPolicy(new RetryOneTime(100))
                .build();
        curator.start();
        assertThat(curator.blockUntilConnected(60, TimeUnit.SECONDS)).isTrue();
        return curator;
    }

    private static Lockkeeper keeper() {
        return Lockkeeper.connect("zookeeper://" + server.address() + "?session=6s&operationTimeout=5s");
    }

    /** The client takes its session for lost, as after a partition, while the server still has it. */
    private static void loseSession(CuratorFramework curator) throws Exception {
        ZooKeeper old = curator.getZookeeperClient().getZooKeeper();
        old.getTestable().injectSessionExpiration();
        await().atMost(LONG)
                .until(() -> curator.getZookeeperClient().isConnected()
                        && curator.getZookeeperClient().getZooKeeper() != old);
    }

    /** Whether Curator's waiter has its node and watches another: the node alone is seen before its maker knows of it. */
    private static boolean watches(Thread waiter) {
        StackTraceElement[] stack = waiter.getStackTrace();
        return waiter.getState() == Thread.State.WAITING
                && Arrays.stream(stack).anyMatch(frame -> frame.getMethodName().equals("internalLockLoop"))
                && Arrays.stream(stack).noneMatch(frame -> frame.getClassName().startsWith("org.apache.zookeeper."));
    }

    /** What a client remembers of its hold is no evidence: it hears of a break a moment later. */
    @Test
    void aDowngradeThatIsRepeatedAfterABreakFindsNothing() {
        StoreUrl url = StoreUrl.parse("zookeeper://" + server.address() + "?session=6s&operationTimeout=5s");
        try (LockStore holder = new ZooKeeperProvider().open(url);
                LockStore operator = new ZooKeeperProvider().open(url)) {
            Terms terms =
                    new Terms(Mode.EXCLUSIVE, 1, 0, LONG, Duration.ZERO, Duration.ZERO, 3, false, "holder", "repeated");
            for (int i = 0; i < 50; i++) {
                ClaimId id = new ClaimId("holder", i);
                Claim claim = new Claim(
                        "repeated",
                        id,
                        terms,
                        holder.time(holder.lane("repeated")).plusMicros(60_000_000),
                        false);
                Grant exclusive = Grant.of(claim, (Answer.Granted) holder.claim(claim));
                Grant shared = holder.downgrade(exclusive).orElseThrow();
                assertThat(holder.downgrade(exclusive)).as("repeated").contains(shared);
                assertThat(operator.breakHold("repeated", shared.token(), Duration.ZERO, true))
                        .isTrue();
                assertThat(holder.downgrade(exclusive)).as("broken, " + i).isEmpty();
            }
        }
    }

    /** CURATOR-604: shows that the next test can fail. */
    @Test
    void curatorsOwnMutexIsGrantedOnANodeOfASessionThatDied() throws Exception {
        boolean twoHaveIt = false;
        for (int i = 0; i < 20 && !twoHaveIt; i++) { // it depends on what Curator's waiter is just doing
            twoHaveIt = curatorLetsTwoIn("/curator-604-" + i);
        }
        assertThat(twoHaveIt)
                .as("two hold it: the second was granted on a node that then went with its session")
                .isTrue();
    }

    private boolean curatorLetsTwoIn(String path) throws Exception {
        try (CuratorFramework a = curator();
                CuratorFramework b = curator();
                CuratorFramework c = curator()) {
            InterProcessMutex first = new InterProcessMutex(a, path);
            InterProcessMutex second = new InterProcessMutex(b, path);
            InterProcessMutex third = new InterProcessMutex(c, path);
            first.acquire();
            CountDownLatch acquired = new CountDownLatch(1);
            Thread waiter = new Thread(
                    () -> {
                        try {
                            second.acquire();
                            acquired.countDown();
                        } catch (Exception e) {
                            // the latch tells
                        }
                    },
                    "waiter");
            waiter.setDaemon(true);
            waiter.start();
            await().atMost(LONG).until(() -> first.getParticipantNodes().size() == 2 && watches(waiter));
            loseSession(b);
            first.release();
            return acquired.await(10, TimeUnit.SECONDS)
                    && third.acquire(10, TimeUnit.SECONDS)
                    && second.isAcquiredInThisProcess();
        }
    }

    @Test
    void aNodeOfADeadSessionIsNotAHold() throws Exception {
        try (Lockkeeper a = keeper();
                CuratorFramework b = curator();
                ZooKeeperStore store = ZooKeeperStore.of(b);
                Lockkeeper second = Lockkeeper.builder(store)
                        .operationTimeout(Duration.ofSeconds(5))
                        .build();
                Lockkeeper c = keeper()) {
            Lease first = a.lock("604").acquire();
            CompletableFuture<Lease> waiting = second.lock("604").acquireAsync();
            await().atMost(LONG)
                    .until(() -> a.inspector().inspect("604").orElseThrow().waiters() == 1);
            loseSession(b);
            assertThat(first.release()).isTrue();
            Lease lease = waiting.get(LONG.toSeconds(), TimeUnit.SECONDS);
            long granted = System.nanoTime();
            CompletableFuture<Lease> third = c.lock("604").acquireAsync();
            await().atMost(LONG)
                    .until(() -> System.nanoTime() - granted
                            > TimeUnit.MILLISECONDS.toNanos(SESSION_MILLIS + SESSION_MILLIS / 2));
            assertThat(lease.isValid()).as("its node is of the new session").isTrue();
            assertThat(third).isNotDone();
            assertThat(lease.release()).isTrue();
            assertThat(third.get(LONG.toSeconds(), TimeUnit.SECONDS).token()).isGreaterThan(lease.token());
        }
    }

    @Test
    void holdersAreNotifiedWhenTheServerEndsTheirSessionAndOthersAcquire() throws Exception {
        try (CuratorFramework client = curator();
                ZooKeeperStore store = ZooKeeperStore.of(client);
                Lockkeeper holder = Lockkeeper.on(store);
                Lockkeeper other = keeper()) {
            AtomicReference<LeaseLost> told = new AtomicReference<>();
            Lease lease = holder.lock("ended").acquire().onLost(told::set);
            CompletableFuture<Lease> waiting = other.lock("ended").acquireAsync();
            endOnServer(client);
            await().atMost(LONG).until(() -> told.get() != null);
            assertThat(told.get().reason()).isIn(LeaseLost.Reason.SESSION_LOST, LeaseLost.Reason.STORE_UNREACHABLE);
            assertThat(lease.isValid()).isFalse();
            Lease next = waiting.get(LONG.toSeconds(), TimeUnit.SECONDS);
            assertThat(next.token()).isGreaterThan(lease.token());
            next.release();
            assertThat(holder.lock("ended").tryAcquire(LONG))
                    .as("in a new session")
                    .isPresent();
        }
    }

    /** The server ends the session as if it had not heard of the client in time. */
    private static void endOnServer(CuratorFramework client) throws Exception {
        ZooKeeper victim = client.getZookeeperClient().getZooKeeper();
        CountDownLatch connected = new CountDownLatch(1);
        ZooKeeper twin = new ZooKeeper(
                server.address(),
                SESSION_MILLIS,
                event -> connected.countDown(),
                victim.getSessionId(),
                victim.getSessionPasswd());
        assertThat(connected.await(60, TimeUnit.SECONDS)).isTrue();
        twin.close();
    }

    @Test
    void theNameStaysClosedForItsLockDelayWhenASessionEndsAndNotAfterARelease() throws Exception {
        LockOptions delayed = LockOptions.defaults().lockDelay(Duration.ofSeconds(3));
        try (CuratorFramework client = curator();
                ZooKeeperStore store = ZooKeeperStore.of(client);
                Lockkeeper holder = Lockkeeper.on(store);
                Lockkeeper other = keeper()) {
            holder.lock("delayed", delayed).acquire().close();
            assertThat(other.lock("delayed").tryAcquire().map(Lease::release)).contains(true);
            holder.lock("delayed", delayed).acquire();
            endOnServer(client);
            await().atMost(LONG).until(() -> other.inspector()
                    .inspect("delayed")
                    .filter(info -> info.holders().isEmpty())
                    .isPresent());
            long ended = System.nanoTime();
            assertThat(other.inspector().inspect("delayed").orElseThrow().closedFor())
                    .isPositive();
            assertThat(other.lock("delayed").tryAcquire()).isEmpty();
            Lease next = other.lock("delayed").tryAcquire(LONG).orElseThrow();
            assertThat(System.nanoTime() - ended)
                    .isGreaterThan(Duration.ofSeconds(2).toNanos());
            assertThat(next.release()).isTrue();
            assertThat(other.inspector().inspect("delayed")).isEmpty();
        }
    }

    @Test
    void anEmptyNodeThatWasLeftDoesNoHarm() throws Exception {
        String path = new Layout("/lockkeeper").name("left");
        try (CuratorFramework client = curator();
                Lockkeeper keeper = keeper()) {
            client.create().creatingParentsIfNeeded().forPath(path, new byte[] {'1'});
            assertThat(keeper.lock("left").tryAcquire().map(Lease::release)).contains(true);
            await().atMost(LONG).until(() -> client.checkExists().forPath(path) == null);
        }
    }

    @Test
    void acquiringSurvivesThatTheNameAndItsFolderGoBetweenTwoSteps() throws Exception {
        String path = new Layout("/lockkeeper").name("gone");
        try (CuratorFramework client = curator();
                Lockkeeper a = keeper();
                Lockkeeper b = keeper()) {
            Lease lease = a.lock("gone").acquire();
            assertThat(b.lock("gone").tryAcquire())
                    .as("b knows that the name is in use")
                    .isEmpty();
            assertThat(lease.release()).isTrue();
            assertThat(client.checkExists().forPath(path)).as("no empty parent").isNull();
            assertThat(b.lock("gone").tryAcquire().map(Lease::release)).contains(true);
            client.delete().forPath(Layout.parent(path));
            assertThat(a.lock("gone").tryAcquire().map(Lease::release)).contains(true);
        }
    }

    /** A clock that jumps must not end what its holder has not even had the time to renew. */
    @Test
    void aHoldThatLastsLongerThanItsSessionDependsOnNoClock() throws Exception {
        Layout layout = new Layout("/lockkeeper");
        LockOptions fair = LockOptions.defaults().fair(true);
        try (CuratorFramework client = curator();
                Lockkeeper holder = keeper();
                Lockkeeper other = keeper();
                Lease alone = holder.lock("by-no-clock", fair).acquire();
                Lease first = holder.readWriteLock("by-no-clock-either", fair)
                        .readLock()
                        .acquire();
                Lease second = other.readWriteLock("by-no-clock-either", fair)
                        .readLock()
                        .acquire()) {
            assertThat(List.of(alone, first, second)).allMatch(Lease::isValid);
            for (String name : List.of("by-no-clock", "by-no-clock-either")) {
                for (String node : client.getChildren().forPath(layout.name(name))) {
                    byte[] data = client.getData().forPath(layout.name(name) + "/" + node);
                    NodeData said = NodeData.read(new String(data, StandardCharsets.UTF_8))
                            .orElseThrow();
                    assertThat(said.state()).isEqualTo(NodeData.State.GRANTED);
                    assertThat(said.kept()).as(name).isTrue();
                }
            }
        }
    }

    @Test
    void aHoldThatWasRenewedMeanwhileIsNotEvicted() throws Exception {
        Layout layout = new Layout("/lockkeeper");
        LockOptions fixed = LockOptions.defaults().fixedLease(Duration.ofMinutes(5));
        try (CuratorFramework client = curator();
                Lockkeeper holder = keeper();
                Lease lease = holder.lock("renewed", fixed).acquire()) {
            ZooKeeper zk = client.getZookeeperClient().getZooKeeper();
            Session session = new Session(
                    zk,
                    layout,
                    ZooDefs.Ids.OPEN_ACL_UNSAFE,
                    Ticker.SYSTEM,
                    LONG.toNanos(),
                    Ticker.SYSTEM.nanos(),
                    () -> false,
                    (entry, change) -> {});
            NameNodes nameNodes = new NameNodes(Ticker.SYSTEM);
            String path = layout.name("renewed");
            String node = path + "/" + client.getChildren().forPath(path).get(0);
            NameNodes.Seen before = nameNodes.read(session, node).orElseThrow();
            assertThat(lease.renew(Duration.ofMinutes(10))).isTrue();
            nameNodes.evict(session, before, -1);
            assertThat(client.checkExists().forPath(node)).isNotNull();
            nameNodes.evict(session, nameNodes.read(session, node).orElseThrow(), -1);
            assertThat(client.checkExists().forPath(node))
                    .as("this one can fail")
                    .isNull();
            assertThat(lease.release()).isFalse();
        }
    }
}
