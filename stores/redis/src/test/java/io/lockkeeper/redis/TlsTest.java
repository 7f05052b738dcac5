// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.lockkeeper.Lease;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.testservers.RedisCluster;
import io.lockkeeper.testservers.RedisSentinels;
import io.lockkeeper.testservers.RedisServer;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** TLS: {@code rediss:}, {@code rediss-sentinel:}, {@code rediss-cluster:} and {@code redlocks:}. */
class TlsTest {
    private static final String PASSWORD = "changeit";
    private static final String TRUST = "javax.net.ssl.trustStore";

    @TempDir
    static Path folder;

    /** For {@code localhost}, and for {@code 127.0.0.1}, by which Sentinels and Clusters name their servers. */
    private static Identity local;

    private static Identity numeric;
    private static RedisServer server;

    /** A self-signed certificate and its key: both in one store, and as PEM. */
    private record Identity(Path store, Path certificate, Path key) {}

    @BeforeAll
    static void start() throws Exception {
        local = identity("local", "dns:localhost");
        numeric = identity("numeric", "dns:localhost,ip:127.0.0.1");
        server = RedisServer.startTls(local.certificate, local.key);
    }

    private static Identity identity(String name, String hosts) throws Exception {
        Path store = folder.resolve(name + ".p12");
        Process keytool = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "keytool")
                                .toString(),
                        "-genkeypair",
                        "-alias",
                        "redis",
                        "-keyalg",
                        "EC",
                        "-dname",
                        "CN=localhost",
                        "-ext",
                        "san=" + hosts,
                        "-validity",
                        "30",
                        "-storetype",
                        "PKCS12",
                        "-keystore",
                        store.toString(),
                        "-storepass",
                        PASSWORD)
                .redirectErrorStream(true)
                .redirectOutput(folder.resolve("keytool.log").toFile())
                .start();
        assertThat(keytool.waitFor(60, TimeUnit.SECONDS)).isTrue();
        KeyStore keys = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(store)) {
            keys.load(in, PASSWORD.toCharArray());
        }
        return new Identity(
                store,
                pem(
                        name + "-cert.pem",
                        "CERTIFICATE",
                        keys.getCertificate("redis").getEncoded()),
                pem(
                        name + "-key.pem",
                        "PRIVATE KEY",
                        keys.getKey("redis", PASSWORD.toCharArray()).getEncoded()));
    }

    private static Path pem(String file, String what, byte[] bytes) throws Exception {
        String text = "-----BEGIN " + what + "-----\n" + Base64.getMimeEncoder().encodeToString(bytes) + "\n-----END "
                + what + "-----\n";
        return Files.writeString(folder.resolve(file), text);
    }

    @AfterAll
    static void end() {
        if (server != null) {
            server.close();
        }
    }

    @AfterEach
    void distrust() {
        System.clearProperty(TRUST);
        System.clearProperty(TRUST + "Password");
    }

    private static void trust() {
        System.setProperty(TRUST, local.store.toString());
        System.setProperty(TRUST + "Password", PASSWORD);
    }

    @Test
    void locksAreKeptOverTls() throws Exception {
        trust();
        try (Lockkeeper keeper = Lockkeeper.connect("rediss://localhost:" + server.port() + "?operationTimeout=10s");
                Lease lease = keeper.lock("a").acquire()) {
            assertThat(lease.isValid()).isTrue();
        }
    }

    @Test
    void aQuorumIsKeptOverTls() throws Exception {
        trust();
        try (RedisServer second = RedisServer.startTls(local.certificate, local.key);
                RedisServer third = RedisServer.startTls(local.certificate, local.key);
                Lockkeeper keeper = Lockkeeper.connect("redlocks://localhost:" + server.port() + ",localhost:"
                        + second.port() + ",localhost:" + third.port() + "?operationTimeout=10s")) {
            Lease lease = keeper.lock("a").acquire();
            assertThat(lease.isValid()).isTrue();
            third.kill();
            assertThat(keeper.lock("a").tryAcquire())
                    .as("the others still know")
                    .isEmpty();
            assertThat(lease.release()).isTrue();
        }
    }

    @Test
    void aQuorumWithUntrustedCertificatesIsRejectedImmediately() { // H54
        String members = String.join(",", "localhost:" + server.port(), "127.0.0.1:" + server.port(), "localhost:1");
        try (Lockkeeper keeper = Lockkeeper.connect("redlocks://" + members + "?operationTimeout=10s")) {
            assertThatThrownBy(() -> keeper.lock("a").acquire())
                    .isInstanceOfSatisfying(StoreUnavailableException.class, e -> assertThat(e.worthRepeating())
                            .isFalse());
        }
    }

    @Test
    void aCertificateOfAnotherHostIsRejectedImmediately() { // H54
        trust();
        assertRefused("127.0.0.1");
    }

    @Test
    void anUntrustedCertificateIsRejectedImmediately() { // H54
        assertRefused("localhost");
    }

    private static void assertRefused(String host) {
        assertThatThrownBy(() -> Lockkeeper.connect("rediss://" + host + ":" + server.port() + "?operationTimeout=10s"))
                .isInstanceOfSatisfying(StoreUnavailableException.class, e -> assertThat(e.worthRepeating())
                        .isFalse());
    }

    @Test
    void plainTextToATlsServerIsAFailure() {
        assertThatThrownBy(() -> Lockkeeper.connect("redis://localhost:" + server.port()))
                .isInstanceOf(StoreUnavailableException.class);
    }

    @Test
    void tlsToAPlainTextServerIsAFailureThatSaysSo() {
        try (RedisServer plain = RedisServer.start()) {
            assertThatThrownBy(() -> Lockkeeper.connect("rediss://" + plain.address()))
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining(plain.address())
                    .hasMessageContaining("may not speak TLS");
        }
    }

    private static String trusting(Path store) {
        return "operationTimeout=10s&trustStore=" + store + "&trustStorePassword=" + PASSWORD;
    }

    @Test
    void aClusterIsFoundAndUsedOverTls() throws Exception {
        try (RedisCluster cluster = RedisCluster.startTls(Duration.ofMinutes(1), numeric.certificate, numeric.key);
                Lockkeeper keeper =
                        Lockkeeper.connect("rediss-cluster://" + cluster.addresses() + "?" + trusting(numeric.store))) {
            for (String name : List.of("a", "b", "c", "d", "e", "f")) { // on all shards
                keeper.lock(name).acquire().close();
            }
        }
    }

    @Test
    void aMasterIsFoundThroughASentinelWithItsOwnPasswordOverTls() throws Exception {
        try (RedisSentinels set = RedisSentinels.startTls(numeric.certificate, numeric.key, "of-the-sentinel")) {
            String url = "rediss-sentinel://" + set.addresses() + "/0#" + RedisSentinels.MASTER
                    + "?operationTimeout=10s&trustStore=" + numeric.certificate + "&sentinelPassword=";
            try (Lockkeeper keeper = Lockkeeper.connect(url + "of-the-sentinel")) {
                keeper.lock("a").acquire().close();
            }
            Throwable failure = catchThrowable(() -> Lockkeeper.connect(url + "hunter2"));
            assertThat(failure)
                    .isInstanceOfSatisfying(StoreUnavailableException.class, e -> assertThat(e.worthRepeating())
                            .isFalse())
                    .hasMessageContaining(set.addresses());
            AccessTest.assertShowsNoSecret(failure);
        }
    }

    @Test
    void aServerThatAsksForACertificateIsShownOurs() throws Exception {
        try (RedisServer strict = RedisServer.startTls(numeric.certificate, numeric.key, "--tls-auth-clients", "yes")) {
            String url = "rediss://localhost:" + strict.port() + "?" + trusting(numeric.store);
            assertThatThrownBy(() -> Lockkeeper.connect(url))
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining("localhost:" + strict.port());
            try (Lockkeeper keeper =
                    Lockkeeper.connect(url + "&keyStore=" + numeric.store + "&keyStorePassword=" + PASSWORD)) {
                keeper.lock("a").acquire().close();
            }
        }
    }

    @Test
    void aKeyStoreWithTheWrongPasswordIsRejectedByName() {
        for (String store : List.of("trustStore", "keyStore")) {
            Throwable failure = catchThrowable(() -> Lockkeeper.connect("rediss://localhost:" + server.port() + "?"
                    + store + "=" + local.store + "&" + store + "Password=hunter2"));
            assertThat(failure)
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining(store)
                    .hasMessageContaining(local.store.toString());
            AccessTest.assertShowsNoSecret(failure);
        }
    }
}
