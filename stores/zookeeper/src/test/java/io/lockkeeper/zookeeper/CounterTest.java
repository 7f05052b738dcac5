// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.lockkeeper.Lease;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.server.NIOServerCnxnFactory;
import org.apache.zookeeper.server.ZooKeeperServer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A parent's counter ends at 2³¹−1 and then gives the same number again and again. The server is in this JVM, to set it. */
class CounterTest {
    private static final Duration LONG = Duration.ofSeconds(60);

    @Test
    void orderAndExclusionOutliveTheEndOfTheCounter(@TempDir Path folder) throws Exception {
        ZooKeeperServer server = new ZooKeeperServer(folder.toFile(), folder.toFile(), 500);
        NIOServerCnxnFactory factory = new NIOServerCnxnFactory();
        factory.configure(new InetSocketAddress(InetAddress.getByAddress(new byte[] {127, 0, 0, 1}), 0), 100);
        factory.startup(server);
        try (Lockkeeper a = keeper(factory);
                Lockkeeper b = keeper(factory)) {
            LockOptions fair = LockOptions.defaults().fair(true);
            Lease lease = a.lock("counted", fair).acquire();
            String path = new Layout("/lockkeeper").name("counted");
            server.getZKDatabase().getNode(path).stat.setCversion(Integer.MAX_VALUE - 1);
            List<CompletableFuture<Lease>> waiting = new ArrayList<>();
            for (int i = 0; i < 8; i++) {
                waiting.add((i % 2 == 0 ? a : b).lock("counted", fair).acquireAsync());
                int waiters = i + 1;
                await().atMost(LONG)
                        .until(() ->
                                a.inspector().inspect("counted").orElseThrow().waiters() == waiters);
            }
            assertThat(server.getZKDatabase().getChildren(path, null, null))
                    .filteredOn(child -> child.endsWith("_2147483647"))
                    .as("the counter is stuck")
                    .hasSizeGreaterThan(5);
            for (CompletableFuture<Lease> next : waiting) {
                long before = lease.token();
                assertThat(lease.release()).isTrue();
                lease = next.get(LONG.toSeconds(), TimeUnit.SECONDS);
                assertThat(lease.token()).isGreaterThan(before);
                assertThat(waiting)
                        .filteredOn(done -> done.isDone() && done.join().isValid())
                        .as("who is in")
                        .containsExactly(next);
            }
            assertThat(lease.release()).isTrue();
        } finally {
            factory.shutdown();
        }
    }

    private static Lockkeeper keeper(NIOServerCnxnFactory factory) {
        return Lockkeeper.connect(
                "zookeeper://127.0.0.1:" + factory.getLocalPort() + "?session=20s&operationTimeout=10s");
    }
}
