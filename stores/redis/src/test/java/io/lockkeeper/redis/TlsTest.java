// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lockkeeper.Lease;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.testservers.RedisServer;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.Base64;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code rediss:} */
class TlsTest {
    private static final String PASSWORD = "changeit";
    private static final String TRUST = "javax.net.ssl.trustStore";

    @TempDir
    static Path folder;

    private static Path certificate;
    private static Path key;
    private static RedisServer server;

    @BeforeAll
    static void start() throws Exception {
        // A certificate of its own for "localhost", signed by itself.
        Path store = folder.resolve("keys.p12");
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
                        "san=dns:localhost",
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
        certificate =
                pem("cert.pem", "CERTIFICATE", keys.getCertificate("redis").getEncoded());
        key = pem(
                "key.pem",
                "PRIVATE KEY",
                keys.getKey("redis", PASSWORD.toCharArray()).getEncoded());
        server = RedisServer.startTls(certificate, key);
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
        System.setProperty(TRUST, folder.resolve("keys.p12").toString());
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
        try (RedisServer second = RedisServer.startTls(certificate, key);
                RedisServer third = RedisServer.startTls(certificate, key);
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
    void aQuorumWhoseCertificatesNobodyTrustsIsRefusedAtOnce() { // H54
        String members = String.join(",", "localhost:" + server.port(), "127.0.0.1:" + server.port(), "localhost:1");
        try (Lockkeeper keeper = Lockkeeper.connect("redlocks://" + members + "?operationTimeout=10s")) {
            assertThatThrownBy(() -> keeper.lock("a").acquire())
                    .isInstanceOfSatisfying(StoreUnavailableException.class, e -> assertThat(e.worthRepeating())
                            .isFalse());
        }
    }

    @Test
    void aCertificateOfAnotherHostIsRefusedAtOnce() { // H54
        trust();
        assertRefused("127.0.0.1");
    }

    @Test
    void aCertificateThatNobodyTrustsIsRefusedAtOnce() { // H54
        assertRefused("localhost");
    }

    private static void assertRefused(String host) {
        assertThatThrownBy(() -> Lockkeeper.connect("rediss://" + host + ":" + server.port() + "?operationTimeout=10s"))
                .isInstanceOfSatisfying(StoreUnavailableException.class, e -> assertThat(e.worthRepeating())
                        .isFalse());
    }

    @Test
    void plainWordsToAServerThatSpeaksTlsAreAFailure() {
        assertThatThrownBy(() -> Lockkeeper.connect("redis://localhost:" + server.port()))
                .isInstanceOf(StoreUnavailableException.class);
    }
}
