// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The printable form of a hold: reversible for every name, and strict in what it reads. */
final class SequencerTest {
    @ParameterizedTest
    @ValueSource(
            strings = {
                "a",
                " ",
                "  ",
                "a b",
                "a:b",
                "::::",
                "lk1:X:1:a",
                "%",
                "%41",
                "100%",
                "a%zz",
                "+",
                "&?=#",
                "/",
                "../..",
                "\u0000",
                "\n",
                "\r\n",
                "\t",
                "\"'`;--",
                "é",
                "e\u0301",
                "日本語",
                "\uD83D\uDD12",
                "\uFFFD",
                "\uFFFF",
                "~-._",
                "\u007f",
                "\u0080",
                "\u07ff",
                "\u0800",
                "\uDBFF\uDFFF"
            })
    void aHostileNameSurvivesTheRoundTrip(String name) {
        for (Mode mode : Mode.values()) {
            for (long token : List.of(1L, 42L, (1L << 53) - 1, Long.MAX_VALUE)) {
                Sequencer sequencer = new Sequencer(name, mode, token);
                assertThat(sequencer.toString()).matches("lk1:[XSP]:[1-9][0-9]*:[A-Za-z0-9._~%-]+");
                assertThat(Sequencer.parse(sequencer.toString())).isEqualTo(sequencer);
            }
        }
    }

    @Test
    void randomNamesSurviveTheRoundTripAndNoTwoMeet() {
        Random random = new Random(7);
        Set<String> names = new HashSet<>();
        Set<String> printed = new HashSet<>();
        for (int i = 0; i < 5_000; i++) {
            StringBuilder name = new StringBuilder();
            for (int length = 1 + random.nextInt(6); length > 0; length--) {
                int c = random.nextInt(4) == 0 ? random.nextInt(0x110000) : random.nextInt(128);
                name.appendCodePoint(c >= 0xD800 && c < 0xE000 ? '%' : c);
            }
            Sequencer sequencer = new Sequencer(name.toString(), Mode.SHARED, 1 + i);
            assertThat(Sequencer.parse(sequencer.toString())).isEqualTo(sequencer);
            names.add(name.toString());
            printed.add(new Sequencer(name.toString(), Mode.SHARED, 1).toString());
        }
        assertThat(printed).hasSameSizeAs(names);
    }

    @Test
    void thePrintedFormIsFixed() {
        assertThat(new Sequencer("a b/ü", Mode.EXCLUSIVE, 12)).hasToString("lk1:X:12:a%20b%2F%C3%BC");
        assertThat(new Sequencer("r", Mode.SHARED, 1)).hasToString("lk1:S:1:r");
        assertThat(new Sequencer("s", Mode.PERMITS, Long.MAX_VALUE)).hasToString("lk1:P:9223372036854775807:s");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "lk1",
                "lk1:X:1",
                "lk1:X:1:",
                "lk2:X:1:a",
                "LK1:X:1:a",
                " lk1:X:1:a",
                "lk1:x:1:a",
                "lk1:E:1:a",
                "lk1::1:a",
                "lk1:X::a",
                "lk1:X:0:a",
                "lk1:X:-1:a",
                "lk1:X:+1:a",
                "lk1:X:01:a",
                "lk1:X:1.0:a",
                "lk1:X: 1:a",
                "lk1:X:9223372036854775808:a",
                "lk1:X:\u0661:a",
                "lk1:X:1:a b",
                "lk1:X:1:a:b",
                "lk1:X:1:%",
                "lk1:X:1:%4",
                "lk1:X:1:a%4",
                "lk1:X:1:%zz",
                "lk1:X:1:%c3%bc",
                "lk1:X:1:%C3",
                "lk1:X:1:%ED%A0%80",
                "lk1:X:1:%C0%80",
                "lk1:X:1:%FF",
                "lk1:X:1:ü",
                "lk1:X:1:a\n"
            })
    void whatIsMalformedIsRefusedWithTheReason(String malformed) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Sequencer.parse(malformed))
                .withMessageContaining("is no sequencer (lk1:X|S|P:token:percent-encoded-name)");
    }

    @Test
    void thePartsAreChecked() {
        assertThatIllegalArgumentException().isThrownBy(() -> new Sequencer("a", Mode.SHARED, 0));
        assertThatNullPointerException().isThrownBy(() -> new Sequencer(null, Mode.SHARED, 1));
        assertThatNullPointerException().isThrownBy(() -> new Sequencer("a", null, 1));
        assertThatNullPointerException().isThrownBy(() -> Sequencer.parse(null));
    }
}
