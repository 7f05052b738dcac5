// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.KeeperClosedException;
import io.lockkeeper.LeaseLost;
import io.lockkeeper.LeaseLostException;
import io.lockkeeper.LockInfo;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.Mode;
import io.lockkeeper.StoreUnavailableException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What people read, and which exit code belongs to it. */
class TextTest {
    @ParameterizedTest
    @ValueSource(strings = {"0", "100ms", "1s", "1m30s", "2h500ms", "24h", "100h"})
    void durationsAreWrittenAsTheyAreRead(String text) {
        assertThat(Text.written(Text.duration("--lease", "", text))).isEqualTo(text);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "lease is PT0.1S; allowed is PT1S to PT24H | lease is 100ms; allowed is 1s to 24h",
                "refused as late for PT1M30.5S: too slow | refused as late for 1m30s500ms: too slow",
                "within PT0S (PT1H1S) | within 0 (1h1s)",
                "it took PT0.000001S | it took PT0.000001S",
                "a claim of 'PT1S' in file:/x/PT1S or PT1Sx or APT1S or PT | a claim of 'PT1S' in file:/x/PT1S or PT1Sx or APT1S or PT"
            })
    void durationsOfTheLibraryAreTranslatedAndNamesAreNot(String message, String shown) {
        assertThat(Failure.of(new IllegalArgumentException(message)).getMessage())
                .isEqualTo(shown);
        assertThat(Failure.of(new StoreUnavailableException(message, null)).getMessage())
                .isEqualTo("the store is unavailable: " + shown);
    }

    @ParameterizedTest
    @EnumSource
    void whyALockWasLostIsSaidInWords(LeaseLost.Reason reason) {
        Failure lost = Failure.of(new LeaseLostException(new LeaseLost("d1", 7, reason, Duration.ZERO)));
        assertThat(lost.code()).isEqualTo(76);
        assertThat(lost.getMessage())
                .startsWith("the lock d1 was lost (")
                .doesNotContain(reason.name(), "_")
                .isEqualTo("the lock d1 was lost (" + Text.reason(reason) + ")");
    }

    @Test
    void aLeaseThatEndedAndDataThatWereRemovedLookTheSame() {
        assertThat(Text.reason(LeaseLost.Reason.EXPIRED)).contains("had ended", "or", "no longer knew it");
    }

    @Test
    void aConnectionThatWasClosedIsAnUnavailableStore() {
        Failure closed = Failure.of(new KeeperClosedException("this keeper (h:1) has been closed"));
        assertThat(closed.code()).isEqualTo(69);
        assertThat(closed.getMessage()).startsWith("the connection to the store was closed");
    }

    @Test
    void anErrorIsReportedInOneLine() {
        Failure verify = Failure.of(new VerifyError("Bad type\nException Details:\n  Location: x"));
        assertThat(verify.code()).isEqualTo(70);
        assertThat(verify.getMessage()).isEqualTo("unexpected: java.lang.VerifyError: Bad type");
        Failure initializer = Failure.of(new ExceptionInInitializerError(new IllegalStateException("no clock")));
        assertThat(initializer.code()).isEqualTo(70);
        assertThat(initializer.getMessage()).contains("no clock");
    }

    @Test
    void aWaiterSeesForHowLongTheLockHasBeenHeld() {
        LockInfo.Hold hold =
                new LockInfo.Hold("host:12", "", 7, 1, Instant.now().minusSeconds(12), Duration.ofSeconds(20));
        LockInfo info = new LockInfo("x", Mode.EXCLUSIVE, 0, List.of(hold), 1, Duration.ZERO);
        try (Lockkeeper keeper = Lockkeeper.connect("memory:");
                WaitMessage message = WaitMessage.start(keeper.inspector(), "x")) {
            assertThat(message.line(info)).matches("waiting for x, held by host \\(pid 12\\) for 1[2-9] s");
        }
    }
}
