// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.lockkeeper.Lease;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.testservers.MariaDbServer;
import io.lockkeeper.testservers.PostgresServer;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** How many connections waiting takes, by the server's own count: one per client. H109 */
class WaitingConnectionsTest {
    private static final int WAITERS = 10;

    /** For renewals, and to listen on or to look for breaks. */
    private static final int HOLDER = 2;

    @Test
    void aWaiterOnPostgreSqlHasTheConnectionThatItListensOn() throws Exception {
        try (PostgresServer server = PostgresServer.start()) {
            waitWithOneConnectionEach(
                    server.jdbcUrl(), "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'lockkeeper'");
        }
    }

    @Test
    void aWaiterOnMariaDbHasTheConnectionThatItPollsOn() throws Exception {
        try (MariaDbServer server = MariaDbServer.start()) {
            waitWithOneConnectionEach(
                    server.jdbcUrl(),
                    "SELECT count(*) FROM information_schema.processlist WHERE command <> 'Daemon' AND id <>"
                            + " CONNECTION_ID()");
        }
    }

    private static long count(Connection connection, String query) {
        try (Statement s = connection.createStatement();
                ResultSet row = s.executeQuery(query)) {
            row.next();
            return row.getLong(1);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void waitWithOneConnectionEach(String url, String query) throws Exception {
        List<Lockkeeper> keepers = new ArrayList<>();
        try (Connection counting = DriverManager.getConnection(url);
                Lockkeeper holder = Lockkeeper.connect(Db.with(url, "operationTimeout=5s"))) {
            Lease held = holder.lock("a").acquire();
            List<CompletableFuture<Void>> waiting = new ArrayList<>();
            for (int i = 0; i < WAITERS; i++) {
                Lockkeeper keeper = Lockkeeper.connect(Db.with(url, "operationTimeout=5s"));
                keepers.add(keeper);
                waiting.add(keeper.lock("a").acquireAsync().thenAccept(Lease::close));
            }
            await("one connection for each")
                    .atMost(Duration.ofSeconds(90))
                    .pollInterval(Duration.ofMillis(500))
                    .until(() -> count(counting, query) <= WAITERS + HOLDER);
            assertThat(holder.inspector().inspect("a").orElseThrow().waiters())
                    .as("all wait")
                    .isEqualTo(WAITERS);
            assertThat(held.release()).isTrue();
            CompletableFuture.allOf(waiting.toArray(new CompletableFuture<?>[0]))
                    .get(60, TimeUnit.SECONDS);
        } finally {
            keepers.forEach(Lockkeeper::close);
        }
    }
}
