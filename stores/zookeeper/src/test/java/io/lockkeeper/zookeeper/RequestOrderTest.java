// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.lockkeeper.spi.Ticker;
import io.lockkeeper.testservers.ZooKeeperServer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.Test;

/** Requests that go past a busy event thread, one at a time, keep their place among all others. */
class RequestOrderTest {
    private static final Duration LONG = Duration.ofSeconds(60);

    /**
     * Found by a fleet: a claim's node waited its turn to go past the event thread. That thread caught up, and the listing that
     * must come after the node came before it. So the claim was taken for gone, and its node blocked the name for as long as the
     * session lived.
     */
    @Test
    void whatIsSentWhenTheEventThreadHasCaughtUpComesAfterWhatWentPastIt() throws Exception {
        try (ZooKeeperServer server = ZooKeeperServer.start();
                CuratorFramework client =
                        CuratorFrameworkFactory.newClient(server.address(), 30_000, 5_000, new RetryOneTime(100))) {
            client.start();
            assertThat(client.blockUntilConnected(60, TimeUnit.SECONDS)).isTrue();
            ZooKeeper zk = client.getZookeeperClient().getZooKeeper();
            Session session = new Session(
                    zk,
                    new Layout("/order"),
                    List.of(),
                    Ticker.SYSTEM,
                    LONG.toNanos(),
                    Long.MIN_VALUE / 2,
                    () -> false,
                    (entry, change) -> {});
            session.open();
            session.mkdirs("/order/x");

            CountDownLatch gate = new CountDownLatch(1);
            zk.exists("/", false, (rc, path, ctx, stat) -> awaitGate(gate), null);
            CompletableFuture<Reply> behind = session.exists("/order", null);
            await().atMost(LONG).until(() -> {
                session.giveSignOfLife();
                return session.isStuck();
            });
            int nodes = 500;
            for (int i = 0; i < nodes; i++) {
                session.create("/order/x/n" + i, new byte[0], CreateMode.EPHEMERAL);
            }
            gate.countDown();
            assertThat(session.await(behind, "look").isOk()).isTrue();
            CompletableFuture<Reply> listed = session.children("/order/x");
            assertThat(session.isStuck()).as("the event thread has caught up").isFalse();
            assertThat(session.await(listed, "listing").children()).hasSize(nodes);
        }
    }

    private static void awaitGate(CountDownLatch gate) {
        try {
            assertThat(gate.await(LONG.toSeconds(), TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
