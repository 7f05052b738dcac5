// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lockkeeper.Lease;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.testservers.ZooKeeperServer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import javax.security.auth.login.AppConfigurationEntry;
import javax.security.auth.login.Configuration;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.server.auth.DigestLoginModule;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whose nodes are whose. */
class AccessTest {
    private static final String OPTIONS = "operationTimeout=5s";

    /** As it is by itself, ZooKeeper 3.9 refuses DIGEST-MD5, and other ways of SASL need a Kerberos server. */
    private static final String FIPS = "zookeeper.fips-mode";

    private static ZooKeeperServer server;

    @TempDir
    private static Path folder;

    @BeforeAll
    static void start() throws Exception {
        Path login = folder.resolve("server.conf");
        Files.writeString(login, "Server { " + DigestLoginModule.class.getName() + " required user_app=\"s3cret\"; };");
        server = ZooKeeperServer.start(
                List.of("-Djava.security.auth.login.config=" + login, "-D" + FIPS + "=false"),
                List.of("authProvider.sasl=org.apache.zookeeper.server.auth.SASLAuthenticationProvider"));
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    private static CuratorFramework curator(String digest) throws Exception {
        CuratorFrameworkFactory.Builder builder = CuratorFrameworkFactory.builder()
                .connectString(server.address())
                .retryPolicy(new RetryOneTime(100));
        if (!digest.isEmpty()) {
            builder.authorization("digest", digest.getBytes(StandardCharsets.UTF_8));
        }
        CuratorFramework curator = builder.build();
        curator.start();
        assertThat(curator.blockUntilConnected(60, TimeUnit.SECONDS)).isTrue();
        return curator;
    }

    private static String url(String credentials, String query) {
        return "zookeeper://" + credentials + server.address() + "?" + OPTIONS + "&" + query;
    }

    /** Who may do what with all that there is of a name while it is held. */
    private static List<ACL> acls(String root, CuratorFramework client) throws Exception {
        String path = new Layout(root).name("mine");
        String node = client.getChildren().forPath(path).get(0);
        List<ACL> acl = client.getACL().forPath(path + "/" + node);
        for (String above = path; !above.isEmpty(); above = Layout.parent(above)) {
            assertThat(client.getACL().forPath(above)).as(above).isEqualTo(acl);
        }
        return acl;
    }

    @Test
    void withCredentialsNodesBelongToTheirCreator() throws Exception {
        try (Lockkeeper owner = Lockkeeper.connect(url("app:s%40cret@", "prefix=closed"));
                CuratorFramework self = curator("app:s@cret");
                CuratorFramework stranger = curator("");
                Lockkeeper other = Lockkeeper.connect(url("", "prefix=closed"));
                Lockkeeper wrong = Lockkeeper.connect(url("app:other@", "prefix=closed"));
                Lease lease = owner.lock("mine").acquire()) {
            assertThat(acls("/closed", self))
                    .singleElement()
                    .satisfies(acl -> assertThat(acl.getId().getScheme()).isEqualTo("digest"));
            assertThatThrownBy(() -> stranger.getChildren().forPath(new Layout("/closed").name("mine")))
                    .isInstanceOf(KeeperException.NoAuthException.class);
            for (Lockkeeper refused : List.of(other, wrong)) {
                assertThatThrownBy(() -> refused.lock("mine").tryAcquire())
                        .isInstanceOf(StoreUnavailableException.class)
                        .hasMessageContaining("rights")
                        .hasMessageNotContaining("cret");
            }
            assertThat(lease.isValid()).isTrue();
        }
    }

    @Test
    void withCredentialsNodesAreOpenToAllOnlyOnRequest() throws Exception {
        try (Lockkeeper owner = Lockkeeper.connect(url("app:secret@", "prefix=shared&acl=world"));
                CuratorFramework stranger = curator("");
                Lockkeeper other = Lockkeeper.connect(url("", "prefix=shared"));
                Lease lease = owner.lock("mine").acquire()) {
            assertThat(acls("/shared", stranger)).isEqualTo(ZooDefs.Ids.OPEN_ACL_UNSAFE);
            assertThat(other.lock("mine").tryAcquire()).isEmpty();
            assertThat(lease.isValid()).isTrue();
        }
    }

    @Test
    void theNodesOfAnUnauthenticatedClientAreOpenToAllUnlessForbidden() throws Exception {
        try (Lockkeeper nameless = Lockkeeper.connect(url("", "prefix=open"));
                CuratorFramework stranger = curator("");
                Lockkeeper strict = Lockkeeper.connect(url("", "prefix=strict&acl=creator"));
                Lease lease = nameless.lock("mine").acquire()) {
            assertThat(acls("/open", stranger)).isEqualTo(ZooDefs.Ids.OPEN_ACL_UNSAFE);
            assertThat(lease.isValid()).isTrue();
            assertThatThrownBy(() -> strict.lock("mine").tryAcquire())
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining("INVALIDACL");
            assertThat(stranger.checkExists().forPath("/strict")).isNull();
        }
    }

    @Test
    void aGivenClientThatHasAuthenticatedOwnsItsNodes() throws Exception {
        try (CuratorFramework client = curator("given:secret");
                ZooKeeperStore store = ZooKeeperStore.of(client);
                Lockkeeper keeper = Lockkeeper.on(store);
                Lease lease = keeper.lock("mine").acquire()) {
            assertThat(acls("/lockkeeper", client))
                    .singleElement()
                    .satisfies(acl -> assertThat(acl.getId().getScheme()).isEqualTo("digest"));
            assertThat(lease.isValid()).isTrue();
        }
    }

    @Test
    void aClientThatHasLoggedInBySaslOwnsItsNodes() throws Exception {
        System.setProperty(FIPS, "false");
        Configuration.setConfiguration(new Configuration() {
            @Override
            public AppConfigurationEntry[] getAppConfigurationEntry(String name) {
                return new AppConfigurationEntry[] {
                    new AppConfigurationEntry(
                            DigestLoginModule.class.getName(),
                            AppConfigurationEntry.LoginModuleControlFlag.REQUIRED,
                            Map.of("username", "app", "password", "s3cret"))
                };
            }
        });
        try (Lockkeeper owner = Lockkeeper.connect(url("", "prefix=sasl"));
                CuratorFramework self = curator("");
                Lease lease = owner.lock("mine").acquire()) {
            assertThat(acls("/sasl", self)).singleElement().satisfies(acl -> {
                assertThat(acl.getId().getScheme()).isEqualTo("sasl");
                assertThat(acl.getId().getId()).isEqualTo("app");
            });
            assertThat(lease.isValid()).isTrue();
        } finally {
            Configuration.setConfiguration(null);
            System.clearProperty(FIPS);
        }
    }

    @Test
    void badUrlsAreRefusedWithoutTheirSecret() {
        for (String url : List.of(
                "zookeeper:host",
                "zookeeper://",
                "zookeeper://s3cret@host",
                "zookeeper://a:s3cret@host/../x",
                "zookeeper://a:s3cret@ho st",
                "zookeeper://a:s3cret%@host",
                "zookeeper://a:s3cret@host?session=1ms",
                "zookeeper://a:s3cret@host?prefix=zookeeper",
                "zookeeper://a:s3cret@host?acl=nobody",
                "zookeeper://a:s3cret@host?sessoin=1s")) {
            assertThatThrownBy(() -> Lockkeeper.connect(url))
                    .as(url)
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageNotContaining("s3cret");
        }
    }
}
