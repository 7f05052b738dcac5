// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.quorum;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.Mode;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.ClaimId;
import io.lockkeeper.spi.StoreTime;
import io.lockkeeper.spi.Terms;
import io.lockkeeper.spi.Ticker;
import java.time.Duration;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What is kept for a member that is down. */
final class LeftoversTest {
    private static final Duration LEASE = Duration.ofSeconds(30);

    private long now;

    private final Leftovers leftovers = new Leftovers(new Ticker() {
        @Override
        public long nanos() {
            return now;
        }

        @Override
        public void parkUntil(long deadline) {
            throw new UnsupportedOperationException();
        }
    });

    private static Claim claim(long number, Duration lease) {
        Terms terms =
                new Terms(Mode.EXCLUSIVE, 1, 0, lease, Duration.ZERO, Duration.ofSeconds(1), 1, false, "client", "");
        return new Claim("a", new ClaimId("c", number), terms, new StoreTime(1, 1), false);
    }

    @Test
    @DisplayName("H83: what is left for a member that is down is bounded by number")
    void theyAreBoundedByNumber() {
        for (int i = 1; i <= 10 * Leftovers.MOST; i++) {
            leftovers.add(claim(i, LEASE));
            now += 1_000; // so quickly that time alone would not do
        }
        assertThat(leftovers.current()).hasSize(Leftovers.MOST);
        assertThat(leftovers.current().get(0).id().number())
                .as("those that would last longest are kept")
                .isEqualTo(9 * Leftovers.MOST + 1);
    }

    @Test
    @DisplayName("H83: and by time, whatever the order in which they end")
    void theyAreBoundedByTime() {
        leftovers.add(claim(1, LEASE.multipliedBy(2)));
        leftovers.add(claim(2, LEASE));
        now += LEASE.toNanos();
        leftovers.add(claim(3, LEASE));
        assertThat(leftovers.current().stream().map(left -> left.id().number())).containsExactlyInAnyOrder(1L, 3L);
        now += LEASE.toNanos();
        assertThat(leftovers.current()).isEmpty();
        assertThat(leftovers.isEmpty()).isTrue();
    }

    @Test
    void theSameClaimIsKeptOnceAndAsOneThatMayStillBeOnItsWay() {
        for (int i = 0; i < 3; i++) {
            leftovers.add(claim(1, LEASE));
        }
        assertThat(leftovers.current()).singleElement().satisfies(left -> assertThat(left.stray())
                .isTrue());
        leftovers.remove(new ClaimId("c", 1));
        assertThat(leftovers.isEmpty()).isTrue();
    }
}
