// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.zookeeper;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lockkeeper.Lockkeeper;
import io.lockkeeper.StoreUnavailableException;
import java.time.Duration;
import java.util.List;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Where the servers and the nodes are: what is no such place is refused, and what cannot be reached is named. */
class AddressTest {
    /** Nothing listens there. */
    private static final String NOBODY = "127.0.0.1:1";

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "//h:0|port of host 1 is 0; allowed is 1 to 65535",
                "//h:99999|port of host 1 is 99999; allowed is 1 to 65535",
                "//a,b:65536,c|port of host 2 is 65536",
                "//a,b:x|port of host 2 is no number",
                "//a,b:|port of host 2 is no number",
                "//a,,c|host 2 is empty",
                "//|host 1 is empty",
                "///chroot|host 1 is empty",
                "//a,h h|host 2 is neither",
                "//[::1|host 1 is neither",
                "//a/x y|the chroot",
                "//a/../b|the chroot",
                "//secret@a|the credentials",
                "h|zookeeper://"
            })
    void thePartThatIsWrongIsNamed(String rest, String named) {
        assertThatThrownBy(() -> Lockkeeper.connect("zookeeper:" + rest))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(named)
                .hasMessageContaining("zookeeper://[USER:SECRET@]HOST[:PORT],…[/CHROOT]");
    }

    @Test
    void serversThatCannotBeReachedAreNamed() {
        String url = "zookeeper://user:hunter2@" + NOBODY + ",localhost:2?operationTimeout=200ms&connectTimeout=200ms";
        assertThatThrownBy(() -> {
                    try (Lockkeeper keeper = Lockkeeper.connect(url)) {
                        keeper.lock("a").tryAcquire();
                    }
                })
                .isInstanceOf(StoreUnavailableException.class)
                .hasMessageContaining(NOBODY + ",localhost:2")
                .hasMessageNotContaining("hunter2");
    }

    @Test
    void whatAStoreCannotBeKeptWithIsRefusedWithWhatIsAllowed() {
        try (CuratorFramework curator = CuratorFrameworkFactory.newClient(NOBODY, new RetryOneTime(1))) {
            curator.start();
            Duration second = Duration.ofSeconds(1);
            for (String root : List.of("/", "/zookeeper", "/zookeeper/locks", "", "locks", "/locks/", "/a//b")) {
                assertThatThrownBy(() -> ZooKeeperStore.of(curator, root, List.of(), second))
                        .as(root)
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining("root is '" + root + "'; allowed is");
            }
            for (Duration timeout : List.of(Duration.ZERO, Duration.ofSeconds(-1), Duration.ofDays(300_000))) {
                assertThatThrownBy(() -> ZooKeeperStore.of(curator, "/locks", List.of(), timeout))
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining("operationTimeout is " + timeout + "; allowed is PT0.01S to PT1M");
            }
        }
    }
}
