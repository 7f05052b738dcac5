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
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** The text for MySQL, which MariaDB understands as well. */
class MySqlTextTest {
    private static SqlStore open(String prefix) {
        SqlOptions options = SqlOptions.defaults().tablePrefix(prefix).operationTimeout(Duration.ofSeconds(5));
        return SqlStore.of(new CountingSource(Db.MARIADB.url()), options, Dialect.MYSQL);
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
