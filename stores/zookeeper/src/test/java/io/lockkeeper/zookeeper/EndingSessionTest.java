// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.lockkeeper.Lease;
import io.lockkeeper.LeaseLost;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.tck.Tier;
import io.lockkeeper.testservers.ZooKeeperServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.api.CuratorEventType;
import org.apache.curator.framework.api.transaction.CuratorOp;
import org.apache.curator.retry.RetryOneTime;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Claims of one session that wait for each other when that session ends: what goes first is no grant to the next. */
class EndingSessionTest {
    private static final Duration LONG = Duration.ofSeconds(60);
    private static final LockOptions FAIR = LockOptions.defaults().fair(true);

    private static ZooKeeperServer server;
    private static CuratorFramework looking;

    @BeforeAll
    static void start() throws Exception {
        server = ZooKeeperServer.start();
        looking = curator();
    }

    @AfterAll
    static void stop() {
        looking.close();
        server.close();
    }

    private static CuratorFramework curator() throws Exception {
        CuratorFramework curator =
                CuratorFrameworkFactory.newClient(server.address(), 20_000, 5_000, new RetryOneTime(100));
        curator.start();
        assertThat(curator.blockUntilConnected(60, TimeUnit.SECONDS)).isTrue();
        return curator;
    }

    /** The paths of those who hold a name or wait for it. */
    private static List<String> nodes(String name) throws Exception {
        String path = new Layout("/lockkeeper").name(name);
        return looking.getChildren().forPath(path).stream()
                .map(node -> path + "/" + node)
                .toList();
    }

    /** To those who watch, the end of a session is this: all its nodes go in one transaction. */
    @Test
    void nodesOfASessionThatVanishTogetherGrantNothing() throws Exception {
        try (CuratorFramework client = curator();
                ZooKeeperStore store = ZooKeeperStore.of(client);
                Lockkeeper keeper = Lockkeeper.builder(store)
                        .patience(Duration.ofSeconds(3))
                        .build()) {
            Lease held = keeper.lock("together", FAIR).acquire();
            CompletableFuture<Lease> waiting = keeper.lock("together", FAIR).acquireAsync();
            await().atMost(LONG).until(() -> nodes("together").size() == 2);
            keeper.inspector().inspect("together"); // whatever the waiter asked for has come
            List<CuratorOp> ops = new ArrayList<>();
            for (String node : nodes("together")) {
                ops.add(looking.transactionOp().delete().forPath(node));
            }
            looking.transaction().forOperations(ops);
            Lease next = waiting.get(LONG.toSeconds(), TimeUnit.SECONDS);
            assertThat(nodes("together")).as("what the grant rests on").hasSize(1);
            assertThat(next.token()).isGreaterThan(held.token() + 1);
            assertThat(next.release()).isTrue();
        }
    }

    @Test
    void theEndOfAClosedClientsHoldIsNoGrantToItsWaiter() throws Exception {
        for (int round = 0; round < Tier.pick(10, 50); round++) {
            String name = "closed-" + round;
            CuratorFramework client = curator();
            try (ZooKeeperStore store = ZooKeeperStore.of(client);
                    Lockkeeper keeper = Lockkeeper.builder(store)
                            .patience(Duration.ofMillis(500))
                            .build()) {
                keeper.lock(name, FAIR).acquire();
                CompletableFuture<Lease> waiting = keeper.lock(name, FAIR).acquireAsync();
                await().pollInterval(Duration.ofMillis(5))
                        .atMost(LONG)
                        .until(() -> nodes(name).size() == 2);
                keeper.inspector().inspect(name); // whatever the waiter asked for has come
                client.close();
                await().pollInterval(Duration.ofMillis(5)).atMost(LONG).until(waiting::isDone);
                assertThat(waiting).as("round " + round).isCompletedExceptionally();
            } finally {
                client.close();
            }
        }
    }

    /** Once the server has ended the session, others hold its names: then it is too late to say so. */
    @Test
    void holdsEndBeforeTheirClientIsClosed() throws Exception {
        CompletableFuture<Boolean> valid = new CompletableFuture<>();
        AtomicReference<LeaseLost> lost = new AtomicReference<>();
        CuratorFramework client = curator();
        try (ZooKeeperStore store = ZooKeeperStore.of(client);
                Lockkeeper keeper = Lockkeeper.on(store)) {
            Lease lease = keeper.lock("closing").acquire().onLost(lost::set);
            client.getCuratorListenable().addListener((c, event) -> {
                if (event.getType() == CuratorEventType.CLOSING) {
                    assertThat(c.getZookeeperClient().getZooKeeper().getState().isConnected())
                            .isTrue();
                    valid.complete(lease.isValid());
                }
            });
            assertThat(lease.isValid()).isTrue();
            CompletableFuture<Lease> waiting = keeper.lock("closing", FAIR).acquireAsync();
            await().atMost(LONG).until(() -> nodes("closing").size() == 2);
            client.close();
            assertThat(valid).isCompletedWithValue(false);
            assertThatThrownBy(() -> keeper.lock("new").acquire())
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining("has been closed");
            await().atMost(LONG).until(waiting::isDone);
            assertThat(waiting).isCompletedExceptionally();
            await().atMost(LONG).until(() -> lost.get() != null);
            assertThat(lost.get().reason()).isEqualTo(LeaseLost.Reason.SESSION_LOST);
        } finally {
            client.close();
        }
    }
}
