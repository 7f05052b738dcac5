// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lockkeeper.Lockkeeper;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.testservers.LocalServer;
import io.lockkeeper.testservers.MariaDbServer;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Faults of MariaDB. */
class MariaDbFaultsTest extends ServerFaults {
    private MariaDbServer mariadb;

    @Override
    LocalServer start() {
        mariadb = MariaDbServer.start("--default-time-zone=+05:30");
        return mariadb;
    }

    @Override
    String url(int port) {
        return mariadb.jdbcUrl(port);
    }

    private void execute(String... statements) throws SQLException {
        try (Connection c = DriverManager.getConnection(url(server().port()));
                Statement s = c.createStatement()) {
            for (String statement : statements) {
                s.execute(statement);
            }
        }
    }

    @Override
    void killConnections() throws Exception {
        try (Connection c = DriverManager.getConnection(url(server().port()));
                Statement s = c.createStatement()) {
            List<String> all = new ArrayList<>();
            try (ResultSet row = s.executeQuery("SELECT id FROM information_schema.processlist"
                    + " WHERE id <> CONNECTION_ID() AND user <> 'system user'")) {
                while (row.next()) {
                    all.add(row.getString(1));
                }
            }
            for (String id : all) {
                try {
                    s.execute("KILL " + id);
                } catch (SQLException e) {
                    assertThat(e.getErrorCode()).as("it has gone by itself").isEqualTo(1094);
                }
            }
        }
    }

    @Override
    String urlOfShortLivedConnections(int port) {
        return Db.with(url(port), "sessionVariables=wait_timeout=1");
    }

    @Test
    void aReadOnlyServerIsAnErrorAndNotBusy() throws Exception { // H37
        execute("CREATE USER 'app'@'%' IDENTIFIED BY 'app'", "GRANT ALL ON test.* TO 'app'@'%'");
        String url = url(server().port()).replace("user=root", "user=app&password=app");
        try (SqlStore store = open(url, "300ms");
                Lockkeeper keeper = keeper(store, Duration.ofMillis(300))) {
            keeper.lock("read-only").acquire().close();
            execute("SET GLOBAL read_only = 1");
            try {
                assertThatThrownBy(() -> keeper.lock("read-only").tryAcquire())
                        .isInstanceOf(StoreUnavailableException.class)
                        .hasMessageContaining("read-only");
            } finally {
                execute("SET GLOBAL read_only = 0");
            }
        }
    }

    @Test
    void affectedRowsMayBeCountedInAnyWay() throws Exception {
        for (String way : new String[] {"useAffectedRows=true", "useAffectedRows=false"}) {
            try (SqlStore store = open(Db.with(url(server().port()), way), "2s");
                    Lockkeeper keeper = keeper(store, Duration.ofSeconds(20))) {
                for (int i = 0; i < 3; i++) {
                    assertThat(keeper.lock("rows").tryAcquire().orElseThrow().release())
                            .isTrue();
                }
            }
        }
    }

    @Test
    void aWrongPasswordIsReportedAtOnceAndNotRepeated() { // H54
        String url = url(server().port()).replace("user=root", "user=root&password=hunter2");
        assertThatThrownBy(() -> open(url, "10s")).isInstanceOfSatisfying(StoreUnavailableException.class, e -> {
            assertThat(e.worthRepeating()).isFalse();
            assertThat(e.toString()).doesNotContain("hunter2");
        });
    }
}
