// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testservers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.ConnectException;
import java.net.SocketTimeoutException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class RedisServerTest {
    @BeforeAll
    static void find() {
        Servers.require(ServerKind.REDIS, Assumptions::abort);
    }

    @Test
    void keepsWhatItWasToldToKeepWhenKilled() throws IOException {
        try (RedisServer server = RedisServer.start("--appendonly", "yes", "--appendfsync", "always")) {
            int port = server.port();
            assertThat(ask(port, "PING")).isEqualTo("+PONG");
            assertThat(ask(port, "SET a 1")).isEqualTo("+OK");
            server.kill();
            assertThat(server.isAlive()).isFalse();
            assertThatThrownBy(() -> ask(port, "PING")).isInstanceOf(ConnectException.class);
            server.restart();
            assertThat(server.port()).isEqualTo(port);
            assertThat(ask(port, "INCR a")).isEqualTo(":2");
        }
    }

    @Test
    void forgetsAllWhenKilledUnlessTold() throws IOException {
        try (RedisServer server = RedisServer.start()) {
            assertThat(ask(server.port(), "INCR a")).isEqualTo(":1");
            server.kill();
            server.restart();
            assertThat(ask(server.port(), "INCR a")).isEqualTo(":1");
        }
    }

    @Test
    void answersOnlyAfterThePause() throws IOException {
        try (RedisServer server = RedisServer.start();
                RedisSession session = new RedisSession(server.port())) {
            assertThat(session.ask("PING")).isEqualTo("+PONG");
            server.pause();
            assertThat(server.isAlive()).isTrue();
            session.send("INCR a");
            assertThatThrownBy(() -> session.timeout(300).reply()).isInstanceOf(SocketTimeoutException.class);
            server.resume();
            assertThat(session.timeout(20_000).reply()).isEqualTo(":1");
            server.pause();
            server.kill();
            assertThat(server.isAlive()).isFalse();
        }
    }

    @Test
    void restartsWhileItRunsOrIsPaused() throws IOException {
        try (RedisServer server = RedisServer.start("--appendonly", "yes")) {
            long first = server.pid();
            assertThat(ask(server.port(), "INCR a")).isEqualTo(":1");
            server.pause();
            server.restart();
            assertThat(server.pid()).isNotEqualTo(first);
            assertThat(ask(server.port(), "INCR a")).isEqualTo(":2");
        }
    }

    @Test
    void triesOtherPortsWhenOneIsTaken() throws IOException {
        try (RedisServer other = RedisServer.start();
                LocalServer server = new LocalServer(ServerKind.REDIS, Map.of(), 1) {
                    private int attempts;

                    @Override
                    List<String> command(List<Integer> ports) {
                        int port = attempts++ == 0 ? other.port() : ports.get(0);
                        return List.of(
                                Binaries.of(ServerKind.REDIS)
                                        .executable("redis-server")
                                        .toString(),
                                "--port",
                                Integer.toString(port),
                                "--bind",
                                host());
                    }

                    @Override
                    String readyText() {
                        return "Ready to accept connections";
                    }
                }) {
            server.begin();
            assertThat(server.port()).isNotEqualTo(other.port());
            assertThat(ask(server.port(), "PING")).isEqualTo("+PONG");
        }
    }

    @Test
    void tellsTheLogWhenItDoesNotStart() {
        assertThatThrownBy(() -> RedisServer.start("--no-such-setting", "1"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("no-such-setting");
    }

    private static String ask(int port, String command) throws IOException {
        try (RedisSession session = new RedisSession(port)) {
            return session.ask(command);
        }
    }
}
