// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.Lease;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What waking costs. */
class WakeUpsTest {
    private static final long SHORTEST_PAUSE_MILLIS = 5;

    @TempDir
    Path folder;

    private static Lockkeeper keeper(SqlStore store) {
        return Lockkeeper.builder(store)
                .operationTimeout(Duration.ofSeconds(20))
                .build();
    }

    private static long notifications(CountingSource source) {
        return source.taken().stream()
                .filter(text -> text.contains("pg_notify"))
                .count();
    }

    @Test
    void postgresNotifiesOnlyWhenSomebodyWaitsElsewhere() throws Exception {
        CountingSource source = new CountingSource(Db.POSTGRESQL.url());
        SqlOptions options = SqlOptions.defaults().tablePrefix(Db.freshPrefix());
        try (SqlStore here = SqlStore.of(source, options);
                SqlStore there = SqlStore.of(new CountingSource(Db.POSTGRESQL.url()), options);
                Lockkeeper one = keeper(here);
                Lockkeeper same = keeper(here);
                Lockkeeper other = keeper(there)) {
            LockOptions fair = LockOptions.defaults().fair(true);
            source.taken(); // each listener has tried it once
            for (int i = 0; i < 10; i++) {
                one.lock("a", fair).acquire().close();
                one.readWriteLock("b").readLock().acquire().close();
                one.semaphore("c", 2).acquire().close();
            }
            assertThat(notifications(source)).as("nobody waits").isZero();

            Lease lease = one.lock("a", fair).acquire();
            CompletableFuture<Lease> waiting = same.lock("a", fair).acquireAsync();
            Spi.await("it waits", () -> here.inspect("a").orElseThrow().waiters() == 1);
            lease.close();
            waiting.get(30, TimeUnit.SECONDS).close();
            assertThat(notifications(source))
                    .as("a waiter of this store is notified directly")
                    .isZero();

            Lease again = one.lock("a", fair).acquire();
            CompletableFuture<Lease> elsewhere = other.lock("a", fair).acquireAsync();
            Spi.await("it waits", () -> here.inspect("a").orElseThrow().waiters() == 1);
            again.close();
            elsewhere.get(30, TimeUnit.SECONDS).close();
            assertThat(notifications(source)).as("one waits").isEqualTo(1);
        }
    }

    private static long looksWhile(int waiting, SqlStore holding, SqlStore store, Duration time) throws Exception {
        List<Lease> leases = new ArrayList<>();
        List<Thread> threads = new ArrayList<>();
        try (Lockkeeper holder = keeper(holding);
                Lockkeeper keeper = keeper(store)) {
            for (int i = 0; i < waiting; i++) {
                String name = waiting + "-" + i;
                leases.add(holder.lock(name).acquire());
                Thread thread = new Thread(() -> {
                    try {
                        keeper.lock(name).acquire().close();
                    } catch (InterruptedException e) {
                        throw new IllegalStateException(e);
                    }
                });
                threads.add(thread);
                thread.start();
            }
            Spi.await(
                    "all wait",
                    () -> holding.list(waiting + "-", 100).stream()
                                    .filter(info -> info.waiters() == 1)
                                    .count()
                            == waiting);
            long before = ((Poll) store.wakeUps).looks();
            Spi.during(time, () -> assertThat(leases).allMatch(Lease::isValid));
            long looks = ((Poll) store.wakeUps).looks() - before;
            leases.forEach(Lease::close);
            for (Thread thread : threads) {
                thread.join(30_000);
                assertThat(thread.isAlive()).isFalse();
            }
            return looks;
        }
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "POSTGRESQL")
    void aClientLooksAsOftenForFiftyWaitersAsForOne(Db db) throws Exception {
        String url = db.freshUrl();
        Duration time = Duration.ofSeconds(2);
        for (int waiting : new int[] {1, 50}) {
            try (SqlStore holding = Db.open(url);
                    SqlStore store = Db.open(url)) {
                long start = System.nanoTime();
                long looks = looksWhile(waiting, holding, store, time);
                long millis = (System.nanoTime() - start) / 1_000_000;
                assertThat(looks).isBetween(1L, millis / SHORTEST_PAUSE_MILLIS + 1);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 50})
    void waitingForAFileLooksFewTimesASecond(int waiting) throws Exception { // so that it costs hardly any CPU
        Path file = folder.resolve("locks.db");
        Duration timeout = Duration.ofSeconds(5);
        try (SqlStore holding = FileProvider.open(file, timeout, false);
                SqlStore store = FileProvider.open(file, timeout, false)) {
            long looks = looksWhile(waiting, holding, store, Duration.ofSeconds(3));
            // A rest is 200 to 400 ms; some looks more for what came before the sockets were there; none for what the
            // client has just
            // asked itself.
            assertThat(looks).isLessThanOrEqualTo(3_000L / 200 + 40);
        }
    }
}
