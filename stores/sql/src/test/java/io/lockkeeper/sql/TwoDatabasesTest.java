// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.DistributedLock;
import io.lockkeeper.Lease;
import io.lockkeeper.LeaseLost;
import io.lockkeeper.Lockkeeper;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** A lock made of locks in two databases. */
class TwoDatabasesTest {
    private static Lockkeeper keeper(String url) {
        return Lockkeeper.builder(Db.with(url, "operationTimeout=20s")).build();
    }

    @Test
    void allOrNoneInWhateverOrderTheyAreNamed() throws Exception {
        String postgres = Db.POSTGRESQL.freshUrl();
        String mariadb = Db.MARIADB.freshUrl();
        AtomicInteger inside = new AtomicInteger();
        AtomicInteger rounds = new AtomicInteger();
        List<CompletableFuture<Void>> all = new ArrayList<>();
        for (int client = 0; client < 4; client++) {
            boolean swapped = client % 2 == 1;
            all.add(CompletableFuture.runAsync(
                    () -> {
                        try (Lockkeeper a = keeper(postgres);
                                Lockkeeper b = keeper(mariadb)) {
                            DistributedLock both = swapped
                                    ? DistributedLock.all(b.lock("same"), a.lock("same"))
                                    : DistributedLock.all(a.lock("same"), b.lock("same"));
                            for (int i = 0; i < 15; i++) {
                                try (Lease lease = both.acquire()) {
                                    assertThat(lease.parts()).hasSize(2);
                                    assertThat(inside.incrementAndGet()).isEqualTo(1);
                                    rounds.incrementAndGet();
                                    inside.decrementAndGet();
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
        assertThat(rounds).hasValue(60);
    }

    @Test
    void whatCannotBeAcquiredTogetherIsNotHalfHeld() throws Exception {
        try (Lockkeeper a = keeper(Db.POSTGRESQL.freshUrl());
                Lockkeeper b = keeper(Db.MARIADB.freshUrl());
                Lockkeeper c = keeper(Db.H2.freshUrl())) {
            DistributedLock all = DistributedLock.all(a.lock("x"), b.lock("x"), c.lock("x"));
            for (Lockkeeper one : List.of(a, b, c)) {
                try (Lease taken = one.lock("x").acquire()) {
                    assertThat(CompletableFuture.supplyAsync(all::tryAcquire).get(30, TimeUnit.SECONDS))
                            .isEmpty();
                    for (Lockkeeper other : List.of(a, b, c)) {
                        assertThat(other.lock("x").isLocked()).isEqualTo(other == one);
                    }
                    assertThat(taken.isValid()).isTrue();
                }
            }
            CompletableFuture<LeaseLost> loss = new CompletableFuture<>();
            Lease lease = all.acquire().onLost(loss::complete);
            Lease part = lease.parts().get(1);
            Lockkeeper broken = List.of(a, b, c).stream()
                    .filter(k -> holds(k, part.token()))
                    .findFirst()
                    .orElseThrow();
            broken.inspector().breakHoldNow("x", part.token(), Duration.ZERO);
            assertThat(loss.get(30, TimeUnit.SECONDS).token()).isEqualTo(part.token());
            assertThat(lease.isValid()).isFalse();
            lease.release();
            Spi.await("the others are given back", () -> List.of(a, b, c).stream()
                    .noneMatch(k -> k.lock("x").isLocked()));
        }
    }

    private static boolean holds(Lockkeeper keeper, long token) {
        return keeper.inspector().inspect("x").orElseThrow().holders().get(0).token() == token;
    }
}
