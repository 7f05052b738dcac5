// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testservers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.net.ConnectException;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class TcpProxyTest {
    private static RedisServer server;

    private TcpProxy proxy;
    private RedisSession direct;

    @BeforeAll
    static void start() {
        Servers.require(ServerKind.REDIS, Assumptions::abort);
        server = RedisServer.start();
    }

    @AfterAll
    static void end() {
        if (server != null) {
            server.close();
        }
    }

    @BeforeEach
    void connect() throws IOException {
        proxy = TcpProxy.to(server.port());
        direct = new RedisSession(server.port());
        direct.ask("FLUSHALL");
    }

    @AfterEach
    void leavesNoThread() throws IOException {
        direct.close();
        proxy.close();
        await().until(() -> Thread.getAllStackTraces().keySet().stream()
                .noneMatch(thread -> thread.getName().startsWith("tcp-proxy-")));
    }

    @Test
    void passesAndCounts() throws IOException {
        try (RedisSession session = new RedisSession(proxy.port())) {
            assertThat(session.ask("PING")).isEqualTo("+PONG");
            assertThat(proxy.connections()).isEqualTo(1);
            assertThat(proxy.openConnections()).isEqualTo(1);
            assertThat(proxy.received(Direction.REQUESTS)).isEqualTo("PING\r\n".length());
            assertThat(proxy.delivered(Direction.REQUESTS)).isEqualTo("PING\r\n".length());
            assertThat(proxy.received(Direction.REPLIES)).isEqualTo("+PONG\r\n".length());
        }
        await().until(() -> proxy.openConnections() == 0);
        assertThat(proxy.connections()).isEqualTo(1);
    }

    @Test
    void delaysEachDirectionAlone() throws IOException {
        try (RedisSession session = new RedisSession(proxy.port())) {
            assertThat(session.ask("PING")).isEqualTo("+PONG");
            proxy.delay(Direction.REPLIES, Duration.ofMillis(400));
            long start = System.nanoTime();
            session.send("INCR a");
            await().until(() -> direct.ask("STRLEN a").equals(":1"));
            assertThat(proxy.delivered(Direction.REPLIES)).isEqualTo("+PONG\r\n".length());
            assertThat(session.reply()).isEqualTo(":1");
            assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(400_000_000);

            proxy.pass();
            proxy.delay(Direction.REQUESTS, Duration.ofMillis(400));
            start = System.nanoTime();
            session.send("INCR a");
            assertThat(session.reply()).isEqualTo(":2");
            assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(400_000_000);
        }
    }

    @Test
    void delaysDoNotAddUp() throws Exception {
        try (RedisSession session = new RedisSession(proxy.port())) {
            proxy.delay(Direction.REQUESTS, Duration.ofMillis(500));
            long start = System.nanoTime();
            for (int i = 1; i <= 10; i++) {
                session.send("INCR a");
                long sent = i * (long) "INCR a\r\n".length();
                await().pollInterval(Duration.ofMillis(1)).until(() -> proxy.received(Direction.REQUESTS) == sent);
            }
            for (int i = 1; i <= 10; i++) {
                assertThat(session.reply()).isEqualTo(":" + i);
            }
            assertThat(System.nanoTime() - start).isBetween(500_000_000L, 4_000_000_000L);
        }
    }

    @Test
    void dropsRepliesThoughTheRequestIsExecuted() throws IOException {
        try (RedisSession session = new RedisSession(proxy.port())) {
            assertThat(session.ask("PING")).isEqualTo("+PONG");
            proxy.drop(Direction.REPLIES);
            session.send("INCR a");
            session.send("INCR a");
            await().until(() -> direct.ask("GET a").equals("$1"));
            direct.reply();
            await().until(() -> proxy.received(Direction.REPLIES) == "+PONG\r\n:1\r\n:2\r\n".length());
            assertThatThrownBy(() -> session.timeout(200).reply()).isInstanceOf(SocketTimeoutException.class);
            assertThat(direct.ask("INCR a")).isEqualTo(":3");
            // a connection with a gap does not come back
            proxy.pass();
            assertThatThrownBy(() -> session.timeout(20_000).reply()).isInstanceOf(SocketException.class);
        }
        try (RedisSession session = new RedisSession(proxy.port())) {
            assertThat(session.ask("PING")).isEqualTo("+PONG");
        }
    }

    @Test
    void dropsRequestsForGood() throws IOException {
        try (RedisSession session = new RedisSession(proxy.port())) {
            proxy.drop(Direction.REQUESTS);
            session.send("INCR a");
            await().until(() -> proxy.received(Direction.REQUESTS) == "INCR a\r\n".length());
            proxy.pass();
            await().until(() -> proxy.openConnections() == 0);
            assertThat(proxy.delivered(Direction.REQUESTS)).isZero();
            assertThat(direct.ask("EXISTS a")).isEqualTo(":0");
        }
    }

    @Test
    void deliversAHeldRequestThoughTheClientHasGone() throws IOException {
        try (RedisSession session = new RedisSession(proxy.port())) {
            proxy.hold(Direction.REQUESTS);
            session.send("SETNX a late");
            await().until(() -> proxy.received(Direction.REQUESTS) > 0);
        }
        assertThat(direct.ask("EXISTS a")).isEqualTo(":0");
        assertThat(proxy.delivered(Direction.REQUESTS)).isZero();
        proxy.pass();
        await().until(() -> direct.ask("EXISTS a").equals(":1"));
        await().until(() -> proxy.openConnections() == 0);
    }

    @Test
    void dropsWhatItHeld() throws IOException {
        try (RedisSession session = new RedisSession(proxy.port())) {
            proxy.hold(Direction.REQUESTS);
            session.send("INCR a");
            await().until(() -> proxy.received(Direction.REQUESTS) > 0);
            proxy.drop(Direction.REQUESTS);
            proxy.pass();
            await().until(() -> proxy.openConnections() == 0);
            assertThat(direct.ask("EXISTS a")).isEqualTo(":0");
        }
    }

    @Test
    void holdsRepliesBackInOrder() throws IOException {
        try (RedisSession session = new RedisSession(proxy.port())) {
            proxy.hold(Direction.REPLIES);
            session.send("INCR a");
            session.send("INCR a");
            await().until(() -> proxy.received(Direction.REPLIES) == ":1\r\n:2\r\n".length());
            assertThatThrownBy(() -> session.timeout(100).reply()).isInstanceOf(SocketTimeoutException.class);
            proxy.pass();
            session.timeout(20_000);
            assertThat(session.reply()).isEqualTo(":1");
            assertThat(session.reply()).isEqualTo(":2");
        }
    }

    @Test
    void resetsOpenConnectionsAndAcceptsNewOnes() throws IOException {
        try (RedisSession session = new RedisSession(proxy.port())) {
            assertThat(session.ask("PING")).isEqualTo("+PONG");
            proxy.reset();
            assertThatThrownBy(() -> session.ask("PING")).isInstanceOf(SocketException.class);
        }
        try (RedisSession session = new RedisSession(proxy.port())) {
            assertThat(session.ask("PING")).isEqualTo("+PONG");
        }
    }

    @Test
    void refusesNewConnectionsAndKeepsOpenOnes() throws IOException {
        try (RedisSession session = new RedisSession(proxy.port())) {
            assertThat(session.ask("PING")).isEqualTo("+PONG");
            // many times: closing a socket does not at once end an accept() that is under way
            for (int i = 0; i < 50; i++) {
                proxy.refuse();
                assertThatThrownBy(() -> new RedisSession(proxy.port())).isInstanceOf(ConnectException.class);
                assertThat(session.ask("PING")).isEqualTo("+PONG");
                proxy.pass();
                try (RedisSession other = new RedisSession(proxy.port())) {
                    assertThat(other.ask("PING")).isEqualTo("+PONG");
                }
            }
        }
    }

    @Test
    void passesOnThatTheServerWasKilledAndServesItsSuccessor() throws IOException {
        try (RedisServer other = RedisServer.start();
                TcpProxy front = TcpProxy.to(other.port())) {
            try (RedisSession session = new RedisSession(front.port())) {
                assertThat(session.ask("PING")).isEqualTo("+PONG");
                other.kill();
                assertThat(session.reply()).isNull();
            }
            assertThatThrownBy(() -> {
                        try (RedisSession session = new RedisSession(front.port())) {
                            if (session.ask("PING") == null) {
                                throw new SocketException("end");
                            }
                        }
                    })
                    .isInstanceOf(SocketException.class);
            other.restart();
            try (RedisSession session = new RedisSession(front.port())) {
                assertThat(session.ask("PING")).isEqualTo("+PONG");
            }
        }
    }
}
