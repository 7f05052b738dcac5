// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.lockkeeper.Lease;
import io.lockkeeper.LockInfo;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.testservers.ZooKeeperServer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Nodes among ours that others have made or changed: they are in the way of nobody who does not use them (H76). */
class ForeignNodesTest {
    private static final Layout LAYOUT = new Layout("/lockkeeper");
    private static final String CLAIM = "/X_1_0_somebody.1_0000000001";

    private final Queue<String> warnings = new ConcurrentLinkedQueue<>();
    private final Handler handler = new Handler() {
        @Override
        public void publish(LogRecord message) {
            if (message.getLevel().equals(Level.WARNING)) {
                warnings.add(message.getMessage()
                        + List.of(message.getParameters() == null ? new Object[0] : message.getParameters()));
            }
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    };
    private final Logger logger = Logger.getLogger("io.lockkeeper.zookeeper");
    private ZooKeeperServer server;
    private CuratorFramework curator;

    @BeforeEach
    void start() {
        server = ZooKeeperServer.start();
        curator = CuratorFrameworkFactory.newClient(server.address(), new RetryOneTime(100));
        curator.start();
        logger.addHandler(handler);
    }

    @AfterEach
    void end() {
        logger.removeHandler(handler);
        curator.close();
        server.close();
    }

    private void plant(String path, String text) throws Exception {
        curator.create().creatingParentsIfNeeded().forPath(path, text.getBytes(StandardCharsets.UTF_8));
    }

    private static List<String> names(Lockkeeper keeper) {
        return keeper.inspector().list("", 100).stream().map(LockInfo::name).toList();
    }

    /** Names with the data of a claim that nobody can read. */
    private Set<String> plantDamagedClaims() throws Exception {
        Map<String, String> damaged = Map.of(
                "empty", "",
                "newer", "2 G 1000 k 0 -1 0 1 0 x|y",
                "numbers", "1 G many k 0 -1 0 1 0 x|y",
                "people", "1 G 1000 k 0 -1 0 1 0 x",
                "percent", "1 G 1000 k 0 -1 0 1 0 %zz|y");
        for (Map.Entry<String, String> each : damaged.entrySet()) {
            plant(LAYOUT.name(each.getKey()) + CLAIM, each.getValue());
        }
        return damaged.keySet();
    }

    /** Names with a marker of a lock-delay that nobody can read. */
    private Set<String> plantDamagedMarkers() throws Exception {
        Map<String, String> markers = Map.of("marker-empty", "", "marker-text", "A soon", "marker-odd", "closed");
        for (Map.Entry<String, String> each : markers.entrySet()) {
            plant(LAYOUT.name(each.getKey()) + "/d_somebody.1", each.getValue());
        }
        return markers.keySet();
    }

    /** Paths of nodes that are no names. */
    private List<String> plantForeignNodes() throws Exception {
        String bucket = Layout.parent(LAYOUT.name("a"));
        String elsewhere = LAYOUT.names() + "/not-a-bucket/z";
        List<String> odd =
                List.of(bucket + "/%zz", bucket + "/%4", bucket + "/%61", bucket + "/%FF", bucket + "/plain text.txt");
        for (String path : odd) {
            plant(path, "");
        }
        plant(elsewhere + CLAIM, "");
        List<String> all = new ArrayList<>(odd);
        all.add(elsewhere);
        return all;
    }

    private void assertWarnedOnceOf(String path) {
        assertThat(warnings.stream().filter(line -> line.contains(path)))
                .as(path)
                .hasSize(1);
    }

    @Test
    void whatIsDamagedOrForeignIsSkippedAndNamedAndTheRestIsListed() throws Exception {
        try (Lockkeeper keeper = Lockkeeper.connect("zookeeper://" + server.address() + "?operationTimeout=5s");
                Lease a = keeper.lock("a").acquire();
                Lease z = keeper.lock("z").acquire()) {
            Set<String> damaged = plantDamagedClaims();
            Set<String> markers = plantDamagedMarkers();
            List<String> foreign = plantForeignNodes();
            plant(LAYOUT.name("a") + "/X_one_0_somebody.1_0000000001", "no claim");
            plant(LAYOUT.name("a") + "/note", "no claim");

            Set<String> watched = ConcurrentHashMap.newKeySet();
            try (AutoCloseable watch = keeper.inspector().watch("", info -> watched.add(info.name()));
                    Lease later = keeper.lock("later").acquire()) {
                await().until(() -> watched.contains("later"));
                for (int i = 0; i < 2; i++) {
                    assertThat(names(keeper)).containsExactly("a", "later", "z");
                }
                assertThat(later.isValid()).isTrue();
            }
            foreign.forEach(this::assertWarnedOnceOf);
            for (Set<String> names : List.of(damaged, markers)) {
                for (String name : names) {
                    String path = LAYOUT.name(name);
                    assertWarnedOnceOf(path);
                    assertThatThrownBy(() -> keeper.inspector().inspect(name))
                            .isInstanceOf(StoreUnavailableException.class)
                            .hasMessageContaining(path);
                    assertThatThrownBy(() -> keeper.lock(name).tryAcquire())
                            .isInstanceOf(StoreUnavailableException.class)
                            .hasMessageContaining(path);
                }
            }
            assertThat(List.of(a, z)).allMatch(Lease::release);
        }
    }
}
