// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lockkeeper.Lease;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.StoreUnavailableException;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The application has taken all connections of its pool, which waits for a minute or forever. H63, H105 */
class ExhaustedPoolTest {
    private static final int SIZE = 5;

    /** Renewals, and listening. */
    private static final int KEPT = 2;

    /** Far more than a few operation timeouts, far less than the pools wait. */
    private static final long SECONDS = 30;

    private static SqlStore store(UserPool.Opened pool) {
        return SqlStore.of(
                pool.source(),
                SqlOptions.defaults().tablePrefix(Db.freshPrefix()).operationTimeout(Duration.ofSeconds(1)));
    }

    private static <T> CompletableFuture<T> onThread(java.util.concurrent.Callable<T> task) {
        CompletableFuture<T> result = new CompletableFuture<>();
        new Thread(() -> {
                    try {
                        result.complete(task.call());
                    } catch (Throwable e) {
                        result.completeExceptionally(e);
                    }
                })
                .start();
        return result;
    }

    @ParameterizedTest
    @EnumSource
    void callsEndInTimeAndNothingIsLost(UserPool kind) throws Exception {
        try (UserPool.Opened pool = kind.open(Db.POSTGRESQL.url(), SIZE, true);
                SqlStore store = store(pool);
                Lockkeeper keeper = Lockkeeper.builder(store)
                        .operationTimeout(Duration.ofSeconds(1))
                        .build()) {
            Lease held = keeper.lock("held", LockOptions.defaults().lease(Duration.ofSeconds(4)))
                    .acquire();
            List<Connection> taken = pool.take(SIZE - KEPT);
            try {
                assertThatThrownBy(() ->
                                onThread(() -> keeper.lock("a").tryAcquire()).get(SECONDS, TimeUnit.SECONDS))
                        .isInstanceOf(ExecutionException.class)
                        .cause()
                        .isInstanceOf(StoreUnavailableException.class)
                        .hasStackTraceContaining("gave no connection within 1000 ms")
                        .hasStackTraceContaining("at least 3 of its connections");
                CompletableFuture<Thread> started = new CompletableFuture<>();
                CompletableFuture<Lease> waiting = onThread(() -> {
                    started.complete(Thread.currentThread());
                    return keeper.lock("b").acquire();
                });
                started.get(SECONDS, TimeUnit.SECONDS).interrupt();
                assertThatThrownBy(() -> waiting.get(SECONDS, TimeUnit.SECONDS))
                        .as("an interrupted call")
                        .isInstanceOf(ExecutionException.class);
                Spi.during(
                        Duration.ofSeconds(6), () -> assertThat(held.isValid()).isTrue());
            } finally {
                UserPool.giveBack(taken);
            }
            assertThat(held.release()).isTrue();
            Spi.await("steps have connections again", () -> {
                try {
                    keeper.lock("a").acquire().close();
                    return true;
                } catch (StoreUnavailableException e) {
                    return false;
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            });
            // Those that came late have gone back.
            UserPool.giveBack(onThread(() -> pool.take(SIZE - KEPT)).get(SECONDS, TimeUnit.SECONDS));
        }
    }

    @Test
    void aCrowdOfCallersHasAFewThreads() throws Exception {
        try (UserPool.Opened pool = UserPool.DBCP2.open(Db.POSTGRESQL.url(), SIZE, true);
                SqlStore store = store(pool)) {
            List<Connection> taken = pool.take(SIZE - 1);
            List<CompletableFuture<Object>> callers = new ArrayList<>();
            for (int i = 0; i < 60; i++) {
                callers.add(onThread(() -> store.time(store)));
            }
            for (CompletableFuture<Object> caller : callers) {
                assertThatThrownBy(() -> caller.get(SECONDS, TimeUnit.SECONDS))
                        .hasStackTraceContaining("gave no connection within");
            }
            assertThat(Thread.getAllStackTraces().keySet().stream()
                            .filter(thread -> thread.getName().equals("lockkeeper-sql-borrow")))
                    .hasSizeLessThanOrEqualTo(20);
            UserPool.giveBack(taken);
            Spi.await("all have gone", () -> Thread.getAllStackTraces().keySet().stream()
                    .noneMatch(thread -> thread.getName().equals("lockkeeper-sql-borrow")));
            UserPool.giveBack(onThread(() -> pool.take(SIZE - 1)).get(SECONDS, TimeUnit.SECONDS));
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"POSTGRESQL", "MARIADB"})
    void aPoolThatIsTooSmallIsReportedAtTheStart(Db db) throws Exception {
        int needed = db == Db.POSTGRESQL ? 3 : 2;
        for (UserPool kind : UserPool.values()) {
            try (UserPool.Opened pool = kind.open(db.url(), needed - 1, true)) {
                assertThatThrownBy(() -> onThread(() -> store(pool)).get(SECONDS, TimeUnit.SECONDS))
                        .cause()
                        .isInstanceOf(StoreUnavailableException.class)
                        .hasMessageContaining("at least " + needed + " of its connections");
            }
            try (UserPool.Opened pool = kind.open(db.url(), needed, true);
                    SqlStore store = store(pool);
                    Lockkeeper keeper = Lockkeeper.on(store)) {
                keeper.lock("a").acquire().close();
            }
        }
    }
}
