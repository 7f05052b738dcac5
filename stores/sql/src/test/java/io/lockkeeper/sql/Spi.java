// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.Mode;
import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.ClaimId;
import io.lockkeeper.spi.Grant;
import io.lockkeeper.spi.Renewals;
import io.lockkeeper.spi.Terms;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/** Steps of a store without a keeper. */
final class Spi {
    static final Duration LEASE = Duration.ofMinutes(1);

    private Spi() {}

    /** A claim by its own client. */
    static Claim claim(SqlStore store, String name, Mode mode) {
        return claim(store, name, mode, LEASE);
    }

    static Claim claim(SqlStore store, String name, Mode mode, Duration lease) {
        Terms terms = new Terms(
                mode,
                1,
                mode == Mode.PERMITS ? 1_000 : 0,
                lease,
                Duration.ZERO,
                Duration.ofMinutes(1),
                64,
                true,
                "test",
                "label");
        ClaimId id = new ClaimId(UUID.randomUUID().toString(), 1);
        return new Claim(name, id, terms, store.time(store).plusMicros(60_000_000), false);
    }

    /** Takes a name, and asks for a lease of that length at its renewal. */
    static Renewals.Hold hold(SqlStore store, String name, Mode mode, Duration lease) {
        Claim claim = claim(store, name, mode);
        return new Renewals.Hold(Grant.of(claim, (Answer.Granted) store.claim(claim)), lease, 0);
    }

    /** Waits in a queue. */
    static Claim queue(SqlStore store, String name, Mode mode) {
        Claim claim = claim(store, name, mode);
        assertThat(store.claim(claim)).isInstanceOf(Answer.Queued.class);
        return claim;
    }

    static void await(String what, BooleanSupplier condition) throws InterruptedException {
        ServerFaults.await(what, condition);
    }

    /**
     * Purges until that many rows are left. What was used within the last tick of a clock stays for one more round. However many
     * there are, some are forgotten all the time.
     */
    static void awaitPurged(SqlStore store, long size) throws InterruptedException {
        for (long left = store.size(); left != size; left = store.size()) {
            long before = left;
            await("some of " + before + " rows are forgotten", () -> {
                store.purge(Duration.ZERO);
                return store.size() < before;
            });
        }
    }

    /** Looks at something again and again for that time. */
    static void during(Duration time, Runnable look) throws InterruptedException {
        long end = System.nanoTime() + time.toNanos();
        while (System.nanoTime() - end < 0) {
            look.run();
            TimeUnit.MILLISECONDS.sleep(20);
        }
    }
}
