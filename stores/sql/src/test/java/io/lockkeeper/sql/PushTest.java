// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.Guarantee;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.Mode;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.Renewals;
import io.lockkeeper.testservers.PgBouncer;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.net.URI;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;

/** Whether NOTIFY gets through is tried; where it does not, the store polls, says so once, and promises no PUSH. H110 */
class PushTest {
    private static final SqlOptions OPTIONS = SqlOptions.defaults().operationTimeout(Duration.ofSeconds(5));

    /** Only a signal can notify this client that its claim was granted. */
    private static void handOver(SqlStore from, SqlStore to) throws Exception {
        Renewals.Hold held = Spi.hold(from, "a", Mode.EXCLUSIVE, Spi.LEASE);
        Claim claim = Spi.claim(to, "a", Mode.EXCLUSIVE);
        Tap tap = new Tap();
        try (AutoCloseable listening = to.listen(claim.id().client(), tap)) {
            to.claim(claim);
            assertThat(from.release(held.grant())).isTrue();
            Spi.await("the grant is noticed", () -> tap.granted.containsKey(claim.id()));
            assertThat(tap.granted.get(claim.id()).token())
                    .isEqualTo(to.inspect("a").orElseThrow().holders().get(0).token());
            to.withdraw(claim);
            assertThat(listening).isNotNull();
        }
    }

    @Test
    void wherePostgresIsReachedDirectlyItPushes() throws Exception {
        String url = Db.POSTGRESQL.freshUrl();
        try (LogTap log = new LogTap();
                SqlStore a = Db.open(url);
                SqlStore b = Db.open(url);
                Lockkeeper keeper = Lockkeeper.on(b)) {
            assertThat(keeper.guarantees().has(Guarantee.PUSH)).isTrue();
            handOver(a, b);
            assertThat(((Poll) b.wakeUps).looks()).as("nobody looked").isZero();
            assertThat(log.warnings("NOTIFY")).isEmpty();
        }
    }

    @Test
    void throughATransactionPoolItPolls() throws Exception {
        String own = "lockkeeper.tablePrefix=" + Db.freshPrefix();
        int port = URI.create(Db.POSTGRESQL.url().substring("jdbc:".length())).getPort();
        try (SqlStore a = Db.open(Db.with(Db.POSTGRESQL.url(), own))) {
            try (PgBouncer bouncer = PgBouncer.start(port, "transaction");
                    LogTap log = new LogTap();
                    SqlStore b = Db.open(Db.with(bouncer.jdbcUrl(), own));
                    Lockkeeper keeper = Lockkeeper.on(b)) {
                assertThat(keeper.guarantees().has(Guarantee.PUSH)).isFalse();
                handOver(a, b);
                handOver(b, a);
                assertThat(((Poll) b.wakeUps).looks()).isPositive();
                assertThat(log.warnings("NOTIFY")).hasSize(1);
            }
            try (PgBouncer bouncer = PgBouncer.start(port, "session");
                    SqlStore b = Db.open(Db.with(bouncer.jdbcUrl(), own));
                    Lockkeeper keeper = Lockkeeper.on(b)) {
                assertThat(keeper.guarantees().has(Guarantee.PUSH)).isTrue();
                handOver(a, b);
                assertThat(((Poll) b.wakeUps).looks()).as("nobody looked").isZero();
            }
        }
    }

    /** A pool, or a tracing driver, that lets nobody see its driver's connections. */
    private static DataSource hiding(String url) {
        CountingSource source = new CountingSource(url);
        return (DataSource) Proxy.newProxyInstance(
                DataSource.class.getClassLoader(), new Class<?>[] {DataSource.class}, (p, method, arguments) -> {
                    Object result = method.invoke(source, arguments);
                    return result instanceof Connection connection ? hiding(connection) : result;
                });
    }

    private static Connection hiding(Connection connection) {
        return (Connection) Proxy.newProxyInstance(
                Connection.class.getClassLoader(), new Class<?>[] {Connection.class}, (p, method, arguments) -> {
                    if (method.getName().equals("unwrap")) {
                        throw new SQLException("nothing to unwrap");
                    }
                    try {
                        return method.invoke(connection, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    @Test
    void throughWrappedConnectionsItPolls() throws Exception {
        SqlOptions options = OPTIONS.tablePrefix(Db.freshPrefix());
        try (LogTap log = new LogTap();
                SqlStore a = SqlStore.of(new CountingSource(Db.POSTGRESQL.url()), options);
                SqlStore b = SqlStore.of(hiding(Db.POSTGRESQL.url()), options);
                Lockkeeper keeper = Lockkeeper.on(b)) {
            assertThat(keeper.guarantees().has(Guarantee.PUSH)).isFalse();
            handOver(a, b);
            assertThat(log.warnings("NOTIFY")).hasSize(1);
            Renewals.Hold held = Spi.hold(a, "x", Mode.EXCLUSIVE, Spi.LEASE);
            Tap tap = new Tap();
            Claim mine = Spi.claim(b, "mine", Mode.EXCLUSIVE);
            b.listen(mine.id().client(), tap);
            b.claim(mine);
            long token = b.inspect("mine").orElseThrow().holders().get(0).token();
            assertThat(a.breakHold("mine", token, Duration.ZERO, false)).isTrue();
            Spi.await("it is recalled", () -> tap.others.contains("recalled " + mine.id()));
            assertThat(a.release(held.grant())).isTrue();
        }
    }

    /** After a reconnect it is tried again. */
    @Test
    void whatIsLostAndFoundAgainIsTriedAgain() throws Exception {
        String url = Db.POSTGRESQL.freshUrl();
        try (SqlStore a = Db.open(url);
                SqlStore b = Db.open(url)) {
            Tap tap = new Tap();
            b.listen("somebody", tap);
            assertThat(Db.POSTGRESQL.query(
                            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE query LIKE"
                                    + " 'LISTEN%lockkeeper_somebody%'"))
                    .isEqualTo("1");
            Spi.await("it listens again", () -> tap.missed.get() > 0);
            assertThat(b.guarantees().has(Guarantee.PUSH)).isTrue();
            handOver(a, b);
        }
    }
}
