// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What may be a name, and the ranges of what methods take. (Hazards H8, H10 and H11.) */
final class NamesTest {
    @ParameterizedTest
    @ValueSource(strings = {" ", "a", "\u0000", "\r\n", "é", "e\u0301", "\uD83D\uDD12", "{tag}", "../x", "*?["})
    void anythingElseIsAName(String name) {
        assertThat(Names.check(name)).isSameAs(name);
    }

    @ParameterizedTest
    @ValueSource(strings = {"a", "é", "日", "\uD83D\uDD12"})
    void aNameHasUpTo512BytesInUtf8(String unit) {
        int bytes = unit.getBytes(StandardCharsets.UTF_8).length;
        String longest = unit.repeat(512 / bytes) + "x".repeat(512 % bytes);
        assertThat(Names.check(longest)).isEqualTo(longest);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Names.check(longest + "x"))
                .withMessageContaining("512")
                .withMessageContaining("513");
    }

    @Test
    void aHugeNameIsRefusedWithAShortMessage() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Names.check("\uD83D\uDD12".repeat(250_000)))
                .satisfies(e -> assertThat(e.getMessage()).hasSizeLessThan(300));
    }

    @ParameterizedTest
    @ValueSource(strings = {"\uD83D", "\uDD12", "a\uD83D", "a\uD83Db", "\uDD12\uD83D", "\uD83D\uD83D\uDD12"})
    void aLoneSurrogateIsRefusedBecauseItWouldTurnIntoAnotherName(String name) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Names.check(name))
                .withMessageContaining("lone surrogate");
    }

    @Test
    void anEmptyNameAndNoNameAreRefused() {
        assertThatIllegalArgumentException().isThrownBy(() -> Names.check("")).withMessageContaining("1 to 512");
        assertThatNullPointerException().isThrownBy(() -> Names.check(null));
    }

    @Test
    void aWaitIsNeverNegativeAndNeverOverflows() {
        assertThat(Checks.waitNanos(Duration.ZERO)).isZero();
        assertThat(Checks.waitNanos(Duration.ofSeconds(-5))).isZero();
        assertThat(Checks.waitNanos(Duration.ofSeconds(Long.MIN_VALUE))).isZero();
        assertThat(Checks.waitNanos(Duration.ofNanos(1))).isEqualTo(1);
        assertThat(Checks.waitNanos(Duration.ofDays(365)))
                .isEqualTo(Duration.ofDays(365).toNanos());
        assertThat(Checks.waitNanos(Duration.ofNanos(Long.MAX_VALUE))).isEqualTo(Long.MAX_VALUE);
        assertThat(Checks.waitNanos(Duration.ofSeconds(Long.MAX_VALUE, 999_999_999)))
                .isEqualTo(Long.MAX_VALUE);
        assertThat(Checks.after(5, 7)).isEqualTo(12);
        assertThat(Checks.after(5, Long.MAX_VALUE)).isEqualTo(Long.MAX_VALUE);
        assertThat(Checks.after(Long.MAX_VALUE - 1, 2)).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void theErrorForACountNamesItsRange() {
        Checks.latchCount(1);
        Checks.latchCount((1L << 53) - 1);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Checks.latchCount(0))
                .withMessage("count is 0; allowed is 1 to 9007199254740991");
        assertThatIllegalArgumentException().isThrownBy(() -> Checks.latchCount(1L << 53));
    }
}
