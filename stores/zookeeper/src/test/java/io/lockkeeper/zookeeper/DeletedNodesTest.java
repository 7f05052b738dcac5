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
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Nodes are deleted by hand: holders that relied on them are notified at the next renewal (H115). */
class DeletedNodesTest {
    private static final Duration LONG = Duration.ofSeconds(60);

    /** Renewed every second, and longer than the session: so its node is never written again. */
    private static final LockOptions LEASE = LockOptions.defaults().lease(Duration.ofSeconds(3));

    private static ZooKeeperServer server;
    private static CuratorFramework curator;

    @BeforeAll
    static void start() {
        server = ZooKeeperServer.start();
        curator = CuratorFrameworkFactory.newClient(server.address(), new RetryOneTime(100));
        curator.start();
    }

    @AfterAll
    static void stop() {
        curator.close();
        server.close();
    }

    private static Lockkeeper keeper() {
        return Lockkeeper.builder("zookeeper://" + server.address() + "?session=2s&operationTimeout=5s")
                .patience(Duration.ofSeconds(3))
                .build();
    }

    private static String node(String name, int place) throws Exception {
        String path = new Layout("/lockkeeper").name(name);
        return path
                + "/"
                + curator.getChildren().forPath(path).stream()
                        .sorted((a, b) -> a.substring(a.lastIndexOf('_')).compareTo(b.substring(b.lastIndexOf('_'))))
                        .toList()
                        .get(place);
    }

    @Test
    void aHoldWhoseNodeWasDeletedIsReportedAsLost() throws Exception {
        AtomicReference<LeaseLost> told = new AtomicReference<>();
        try (Lockkeeper keeper = keeper()) {
            Lease lease = keeper.lock("claim", LEASE).acquire().onLost(told::set);
            Lease other = keeper.lock("other", LEASE).acquire();
            curator.delete().forPath(node("claim", 0));
            await().atMost(LONG).until(() -> told.get() != null);
            assertThat(told.get().reason()).isEqualTo(LeaseLost.Reason.BROKEN);
            assertThat(lease.release()).isFalse();
            assertThat(other.isValid()).as("the other hold remains").isTrue();
            assertThat(other.release()).isTrue();
            assertThat(keeper.lock("claim", LEASE).tryAcquire(LONG).map(Lease::release))
                    .contains(true);
        }
    }

    /** Without its mailbox a client would not be notified of a break, and without its fence no claim of it is safe. */
    @ParameterizedTest
    @ValueSource(strings = {"-m", "-f"})
    void holdsOfASessionWhoseOwnNodesWereDeletedAreReportedAsLost(String which) throws Exception {
        AtomicReference<LeaseLost> told = new AtomicReference<>();
        try (Lockkeeper keeper = keeper();
                Lockkeeper other = keeper()) {
            Lease lease = keeper.lock("own" + which, LEASE).acquire().onLost(told::set);
            CompletableFuture<Lease> waiting = other.lock("own" + which, LEASE).acquireAsync();
            long owner = curator.checkExists().forPath(node("own" + which, 0)).getEphemeralOwner();
            curator.delete().forPath("/lockkeeper/s/" + Long.toHexString(owner) + which);
            await().atMost(LONG).until(() -> told.get() != null);
            assertThat(told.get().reason()).isEqualTo(LeaseLost.Reason.SESSION_LOST);
            assertThat(lease.release()).isFalse();
            assertThat(waiting.get(LONG.toSeconds(), TimeUnit.SECONDS).release())
                    .as("its node was removed: its session continues")
                    .isTrue();
            assertThat(keeper.lock("own" + which, LEASE).tryAcquire(LONG).map(Lease::release))
                    .as("with new nodes")
                    .contains(true);
        }
    }

    @Test
    void aWaiterWhoseNodeWasDeletedQueuesAgain() throws Exception {
        try (Lockkeeper holder = keeper();
                Lockkeeper waiter = keeper()) {
            Lease held = holder.lock("queued", LEASE).acquire();
            CompletableFuture<Lease> waiting = waiter.lock("queued", LEASE).acquireAsync();
            await().atMost(LONG)
                    .until(() ->
                            holder.inspector().inspect("queued").orElseThrow().waiters() == 1);
            curator.delete().forPath(node("queued", 1));
            await().atMost(LONG)
                    .until(() ->
                            holder.inspector().inspect("queued").orElseThrow().waiters() == 1);
            assertThat(waiting).isNotDone();
            assertThat(held.release()).isTrue();
            assertThat(waiting.get(LONG.toSeconds(), TimeUnit.SECONDS).release())
                    .isTrue();
        }
    }
}
