// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import java.time.Duration;
import java.util.List;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/** Options: what may be set, what is there when nothing is, and how two of them merge. (Hazard H7.) */
final class LockOptionsTest {
    private static final LockOptions NONE = LockOptions.defaults();
    private static final Duration DAY = Duration.ofHours(24);

    @Test
    void nothingIsSetByDefaultAndTheBuiltInValuesShow() {
        assertThat(NONE.lease()).isEqualTo(Duration.ofSeconds(30));
        assertThat(NONE.fixedLease()).isEmpty();
        assertThat(NONE.maxHold()).isEmpty();
        assertThat(NONE.lockDelay()).isEmpty();
        assertThat(NONE.fair()).isFalse();
        assertThat(NONE.label()).isEmpty();
        assertThat(NONE).hasToString("LockOptions[]");
    }

    @Test
    void eachSettingGivesACopy() {
        LockOptions set = NONE.lease(Duration.ofSeconds(5));
        assertThat(NONE.lease()).isEqualTo(Duration.ofSeconds(30));
        assertThat(set.lease()).isEqualTo(Duration.ofSeconds(5));
        assertThat(set.fair(true)).isNotEqualTo(set);
        assertThat(set.fair()).isFalse();
    }

    private static void allows(Function<Duration, LockOptions> option, Duration least, Duration most) {
        for (Duration ok : List.of(least, most)) {
            assertThat(option.apply(ok)).isNotEqualTo(NONE);
        }
        for (Duration bad : List.of(
                least.minusNanos(1),
                most.plusNanos(1),
                Duration.ofSeconds(-1),
                Duration.ofSeconds(Long.MAX_VALUE),
                Duration.ofSeconds(Long.MIN_VALUE))) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> option.apply(bad))
                    .withMessageContaining(bad.toString())
                    .withMessageContaining(least + " to " + most);
        }
        assertThatNullPointerException().isThrownBy(() -> option.apply(null));
    }

    @Test
    void durationsHaveRanges() {
        allows(NONE::lease, Duration.ofSeconds(1), DAY);
        allows(NONE::fixedLease, Duration.ofMillis(100), DAY);
        allows(NONE::maxHold, Duration.ofMillis(100), DAY);
        allows(NONE::lockDelay, Duration.ZERO, Duration.ofHours(1));
    }

    @Test
    void aLabelHasAtMost200Bytes() {
        assertThat(NONE.label("x".repeat(200)).label()).hasSize(200);
        assertThat(NONE.label("é".repeat(100)).label()).hasSize(100);
        assertThatIllegalArgumentException().isThrownBy(() -> NONE.label("x".repeat(201)));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> NONE.label("é".repeat(101)))
                .withMessageContaining("200")
                .withMessageContaining("202");
        assertThatNullPointerException().isThrownBy(() -> NONE.label(null));
    }

    @Test
    void aLeaseAndAFixedLeaseReplaceEachOther() {
        LockOptions fixed = NONE.lease(Duration.ofSeconds(9)).fixedLease(Duration.ofSeconds(2));
        assertThat(fixed.fixedLease()).contains(Duration.ofSeconds(2));
        assertThat(fixed.lease()).isEqualTo(Duration.ofSeconds(2));
        LockOptions kept = fixed.lease(Duration.ofSeconds(9));
        assertThat(kept.fixedLease()).isEmpty();
        assertThat(kept.lease()).isEqualTo(Duration.ofSeconds(9));
    }

    @Test
    void whatIsOpenIsTakenFromTheOther() {
        LockOptions all = NONE.lease(Duration.ofSeconds(9))
                .maxHold(Duration.ofSeconds(8))
                .fair(true)
                .lockDelay(Duration.ofSeconds(7))
                .label("l");
        assertThat(NONE.orElse(all)).isEqualTo(all);
        assertThat(all.orElse(NONE)).isEqualTo(all);
        LockOptions mine = NONE.maxHold(Duration.ofSeconds(1)).label("");
        LockOptions merged = mine.orElse(all);
        assertThat(merged.maxHold()).contains(Duration.ofSeconds(1));
        assertThat(merged.label()).as("set to nothing is set").isEmpty();
        assertThat(merged.lease()).isEqualTo(Duration.ofSeconds(9));
        assertThat(merged.lockDelay()).contains(Duration.ofSeconds(7));
    }

    @Test
    void whatIsSetToItsBuiltInValueIsSet() {
        LockOptions other = NONE.fair(true).lockDelay(Duration.ofSeconds(7)).lease(Duration.ofSeconds(9));
        LockOptions merged = NONE.fair(false)
                .lockDelay(Duration.ZERO)
                .lease(Duration.ofSeconds(30))
                .orElse(other);
        assertThat(merged.fair()).isFalse();
        assertThat(merged.lockDelay()).contains(Duration.ZERO);
        assertThat(merged.lease()).isEqualTo(Duration.ofSeconds(30));
    }

    @Test
    void aLeaseIsMergedTogetherWithItsKind() {
        LockOptions fixed = NONE.fixedLease(Duration.ofSeconds(2));
        LockOptions kept = NONE.lease(Duration.ofSeconds(9));
        assertThat(kept.orElse(fixed).fixedLease()).isEmpty();
        assertThat(kept.orElse(fixed).lease()).isEqualTo(Duration.ofSeconds(9));
        assertThat(fixed.orElse(kept).fixedLease()).contains(Duration.ofSeconds(2));
        assertThat(NONE.fair(true).orElse(fixed).fixedLease()).contains(Duration.ofSeconds(2));
    }

    @Test
    void equalityIsByWhatIsSet() {
        LockOptions one = NONE.lease(Duration.ofSeconds(9)).label("l");
        LockOptions two = NONE.label("l").lease(Duration.ofSeconds(9));
        assertThat(one).isEqualTo(two).hasSameHashCodeAs(two);
        assertThat(NONE.lease(Duration.ofSeconds(9))).isNotEqualTo(NONE.fixedLease(Duration.ofSeconds(9)));
        assertThat(NONE.fair(false)).isNotEqualTo(NONE);
        assertThat(one).isNotEqualTo("l").isNotEqualTo(null);
    }

    @Test
    void theTextShowsWhatIsSetAndNothingElse() {
        assertThat(NONE.fixedLease(Duration.ofSeconds(2)).fair(true).label("nightly"))
                .hasToString("LockOptions[fixedLease=PT2S, fair=true, label=nightly]");
        assertThat(NONE.lease(Duration.ofSeconds(2))
                        .maxHold(Duration.ofMinutes(1))
                        .lockDelay(Duration.ZERO))
                .hasToString("LockOptions[lease=PT2S, maxHold=PT1M, lockDelay=PT0S]");
    }
}
