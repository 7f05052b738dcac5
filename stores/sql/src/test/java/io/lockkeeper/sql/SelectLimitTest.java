// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.Lease;
import io.lockkeeper.LockInfo;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.Mode;
import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.Renewal;
import io.lockkeeper.spi.Renewals;
import io.lockkeeper.testservers.MariaDbServer;
import io.lockkeeper.testservers.MySqlServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** MariaDB and MySQL, where a setting cuts off what a query gives: a holder that is not seen holds nothing. */
class SelectLimitTest {
    private static final List<String> NAMES = List.of("a", "b", "c");

    /** What no setting cuts off. */
    private static final Pattern UNCUT =
            Pattern.compile("(?s).*\\sLIMIT 18446744073709551615(\\s+FOR UPDATE(\\s+SKIP LOCKED)?)?");

    private static MariaDbServer mariadb;
    private static MySqlServer mysql;

    @BeforeAll
    static void start() throws SQLException {
        mariadb = MariaDbServer.start();
        mysql = MySqlServer.start();
        for (String url : List.of(mariadb.jdbcUrl(), mysql.jdbcUrl())) {
            try (Connection connection = DriverManager.getConnection(url);
                    Statement s = connection.createStatement()) {
                s.execute("SET GLOBAL sql_select_limit = 1");
            }
        }
    }

    @AfterAll
    static void end() {
        mariadb.close();
        mysql.close();
    }

    /** Limited by the server, by the session, and by the driver. */
    static Stream<String> limited() {
        return Stream.of(
                        mariadb.jdbcUrl(),
                        Db.with(mariadb.jdbcUrl(), "sessionVariables=sql_select_limit=2"),
                        mysql.jdbcUrl(),
                        Db.with(mysql.jdbcUrl(), "maxRows=1"))
                .map(url -> Db.with(url, "lockkeeper.tablePrefix=" + Db.freshPrefix()));
    }

    @ParameterizedTest
    @MethodSource("limited")
    void allPermitsAreCounted(String url) {
        try (SqlStore store = Db.open(url);
                Lockkeeper keeper = Lockkeeper.on(store)) {
            List<Lease> granted = new ArrayList<>();
            for (int i = 0; i < 8; i++) {
                keeper.semaphore("permits", 4).tryAcquire(1).ifPresent(granted::add);
            }
            assertThat(granted).hasSize(4).allMatch(Lease::isValid);
        }
    }

    @ParameterizedTest
    @MethodSource("limited")
    void noWriterIsBesideReaders(String url) {
        try (SqlStore store = Db.open(url)) {
            List<Renewals.Hold> readers = new ArrayList<>();
            for (int i = 0; i < 5; i++) {
                readers.add(Spi.hold(store, "n", Mode.SHARED, Spi.LEASE));
            }
            Claim writer = Spi.queue(store, "n", Mode.EXCLUSIVE);
            for (Renewals.Hold reader : readers) {
                assertThat(store.claim(writer)).isInstanceOf(Answer.Queued.class);
                assertThat(store.release(reader.grant())).isTrue();
            }
            assertThat(store.claim(writer)).isInstanceOf(Answer.Granted.class);
        }
    }

    @ParameterizedTest
    @MethodSource("limited")
    void allIsRenewedAndListed(String url) throws InterruptedException {
        try (SqlStore store = Db.open(url)) {
            List<Renewals.Hold> holds = new ArrayList<>();
            List<Claim> queued = new ArrayList<>();
            for (String name : NAMES) {
                for (int i = 0; i < 3; i++) {
                    holds.add(Spi.hold(store, name, Mode.SHARED, Spi.LEASE.multipliedBy(2)));
                }
                for (int i = 0; i < 3; i++) {
                    queued.add(Spi.queue(store, name, Mode.EXCLUSIVE));
                }
            }
            for (int round = 0; round < 2; round++) {
                Renewal renewal = store.renew(new Renewals(holds, queued));
                assertThat(renewal.holds()).hasSize(9).allSatisfy(outcome -> assertThat(outcome)
                        .isInstanceOfSatisfying(Renewal.Kept.class, kept -> assertThat(kept.remaining())
                                .isGreaterThan(Spi.LEASE)));
                assertThat(renewal.queued())
                        .extracting(answer -> ((Answer.Queued) answer).ahead())
                        .containsExactly(0, 1, 2, 0, 1, 2, 0, 1, 2);
            }
            assertThat(store.list("", 10))
                    .hasSize(3)
                    .allSatisfy(info -> assertThat(info.holders()).hasSize(3))
                    .extracting(LockInfo::waiters)
                    .containsOnly(3);
            queued.forEach(store::withdraw);
            holds.forEach(hold -> store.release(hold.grant()));
            Spi.awaitPurged(store, 0);
        }
    }

    @ParameterizedTest
    @MethodSource("limited")
    void allWaitersAreFound(String url) throws Exception {
        try (SqlStore here = Db.open(url);
                SqlStore there = Db.open(url);
                Lockkeeper one = Lockkeeper.on(here);
                Lockkeeper two = Lockkeeper.on(there)) {
            List<Lease> held = new ArrayList<>();
            List<CompletableFuture<Lease>> waiting = new ArrayList<>();
            List<CompletableFuture<Void>> watching = new ArrayList<>();
            for (String name : NAMES) {
                held.add(one.lock(name).acquire());
                waiting.add(two.lock(name).acquireAsync());
                assertThat(one.latch(name).trySetCount(1)).isTrue();
                watching.add(two.latch(name).awaitAsync());
            }
            Spi.await("all wait", () -> here.list("", 10).stream().allMatch(info -> info.waiters() == 1));
            held.forEach(Lease::release);
            for (String name : NAMES) {
                one.latch(name).countDown();
            }
            for (int i = 0; i < NAMES.size(); i++) {
                assertThat(waiting.get(i).get(30, TimeUnit.SECONDS).isValid()).isTrue();
                watching.get(i).get(30, TimeUnit.SECONDS);
            }
        }
    }

    /** So that none is forgotten that comes later. */
    @ParameterizedTest
    @EnumSource(names = {"MARIADB", "MYSQL"})
    void everySelectHasItsOwnLimit(Dialect dialect) throws Exception {
        Sql sql = new Sql(dialect, SqlOptions.defaults());
        List<String> queries = new ArrayList<>();
        for (String name : statements()) {
            if (sql.has(name) && sql.text(name).matches("(?s)(SELECT|WITH|\\()\\s.*")) {
                queries.add(name);
            }
        }
        assertThat(queries).contains("claims", "lock_skip", "select", "latches");
        assertThat(queries).allSatisfy(name -> assertThat(sql.text(name)).matches(UNCUT));
    }

    private static Set<String> statements() throws Exception {
        Set<String> names = new TreeSet<>();
        for (String folder : List.of("common", "mariadb", "mysql")) {
            try (Stream<Path> files =
                    Files.list(Path.of(Dialect.class.getResource(folder).toURI()))) {
                files.map(each -> each.getFileName().toString().replace(".sql", ""))
                        .forEach(names::add);
            }
        }
        return names;
    }
}
