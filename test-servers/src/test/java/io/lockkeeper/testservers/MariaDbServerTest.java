// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testservers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class MariaDbServerTest {
    @BeforeAll
    static void find() {
        Servers.require(ServerKind.MARIADB, Assumptions::abort);
    }

    @Test
    void keepsItsDataWhenKilledAndAnswersAfterAPause() throws SQLException {
        try (MariaDbServer server = MariaDbServer.start("--default-time-zone=+05:30")) {
            String url = server.jdbcUrl();
            assertThat(Sql.query(url, "SELECT @@time_zone")).isEqualTo("+05:30");
            Sql.update(url, "CREATE TABLE a(b INT)");
            Sql.update(url, "INSERT INTO a VALUES (1)");
            server.kill();
            assertThatThrownBy(() -> Sql.query(url, "SELECT 1")).isInstanceOf(SQLException.class);
            server.restart();
            assertThat(Sql.query(url, "SELECT b FROM a")).isEqualTo("1");
            try (Connection connection = DriverManager.getConnection(url)) {
                server.pause();
                assertThatThrownBy(() -> Sql.query(connection, "SELECT 1", 1)).isInstanceOf(SQLException.class);
                server.resume();
            }
            assertThat(Sql.query(url, "SELECT b FROM a")).isEqualTo("1");
            server.restart();
            assertThat(Sql.query(url, "SELECT b FROM a")).isEqualTo("1");
        }
    }
}
