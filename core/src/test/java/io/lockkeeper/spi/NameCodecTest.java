// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.spi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The percent-encoded form of names: frozen, reversible, and never the same for two names. */
final class NameCodecTest {
    @ParameterizedTest
    @CsvSource({
        "orders/42,orders/42",
        "Az09-._~:/@+=,Az09-._~:/@+=",
        "'a b',a%20b",
        "100%,100%25",
        "%41,%2541",
        "{tag}*?[,%7Btag%7D%2A%3F%5B",
        "é,%C3%A9",
        "🔒,%F0%9F%94%92",
        "'',''"
    })
    void theCodeIsFrozen(String text, String code) {
        assertThat(NameCodec.encode(text)).isEqualTo(code);
        assertThat(NameCodec.decode(code)).isEqualTo(text);
        assertThat(NameCodec.read(code)).contains(text);
        assertThat(NameCodec.isCode(code)).isTrue();
    }

    @Test
    void aStoreMayHaveOtherPlainCharacters() {
        assertThat(NameCodec.encode("a/b_c.d", "-_")).isEqualTo("a%2Fb_c%2Ed");
        assertThat(NameCodec.read("a%2Fb_c%2Ed", "-_")).contains("a/b_c.d");
        assertThat(NameCodec.read("a/b", "-_")).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"%", "%4", "a%4", "%zz", "%c3%a9", "%C3", "%ED%A0%80", "%C0%80", "%FF", "a b", "ü", "a\n", "{a}"
            })
    void whatIsNoCodeIsRejected(String malformed) {
        assertThat(NameCodec.isCode(malformed)).isFalse();
        assertThatIllegalArgumentException().isThrownBy(() -> NameCodec.decode(malformed));
    }

    @Test
    void aCodeInWhichMoreIsEncodedThanNeedBeIsDecodedButIsNoCode() {
        assertThat(NameCodec.decode("%41")).isEqualTo("A");
        assertThat(NameCodec.read("%41")).isEmpty();
    }

    @Test
    void randomTextsSurviveNoTwoMeetAndPrefixesStayPrefixes() {
        Random random = new Random(11);
        Set<String> texts = new HashSet<>();
        Set<String> codes = new HashSet<>();
        for (int i = 0; i < 5_000; i++) {
            StringBuilder text = new StringBuilder();
            for (int length = 1 + random.nextInt(6); length > 0; length--) {
                int c = random.nextInt(4) == 0 ? random.nextInt(0x110000) : random.nextInt(128);
                text.appendCodePoint(c >= 0xD800 && c < 0xE000 ? '%' : c);
            }
            String code = NameCodec.encode(text.toString());
            assertThat(NameCodec.read(code)).contains(text.toString());
            assertThat(code).startsWith(NameCodec.encode(text.substring(0, text.offsetByCodePoints(0, 1))));
            texts.add(text.toString());
            codes.add(code);
        }
        assertThat(codes).hasSameSizeAs(texts);
    }
}
