// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.spi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.lockkeeper.Guarantee;
import io.lockkeeper.Mode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The small values of the SPI. */
final class ValuesTest {
    private static Terms terms(Mode mode, int limit, Duration lease) {
        return new Terms(mode, 1, limit, lease, Duration.ZERO, Duration.ofSeconds(10), 4, true, "c", "");
    }

    @Test
    void guaranteesThatAreMissingAreNamed() {
        Promises promises = new Promises(EnumSet.of(Guarantee.FENCED, Guarantee.SHARED), Duration.ofSeconds(1));
        assertThat(promises.has(Guarantee.FENCED)).isTrue();
        assertThat(promises.has(Guarantee.DURABLE)).isFalse();
        assertThat(promises.require()).isSameAs(promises);
        assertThat(promises.require(Guarantee.SHARED, Guarantee.FENCED)).isSameAs(promises);
        assertThatExceptionOfType(UnsupportedOperationException.class)
                .isThrownBy(() -> promises.require(Guarantee.DURABLE, Guarantee.FENCED, Guarantee.LATCH))
                .withMessageContaining("DURABLE")
                .withMessageContaining("LATCH")
                .satisfies(e -> assertThat(e.getMessage()).doesNotContain("FENCED"));
    }

    @Test
    void guaranteesAreCopied() {
        EnumSet<Guarantee> set = EnumSet.noneOf(Guarantee.class);
        Promises promises = new Promises(set, Duration.ZERO);
        set.add(Guarantee.FAIR);
        assertThat(promises.has(Guarantee.FAIR)).isFalse();
    }

    @Test
    void aClaimIdIsPrintedAndRead() {
        for (ClaimId id :
                List.of(new ClaimId("abc", 0), new ClaimId("a-b-1", 35), new ClaimId("x.y", Long.MAX_VALUE))) {
            assertThat(ClaimId.parse(id.toString())).isEqualTo(id);
        }
        assertThat(new ClaimId("c", 36)).hasToString("c.10");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "abc", ".1", "abc.", "abc.!", "abc.1 "})
    void whatIsNoClaimIdIsRefused(String text) {
        assertThatIllegalArgumentException().isThrownBy(() -> ClaimId.parse(text));
    }

    @Test
    void aMomentIsPastOnlyBehindNowOrOnAnotherClock() {
        StoreTime now = new StoreTime(1, 1_000);
        assertThat(now.isPast(now)).isFalse();
        assertThat(new StoreTime(1, 999).isPast(now)).isTrue();
        assertThat(new StoreTime(1, 1_001).isPast(now)).isFalse();
        assertThat(new StoreTime(2, 1_001).isPast(now)).isTrue();
        assertThat(now.plusMicros(5)).isEqualTo(new StoreTime(1, 1_005));
    }

    @Test
    void theFirstLeaseIsTheSmallerOfTheLeaseAndThreeSeconds() {
        assertThat(terms(Mode.EXCLUSIVE, 0, Duration.ofSeconds(30)).firstLease())
                .isEqualTo(Duration.ofSeconds(3));
        assertThat(terms(Mode.EXCLUSIVE, 0, Duration.ofMillis(100)).firstLease())
                .isEqualTo(Duration.ofMillis(100));
    }

    @Test
    void aClaimMayBeSilentForItsFirstLeaseAndNotLessThanASecond() {
        assertThat(terms(Mode.EXCLUSIVE, 0, Duration.ofSeconds(30)).allowedSilence())
                .isEqualTo(Duration.ofSeconds(3));
        assertThat(terms(Mode.EXCLUSIVE, 0, Duration.ofSeconds(2)).allowedSilence())
                .isEqualTo(Duration.ofSeconds(2));
        assertThat(terms(Mode.EXCLUSIVE, 0, Duration.ofMillis(100)).allowedSilence())
                .isEqualTo(Duration.ofSeconds(1));
    }

    @Test
    void locksAgreeWithLocksAndSemaphoresWithTheirLimit() {
        Duration lease = Duration.ofSeconds(1);
        assertThat(terms(Mode.EXCLUSIVE, 0, lease).agreesWith(terms(Mode.SHARED, 0, lease)))
                .isTrue();
        assertThat(terms(Mode.PERMITS, 2, lease).agreesWith(terms(Mode.PERMITS, 2, lease)))
                .isTrue();
        assertThat(terms(Mode.PERMITS, 2, lease).agreesWith(terms(Mode.PERMITS, 3, lease)))
                .isFalse();
        assertThat(terms(Mode.PERMITS, 1, lease).agreesWith(terms(Mode.EXCLUSIVE, 0, lease)))
                .isFalse();
    }

    @Test
    void aGrantCoversItsBlock() {
        Claim claim = new Claim(
                "x", new ClaimId("c", 1), terms(Mode.EXCLUSIVE, 0, Duration.ofSeconds(1)), new StoreTime(1, 1), false);
        Grant grant = new Grant(claim, Mode.EXCLUSIVE, 10, 3);
        assertThat(List.of(grant.covers(9), grant.covers(10), grant.covers(12), grant.covers(13)))
                .containsExactly(false, true, true, false);
        assertThat(new Grant(claim, Mode.EXCLUSIVE, Long.MAX_VALUE, 3).covers(Long.MIN_VALUE))
                .isFalse();
        assertThat(claim.asStray().stray()).isTrue();
        Claim stray = claim.asStray();
        assertThat(stray.asStray()).isSameAs(stray);
    }

    @Test
    void aBatchIsCopied() {
        List<Claim> queued = new ArrayList<>();
        Renewals batch = new Renewals(List.of(), queued);
        queued.add(null);
        assertThat(batch.queued()).isEmpty();
    }

    @Test
    void theSystemTickerBeginsNearZeroAndMovesOn() {
        long first = Ticker.SYSTEM.nanos();
        assertThat(first).isNotNegative().isLessThan(Duration.ofDays(1).toNanos());
        Ticker.SYSTEM.parkUntil(first + 2_000_000);
        assertThat(Ticker.SYSTEM.nanos()).isGreaterThan(first);
    }
}
