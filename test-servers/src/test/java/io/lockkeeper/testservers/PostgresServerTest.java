// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testservers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class PostgresServerTest {
    @BeforeAll
    static void find() {
        Servers.require(ServerKind.POSTGRES, Assumptions::abort);
    }

    @Test
    void keepsItsDataWhenKilled() throws SQLException {
        try (PostgresServer server = PostgresServer.start("fsync=on", "timezone=Asia/Kolkata")) {
            String url = server.jdbcUrl();
            assertThat(Sql.query(url, "SELECT current_setting('fsync')")).isEqualTo("on");
            assertThat(server.log()).contains("ready to accept connections");
            Sql.update(url, "CREATE TABLE a AS SELECT 1 AS b");
            server.kill();
            assertThatThrownBy(() -> Sql.query(url, "SELECT 1")).isInstanceOf(SQLException.class);
            server.restart();
            assertThat(Sql.query(url, "SELECT b FROM a")).isEqualTo("1");
        }
    }

    @Test
    void stopsOpenConnectionsTooWhenPausedAndEndsWithOnesOpen() throws Exception {
        try (PostgresServer server = PostgresServer.start();
                Connection connection = DriverManager.getConnection(server.jdbcUrl())) {
            assertThat(Sql.query(connection, "SELECT current_setting('fsync')", 20))
                    .isEqualTo("off");
            server.pause();
            CompletableFuture<String> answer = CompletableFuture.supplyAsync(() -> {
                try {
                    return Sql.query(connection, "SELECT 1", 20);
                } catch (SQLException e) {
                    throw new IllegalStateException(e);
                }
            });
            assertThatThrownBy(() -> answer.get(300, TimeUnit.MILLISECONDS)).isInstanceOf(TimeoutException.class);
            server.resume();
            assertThat(answer.get(20, TimeUnit.SECONDS)).isEqualTo("1");
            // with a connection open, in order and by force
            server.restart();
            assertThatThrownBy(() -> Sql.query(connection, "SELECT 1", 20)).isInstanceOf(SQLException.class);
            try (Connection other = DriverManager.getConnection(server.jdbcUrl())) {
                server.pause();
                server.kill();
                server.restart();
                assertThatThrownBy(() -> Sql.query(other, "SELECT 1", 20)).isInstanceOf(SQLException.class);
            }
            assertThat(Sql.query(server.jdbcUrl(), "SELECT 2")).isEqualTo("2");
        }
    }

    @Test
    void worksBehindAProxyThatLosesTheReply() throws Exception {
        try (PostgresServer server = PostgresServer.start();
                TcpProxy proxy = TcpProxy.to(server.port())) {
            Sql.update(server.jdbcUrl(), "CREATE TABLE a(b INT)");
            try (Connection connection = DriverManager.getConnection(server.jdbcUrl(proxy.port()))) {
                assertThat(Sql.query(connection, "SELECT count(*) FROM a", 20)).isEqualTo("0");
                proxy.drop(Direction.REPLIES);
                assertThatThrownBy(() -> Sql.query(connection, "INSERT INTO a VALUES (1) RETURNING b", 1))
                        .isInstanceOf(SQLException.class);
            }
            assertThat(Sql.query(server.jdbcUrl(), "SELECT count(*) FROM a")).isEqualTo("1");
        }
    }
}
