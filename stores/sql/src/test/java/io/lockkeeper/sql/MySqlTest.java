// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.DistributedSemaphore;
import io.lockkeeper.Lease;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.Mode;
import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.Renewal;
import io.lockkeeper.spi.Renewals;
import io.lockkeeper.testservers.MySqlServer;
import java.sql.Connection;
import java.sql.DriverManager;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A real MySQL: what differs from MariaDB, in every check; the whole contract is in {@link MySqlTckTest}. */
class MySqlTest {
    private static MySqlServer server;

    @BeforeAll
    static void start() {
        server = MySqlServer.start();
    }

    @AfterAll
    static void end() {
        server.close();
    }

    private static SqlStore open(String prefix) {
        return Db.open(Db.with(server.jdbcUrl(), "lockkeeper.tablePrefix=" + prefix));
    }

    @Test
    void itIsKnownAsItself() throws Exception {
        try (Connection connection = DriverManager.getConnection(server.jdbcUrl())) {
            assertThat(Dialect.of(connection)).isEqualTo(Dialect.MYSQL);
        }
    }

    @Test
    void listingsPurgesLatchesAndFencesWork() throws Exception {
        try (SqlStore store = open(Db.freshPrefix());
                Connection connection = DriverManager.getConnection(server.jdbcUrl())) {
            Renewals.Hold hold = Spi.hold(store, "a", Mode.EXCLUSIVE, Spi.LEASE);
            Spi.hold(store, "b", Mode.SHARED, Spi.LEASE);
            Spi.hold(store, "b", Mode.SHARED, Spi.LEASE);
            Spi.queue(store, "b", Mode.EXCLUSIVE);
            assertThat(store.list("", 1)).hasSize(1);
            assertThat(store.list("", 5)).hasSize(2).last().satisfies(info -> {
                assertThat(info.holders()).hasSize(2);
                assertThat(info.waiters()).isEqualTo(1);
            });
            assertThat(store.release(hold.grant())).isTrue();
            Spi.awaitPurged(store, 3);
            try (Lockkeeper keeper = Lockkeeper.on(store);
                    Lease lease = keeper.lock("c").acquire()) {
                assertThat(keeper.latch("l").trySetCount(1)).isTrue();
                keeper.latch("l").countDown();
                assertThat(keeper.latch("l").await(Duration.ofSeconds(30))).isTrue();
                JdbcFence.createTable(connection, SqlOptions.defaults());
                connection.setAutoCommit(false);
                JdbcFence.in(connection).enter(lease);
                connection.commit();
            }
        }
    }

    @ParameterizedTest
    @ValueSource(
            ints = {
                Connection.TRANSACTION_READ_UNCOMMITTED,
                Connection.TRANSACTION_READ_COMMITTED,
                Connection.TRANSACTION_REPEATABLE_READ,
                Connection.TRANSACTION_SERIALIZABLE
            })
    void aFenceWorksInEveryIsolationLevel(int level) throws Exception { // H100
        try (FenceIsolation holders = new FenceIsolation(() -> DriverManager.getConnection(server.jdbcUrl()), level)) {
            holders.works();
        }
    }

    @Test
    void aWaiterElsewhereIsFoundByThePoll() throws Exception {
        String prefix = Db.freshPrefix();
        try (SqlStore here = open(prefix);
                SqlStore there = open(prefix);
                Lockkeeper one = Lockkeeper.on(here);
                Lockkeeper two = Lockkeeper.on(there)) {
            Lease held = one.lock("a").acquire();
            CompletableFuture<Lease> waiting = two.lock("a").acquireAsync();
            Spi.await("it waits", () -> here.inspect("a").orElseThrow().waiters() == 1);
            assertThat(held.release()).isTrue();
            try (Lease next = waiting.get(30, TimeUnit.SECONDS)) {
                assertThat(next.token()).isGreaterThan(held.token());
            }
        }
    }

    @Test
    void namesAreTakenQueuedForRenewedAndGivenBack() {
        try (SqlStore store = open(Db.freshPrefix())) {
            Renewals.Hold hold = Spi.hold(store, "a", Mode.EXCLUSIVE, Duration.ofMinutes(2));
            List<io.lockkeeper.spi.Claim> queued = List.of(
                    Spi.queue(store, "a", Mode.EXCLUSIVE), // the general way
                    Spi.queue(store, "a", Mode.EXCLUSIVE)); // the short one
            Spi.hold(store, "b", Mode.SHARED, Duration.ofMinutes(2));
            Renewals.Hold second = Spi.hold(store, "b", Mode.SHARED, Duration.ofMinutes(2));
            Renewal renewal = store.renew(new Renewals(List.of(hold, second), queued));
            assertThat(renewal.holds()).allSatisfy(outcome -> assertThat(outcome)
                    .isInstanceOfSatisfying(Renewal.Kept.class, kept -> assertThat(kept.remaining())
                            .isGreaterThan(Duration.ofSeconds(61))));
            assertThat(renewal.queued())
                    .extracting(answer -> ((Answer.Queued) answer).ahead())
                    .containsExactly(0, 1);
            assertThat(store.release(hold.grant())).isTrue();
            assertThat(store.release(hold.grant())).isFalse();
            assertThat(store.claim(queued.get(0))).isInstanceOf(Answer.Granted.class);
            assertThat(store.inspect("a").orElseThrow().waiters()).isEqualTo(1);
        }
    }

    @Test
    void onlyOneIsInside() throws Exception {
        String prefix = Db.freshPrefix();
        AtomicInteger inside = new AtomicInteger();
        AtomicInteger permits = new AtomicInteger();
        List<CompletableFuture<Void>> all = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            all.add(CompletableFuture.runAsync(
                    () -> {
                        try (SqlStore store = open(prefix);
                                Lockkeeper keeper = Lockkeeper.builder(store)
                                        .operationTimeout(Duration.ofSeconds(20))
                                        .build()) {
                            DistributedSemaphore semaphore = keeper.semaphore("s", 2);
                            long last = 0;
                            for (int n = 0; n < 15; n++) {
                                try (Lease lease = keeper.lock(
                                                "x", LockOptions.defaults().fair(true))
                                        .acquire()) {
                                    assertThat(inside.incrementAndGet()).isEqualTo(1);
                                    assertThat(lease.token()).isGreaterThan(last);
                                    last = lease.token();
                                    inside.decrementAndGet();
                                }
                                try (Lease lease = semaphore.acquire()) {
                                    assertThat(permits.incrementAndGet()).isLessThanOrEqualTo(2);
                                    assertThat(lease.isValid()).isTrue();
                                    permits.decrementAndGet();
                                }
                            }
                        } catch (InterruptedException e) {
                            throw new IllegalStateException(e);
                        }
                    },
                    task -> new Thread(task).start()));
        }
        for (CompletableFuture<Void> each : all) {
            each.get(120, TimeUnit.SECONDS);
        }
    }
}
