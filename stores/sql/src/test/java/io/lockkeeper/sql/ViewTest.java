// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.Mode;
import io.lockkeeper.Sequencer;
import io.lockkeeper.spi.Renewals;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Inspection and listing, which change nothing. */
class ViewTest {
    @ParameterizedTest
    @EnumSource
    void aSteadyHolderIsSeenAllTheTime(Db db) throws Exception {
        String url = db.freshUrl();
        try (SqlStore store = Db.open(url);
                SqlStore looking = Db.open(url)) {
            AtomicBoolean done = new AtomicBoolean();
            Renewals.Hold steady = Spi.hold(store, "a", Mode.SHARED, Spi.LEASE);
            Sequencer sequencer = new Sequencer("a", Mode.SHARED, steady.grant().token());
            Renewals.Hold other = Spi.hold(store, "a", Mode.SHARED, Spi.LEASE);
            CompletableFuture<Integer> others = CompletableFuture.supplyAsync(() -> {
                int times = 0;
                Renewals.Hold first = other;
                for (; !done.get(); times++) { // so that the steady one moves from table to table
                    Renewals.Hold next = Spi.hold(store, "a", Mode.SHARED, Spi.LEASE);
                    store.release(first.grant());
                    first = next;
                }
                return times;
            });
            try {
                Spi.during(Duration.ofSeconds(2), () -> {
                    for (int i = 0; i < 5; i++) {
                        assertThat(looking.check(sequencer)).isTrue();
                        assertThat(looking.inspect("a").orElseThrow().holders())
                                .hasSizeBetween(2, 3)
                                .anyMatch(hold -> hold.token() == sequencer.token());
                    }
                });
            } finally {
                done.set(true);
            }
            assertThat(others.get(30, TimeUnit.SECONDS)).isPositive();
        }
    }
}
