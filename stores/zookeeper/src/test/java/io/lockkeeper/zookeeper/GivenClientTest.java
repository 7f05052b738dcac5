// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.lockkeeper.Lease;
import io.lockkeeper.LeaseLost;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.testservers.ZooKeeperServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.retry.RetryOneTime;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** A {@code CuratorFramework} that its user uses as well, and keeps busy. */
@Execution(ExecutionMode.CONCURRENT)
class GivenClientTest {
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
        CuratorFramework curator =
                CuratorFrameworkFactory.newClient(server.address(), SESSION_MILLIS, 5_000, new RetryOneTime(100));
        curator.start();
        assertThat(curator.blockUntilConnected(60, TimeUnit.SECONDS)).isTrue();
        return curator;
    }

    private static Lockkeeper keeper(ZooKeeperStore store) {
        return Lockkeeper.builder(store).operationTimeout(Duration.ofSeconds(1)).build();
    }

    /**
     * When a store joins a session that its user has begun, it does not know when the leader last heard of that session. Until it
     * does, for a quarter of the session, it assumes the worst, and a stall of a fifteenth of the session loses holds.
     */
    private static void awaitProvenSession(Lockkeeper keeper) {
        await().atMost(LONG).until(() -> {
            Lease first = keeper.lock("first").acquire();
            Duration left = first.remaining();
            first.release();
            return left.toMillis() > SESSION_MILLIS / 2;
        });
    }

    @Test
    void aBusyEventThreadCostsNoHold() throws Exception {
        try (CuratorFramework client = curator();
                ZooKeeperStore store = ZooKeeperStore.of(client);
                Lockkeeper keeper = keeper(store)) {
            awaitProvenSession(keeper);
            Lease kept = keeper.lock("kept", LockOptions.defaults().lease(Duration.ofSeconds(12)))
                    .acquire();
            Lease brief = keeper.lock("brief", LockOptions.defaults().lease(Duration.ofMillis(5_500)))
                    .acquire();
            CountDownLatch gate = new CountDownLatch(1);
            client.getData()
                    .inBackground((c, event) -> gate.await(LONG.toSeconds(), TimeUnit.SECONDS))
                    .forPath("/");
            long begun = System.nanoTime();
            try {
                await().atMost(LONG)
                        .until(() ->
                                System.nanoTime() - begun > TimeUnit.MILLISECONDS.toNanos(SESSION_MILLIS * 3L / 2));
                assertThat(kept.isValid()).as("kept by the session").isTrue();
                assertThat(brief.isValid()).as("kept by writes").isTrue();
                assertThat(brief.release()).as("while the thread is busy").isTrue();
            } finally {
                gate.countDown();
            }
            assertThat(kept.release()).isTrue();
        }
    }

    @Test
    void tryAcquireInACallbackIsAnswered() throws Exception {
        try (CuratorFramework client = curator();
                ZooKeeperStore store = ZooKeeperStore.of(client);
                Lockkeeper keeper = keeper(store)) {
            keeper.lock("before").acquire().close();
            CompletableFuture<Optional<Lease>> tried = new CompletableFuture<>();
            client.getData()
                    .inBackground((c, event) -> {
                        try {
                            tried.complete(keeper.lock("callback").tryAcquire());
                        } catch (RuntimeException e) {
                            tried.completeExceptionally(e);
                        }
                    })
                    .forPath("/");
            Optional<Lease> lease = tried.get(LONG.toSeconds(), TimeUnit.SECONDS);
            assertThat(lease.map(Lease::release)).contains(true);
        }
    }

    private static final int LISTENERS = 30;

    /** Curator notifies its listeners one after another: ours is somewhere among these, which keep it waiting. */
    private static void slowDown(CuratorFramework client, CountDownLatch gate, AtomicInteger told) {
        for (int i = 0; i < LISTENERS; i++) {
            client.getConnectionStateListenable().addListener((c, state) -> {
                if (state == ConnectionState.LOST) {
                    try {
                        gate.await(LONG.toSeconds(), TimeUnit.SECONDS);
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                    }
                    told.incrementAndGet();
                }
            });
        }
    }

    /** A slow listener makes us hear of a lost session when the next one has begun. */
    @Test
    void aSessionIsNotEndedByALateEventOfAnEarlierOne() throws Exception { // H68
        CountDownLatch gate = new CountDownLatch(1);
        AtomicInteger told = new AtomicInteger();
        try (CuratorFramework client = curator()) {
            slowDown(client, gate, told);
            try (ZooKeeperStore store = ZooKeeperStore.of(client);
                    Lockkeeper keeper = keeper(store);
                    Lockkeeper other = Lockkeeper.connect("zookeeper://" + server.address() + "?session=6s")) {
                keeper.lock("first").acquire();
                ZooKeeper old = client.getZookeeperClient().getZooKeeper();
                old.getTestable().injectSessionExpiration();
                AtomicReference<LeaseLost> lost = new AtomicReference<>();
                Lease lease =
                        keeper.lock("second").tryAcquire(LONG).orElseThrow().onLost(lost::set);
                CompletableFuture<Lease> waiting = other.lock("second").acquireAsync();
                gate.countDown();
                await().atMost(LONG).until(() -> told.get() == LISTENERS);
                long heard = System.nanoTime();
                await().atMost(LONG).until(() -> lost.get() != null || System.nanoTime() - heard > 500_000_000L);
                assertThat(lost.get()).isNull();
                assertThat(lease.isValid()).isTrue();
                assertThat(lease.release()).isTrue();
                assertThat(waiting.get(LONG.toSeconds(), TimeUnit.SECONDS).release())
                        .as("nothing is left in the way")
                        .isTrue();
            }
        }
    }

    /** Claims that wait when a session is lost, and others that wait in the next one when that is heard of. */
    @Test
    void aWaiterAtALateEventIsServedAndLeavesNoNode() throws Exception { // H68
        CountDownLatch gate = new CountDownLatch(1);
        AtomicInteger told = new AtomicInteger();
        String path = new Layout("/lockkeeper").name("queue");
        try (CuratorFramework client = curator()) {
            slowDown(client, gate, told);
            try (ZooKeeperStore store = ZooKeeperStore.of(client);
                    Lockkeeper keeper = keeper(store);
                    Lockkeeper other = Lockkeeper.connect("zookeeper://" + server.address() + "?session=6s")) {
                Lease held = other.lock("queue").acquire();
                CompletableFuture<Lease> early = keeper.lock("queue").acquireAsync();
                CompletableFuture<Lease> givenUp = keeper.lock("queue").acquireAsync();
                awaitNodes(client, path, 2);
                ZooKeeper old = client.getZookeeperClient().getZooKeeper();
                long oldSession = old.getSessionId();
                old.getTestable().injectSessionExpiration();
                Lease marks = keeper.lock("marks").tryAcquire(LONG).orElseThrow(); // the next session has begun
                CompletableFuture<Lease> late = keeper.lock("queue").acquireAsync();
                givenUp.cancel(true);
                long session = client.getZookeeperClient().getZooKeeper().getSessionId();
                assertThat(session).isNotEqualTo(oldSession);
                await().atMost(LONG).until(() -> owners(client, path).contains(session));
                gate.countDown();
                await().atMost(LONG).until(() -> told.get() == LISTENERS);
                CompletableFuture<Lease> last = other.lock("queue").acquireAsync();
                long released = System.nanoTime();
                assertThat(held.release()).isTrue();
                assertThat(early.get(LONG.toSeconds(), TimeUnit.SECONDS).release())
                        .isTrue();
                assertThat(late.get(LONG.toSeconds(), TimeUnit.SECONDS).release())
                        .isTrue();
                assertThat(last.get(LONG.toSeconds(), TimeUnit.SECONDS).release())
                        .isTrue();
                System.out.println("served after " + (System.nanoTime() - released) / 1_000_000 + " ms");
                assertThat(marks.isValid()).isTrue();
                await().atMost(LONG).until(() -> client.checkExists().forPath(path) == null);
            }
        }
    }

    private static void awaitNodes(CuratorFramework client, String path, int count) {
        await().atMost(LONG).until(() -> owners(client, path).size() >= count);
    }

    /** The sessions of those who hold a name or wait for it. */
    private static List<Long> owners(CuratorFramework client, String path) throws Exception {
        List<Long> owners = new ArrayList<>();
        for (String node : client.getChildren().forPath(path)) {
            Stat stat = client.checkExists().forPath(path + "/" + node);
            if (stat != null) {
                owners.add(stat.getEphemeralOwner());
            }
        }
        return owners;
    }
}
