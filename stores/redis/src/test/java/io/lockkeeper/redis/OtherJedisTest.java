// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.redis.server.JedisVersion;
import io.lockkeeper.testservers.RedisCluster;
import io.lockkeeper.testservers.RedisServer;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Class paths on which a framework has put another Jedis than the one we are built with. The build fetches their jars. */
class OtherJedisTest {
    private static RedisServer server;

    @TempDir
    Path folder;

    @BeforeAll
    static void start() {
        server = RedisCluster.startOneNode();
    }

    @AfterAll
    static void end() {
        server.close();
    }

    /** What it prints, errors included. */
    private String run(String version) throws IOException, InterruptedException {
        String[] path = System.getProperty("java.class.path").split(File.pathSeparator);
        Path jar = Path.of("target", "jedis", "jedis-" + version + ".jar").toAbsolutePath();
        assertThat(jar).exists();
        assertThat(path).anyMatch(entry -> entry.matches(".*[/\\\\]jedis-[0-9.]+\\.jar"));
        String replaced = Arrays.stream(path)
                .map(entry -> entry.matches(".*[/\\\\]jedis-[0-9.]+\\.jar") ? jar.toString() : entry)
                .collect(Collectors.joining(File.pathSeparator));
        Path output = folder.resolve("output");
        ProcessBuilder builder = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        OtherJedis.class.getName(),
                        Integer.toString(server.port()))
                .redirectErrorStream(true)
                .redirectOutput(output.toFile());
        builder.environment().put("CLASSPATH", replaced);
        Process process = builder.start();
        try {
            assertThat(process.waitFor(Admin.LONG.toSeconds() * 2, TimeUnit.SECONDS))
                    .isTrue();
        } finally {
            process.destroyForcibly();
        }
        return Files.readString(output);
    }

    private void works(String version, String uses) throws Exception {
        assertThat(run(version).trim()).isEqualTo("Jedis " + version + ": " + uses);
    }

    @Test
    void theOldestThatIsSupported() throws Exception { // H95
        works("6.0.0", "redis redis-cluster JedisPooled JedisCluster");
    }

    @Test
    @Tag("full")
    void thatOfSpringBoot40() throws Exception { // H95
        works("7.0.0", "redis redis-cluster JedisPooled JedisCluster");
    }

    @Test
    @Tag("full")
    void thatOfSpringBoot41() throws Exception { // H95
        works("7.4.1", "redis redis-cluster RedisClient JedisPooled RedisClusterClient JedisCluster");
    }

    @Test
    void oneThatIsTooOldIsRejectedWithTheRange() throws Exception { // H95
        assertThat(run("5.2.0"))
                .contains("StoreUnavailableException", "Jedis 5.2.0 is on the class path", "Jedis 6.0 to 8.x")
                .doesNotContain("NoSuchMethodError", "NoClassDefFoundError");
    }

    @ParameterizedTest
    @ValueSource(strings = {"5.9.9", "9.0.0", "4.0", "10.1.0-beta", "?"})
    void versionsOutsideTheTestedRangeAreRejected(String version) {
        assertThatThrownBy(() -> JedisVersion.check(version))
                .isInstanceOfSatisfying(StoreUnavailableException.class, e -> assertThat(e.worthRepeating())
                        .isFalse())
                .hasMessageContaining(version);
    }

    @Test
    void versionsInsideTheTestedRangeAreAccepted() {
        for (String version : new String[] {"6.0.0", "6.2.0-beta1", "7.4.1", "8.9.9", "of unknown version"}) {
            assertThatCode(() -> JedisVersion.check(version)).as(version).doesNotThrowAnyException();
        }
    }
}
