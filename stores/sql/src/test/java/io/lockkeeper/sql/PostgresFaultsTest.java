// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.lockkeeper.Lease;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.testservers.LocalServer;
import io.lockkeeper.testservers.PostgresServer;
import io.lockkeeper.testservers.SecretSearch;
import io.lockkeeper.testservers.TcpProxy;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.Statement;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** Faults of PostgreSQL, and what only PostgreSQL has. */
class PostgresFaultsTest extends ServerFaults {
    private PostgresServer postgres;

    @Override
    LocalServer start() {
        postgres = PostgresServer.start("timezone=Asia/Kolkata");
        return postgres;
    }

    @Override
    String url(int port) {
        return postgres.jdbcUrl(port);
    }

    @Override
    void killConnections() throws Exception {
        try (Connection c = DriverManager.getConnection(url(server().port()));
                Statement s = c.createStatement()) {
            s.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'lockkeeper'");
        }
    }

    @Override
    String urlOfShortLivedConnections(int port) {
        return Db.with(url(port), "options=-c%20idle_session_timeout=1000");
    }

    @Test
    void aReadOnlyServerIsAnErrorAndNotBusy() throws Exception { // H37
        try (SqlStore store = open(url(server().port()), "1s")) {
            assertThat(store.size()).isNotNegative(); // the tables are there
        }
        String readOnly = Db.with(url(server().port()), "options=-c%20default_transaction_read_only=on");
        try (SqlStore store = open(readOnly, "300ms");
                Lockkeeper keeper = keeper(store, Duration.ofMillis(300))) {
            assertThatThrownBy(() -> keeper.lock("read-only").tryAcquire())
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining("25006");
        }
    }

    @Test
    void aMissingDatabaseIsReportedAtOnce() { // H54
        String url = url(server().port()).replace("/postgres?", "/no_such_database?");
        assertThatThrownBy(() -> open(url, "10s"))
                .isInstanceOfSatisfying(StoreUnavailableException.class, e -> assertThat(e.worthRepeating())
                        .isFalse());
    }

    @Test
    void noSecretIsShownWhenTheServerGoesAwayLater() throws Exception {
        try (SqlStore store = open(Db.with(url(server().port()), "password=hunter2"), "500ms");
                Lockkeeper keeper = keeper(store, Duration.ofMillis(500))) {
            keeper.lock("secret").acquire().close();
            server().kill();
            try {
                Throwable failure = catchThrowable(() -> keeper.lock("secret").tryAcquire());
                assertThat(failure).isInstanceOf(StoreUnavailableException.class);
                assertThat(SecretSearch.text(failure)).doesNotContain("hunter2");
                assertThat(keeper.toString()).doesNotContain("hunter2");
            } finally {
                server().restart();
            }
        }
    }

    @Test
    void aListenerListensAgainWhenItsConnectionWasCut() throws Exception {
        try (SqlStore a = open(url(server().port()), "1s");
                SqlStore b = open(url(server().port()), "1s");
                Lockkeeper holder = keeper(a, Duration.ofSeconds(20));
                Lockkeeper other = keeper(b, Duration.ofSeconds(20))) {
            Lease lease = holder.lock("listen").acquire();
            CompletableFuture<Lease> waiting = other.lock("listen").acquireAsync();
            await(
                    "it waits",
                    () -> holder.inspector().inspect("listen").orElseThrow().waiters() == 1);
            try (Connection c = DriverManager.getConnection(url(server().port()));
                    Statement s = c.createStatement()) {
                s.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'");
                await("both listen again", () -> listeners(s) == 2);
            }
            long start = System.nanoTime();
            lease.release();
            waiting.get(40, TimeUnit.SECONDS).close();
            // Well before it would look again by itself, a third of its patience of 30 s later.
            assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(8));
        }
    }

    private static int listeners(Statement s) {
        try (ResultSet row =
                s.executeQuery("SELECT COUNT(*) FROM pg_stat_activity WHERE query LIKE 'LISTEN%' AND state = 'idle'")) {
            row.next();
            return row.getInt(1);
        } catch (java.sql.SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void onlyAReleaseThatHandsOverToNobodyDoesNotWaitForTheDisk() throws Exception {
        try (SqlStore store = open(url(server().port()), "1s");
                Connection connection = DriverManager.getConnection(url(server().port()))) {
            Claim claim = StatementsTest.claim(store, "x");
            assertThat(store.claim(claim)).isInstanceOf(Answer.Granted.class);
            connection.setAutoCommit(false);
            Sql sql = new Sql(Dialect.POSTGRESQL, SqlOptions.defaults());
            assertThat(sql.execute(
                            connection,
                            "release",
                            Map.of("name", "x", "claim", claim.id().toString())))
                    .isEqualTo(1);
            assertThat(show(connection)).isEqualTo("off");
            connection.commit();
            assertThat(show(connection)).as("the next statement").isEqualTo("on");
            connection.rollback();
        }
        try (SqlStore relaxed = open(Db.with(url(server().port()), "lockkeeper.durability=relaxed"), "1s")) {
            assertThat(relaxed.guarantees().has(io.lockkeeper.Guarantee.DURABLE))
                    .isFalse();
        }
    }

    private static String show(Connection connection) throws Exception {
        try (Statement s = connection.createStatement();
                ResultSet row = s.executeQuery("SHOW synchronous_commit")) {
            row.next();
            return row.getString(1);
        }
    }

    /** The pool alone would try once in 5 s by then. */
    @Test
    void aServerThatWasAwayForLongIsTriedSeveralTimesASecond() throws Exception {
        AtomicBoolean stopped = new AtomicBoolean();
        AtomicReference<Throwable> last = new AtomicReference<>();
        try (TcpProxy proxy = TcpProxy.to(server().port());
                SqlStore store = open(url(proxy.port()), "1s")) {
            store.time(store);
            server().kill();
            Thread steps = new Thread(() -> {
                while (!stopped.get()) {
                    try {
                        store.time(store);
                    } catch (StoreUnavailableException e) {
                        last.set(e);
                    }
                }
            });
            steps.start();
            try {
                TimeUnit.SECONDS.sleep(12);
                long tried = proxy.connections();
                await("it is tried again", () -> proxy.connections() > tried + 10);
                await("it fails", () -> last.get() != null);
                assertThat(last.get())
                        .hasMessageStartingWith("the database at 127.0.0.1:" + proxy.port() + " cannot be reached (08");
            } finally {
                server().restart();
                stopped.set(true);
                steps.join(TimeUnit.SECONDS.toMillis(40));
            }
            await("steps succeed", () -> {
                try {
                    return store.time(store).micros() > 0;
                } catch (StoreUnavailableException e) {
                    return false;
                }
            });
        }
    }

    @Test
    void aServerThatGoesAwayLaterIsNamedWithTheReason() throws Exception {
        try {
            try (SqlStore store = open(url(server().port()), "500ms")) {
                store.time(store);
                server().kill();
                await("the reason is reported", () -> {
                    Throwable failure = catchThrowable(() -> store.time(store));
                    return failure != null
                            && failure.getMessage()
                                    .equals("the database at 127.0.0.1:" + server().port()
                                            + " cannot be reached (08001): Connection refused");
                });
            } // while the pool tries to connect
        } finally {
            server().restart();
        }
    }
}
