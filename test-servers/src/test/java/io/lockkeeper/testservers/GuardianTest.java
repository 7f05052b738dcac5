// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testservers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Servers end with the JVM that started them. */
@Timeout(90)
class GuardianTest {
    @BeforeAll
    static void find() {
        Servers.require(ServerKind.REDIS, Assumptions::abort);
        Servers.require(ServerKind.POSTGRES, Assumptions::abort);
    }

    @Test
    void serversEndWithAJvmThatIsKilled() throws Exception {
        try (Child child = new Child()) {
            child.process.destroyForcibly();
            child.assertNothingIsLeft();
        }
    }

    @Test
    void serversEndWithAJvmThatEndsInOrder() throws Exception {
        try (Child child = new Child()) {
            child.process.getOutputStream().close();
            child.assertNothingIsLeft();
        }
    }

    /** A JVM with a Redis, started by a thread that has ended, and a paused PostgreSQL with an open connection. */
    static final class Child implements AutoCloseable {
        private final Process process;
        private final Path folder;
        private final List<ProcessHandle> servers;

        Child() throws IOException {
            process = new ProcessBuilder(
                            Path.of(System.getProperty("java.home"), "bin", "java")
                                    .toString(),
                            "-XX:TieredStopAtLevel=1",
                            "-cp",
                            System.getProperty("java.class.path"),
                            Child.class.getName())
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
            BufferedReader output =
                    new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
            String line;
            do {
                line = output.readLine();
                assertThat(line).as("a line of the child").isNotNull();
            } while (!line.startsWith("ready "));
            String[] words = line.split(" ");
            folder = Path.of(words[1]);
            servers = Stream.of(words)
                    .skip(2)
                    .map(Long::parseLong)
                    .flatMap(pid -> ProcessHandle.of(pid).stream())
                    .flatMap(server -> Stream.concat(Stream.of(server), server.descendants()))
                    .toList();
            // PostgreSQL's connections and helpers are processes too
            assertThat(servers).hasSizeGreaterThan(4).allMatch(ProcessHandle::isAlive);
            assertThat(folder).isDirectory();
        }

        void assertNothingIsLeft() {
            await().atMost(Duration.ofSeconds(20)).untilAsserted(() -> {
                assertThat(process.isAlive()).isFalse();
                assertThat(servers).allMatch(server -> "ZX".indexOf(ProcessState.of(server)) >= 0);
                assertThat(Files.exists(folder)).isFalse();
            });
        }

        @Override
        public void close() {
            process.destroyForcibly();
            servers.forEach(ProcessHandle::destroyForcibly);
        }

        public static void main(String[] arguments) throws Exception {
            RedisServer[] redis = new RedisServer[1];
            Thread starter = new Thread(() -> redis[0] = RedisServer.start());
            starter.start();
            starter.join();
            PostgresServer postgres = PostgresServer.start();
            try (Connection connection = DriverManager.getConnection(postgres.jdbcUrl())) {
                assertThat(connection.isValid(20)).isTrue();
                postgres.pause();
                System.out.println("ready " + Guardian.get().folder() + " " + redis[0].pid() + " " + postgres.pid());
                // until the parent closes the pipe
                assertThat(System.in.read()).isNegative();
                System.exit(0);
            }
        }
    }
}
