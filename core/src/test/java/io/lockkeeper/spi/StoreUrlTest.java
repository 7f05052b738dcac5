// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.spi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.time.Duration;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** URLs: taken apart without losing anything, and without showing a secret. */
final class StoreUrlTest {
    @Test
    void aUrlIsTakenApart() {
        StoreUrl url = StoreUrl.parse("Redis://user:s%20ecret@host:1/0?prefix=a%26b+c&patience=5s");
        assertThat(url.scheme()).isEqualTo("redis");
        assertThat(url.rest()).isEqualTo("//user:s%20ecret@host:1/0");
        assertThat(url.parameter("prefix")).contains("a&b c");
        assertThat(url.duration("patience")).contains(Duration.ofSeconds(5));
        assertThat(url.parameter("other")).isEmpty();
        assertThat(url.duration("other")).isEmpty();
    }

    @Test
    void theRestMayBeEmpty() {
        StoreUrl url = StoreUrl.parse("memory:");
        assertThat(url.rest()).isEmpty();
        assertThat(url).hasToString("memory:…");
    }

    @ParameterizedTest
    @CsvSource({"0ms,0", "500ms,500", "10s,10000", "2m,120000", "1h,3600000", "999999999ms,999999999"})
    void aDurationIsAWholeNumberWithAUnit(String text, long millis) {
        assertThat(StoreUrl.parse("x:?t=" + text).duration("t")).contains(Duration.ofMillis(millis));
    }

    @ParameterizedTest
    @ValueSource(strings = {"5", "s", "5 s", "-5s", "1.5s", "5S", "5sec", "5d", "1000000000s", "PT5S", "٥s", "5s%20"})
    void anythingElseIsNoDuration(String text) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> StoreUrl.parse("x:?t=" + text).duration("t"))
                .withMessageContaining("'t'")
                .withMessageContaining("ms, s, m or h");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "memory", ":x", "//host"})
    void whatHasNoSchemeIsRefused(String url) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> StoreUrl.parse(url))
                .withMessageContaining("SCHEME:");
    }

    @ParameterizedTest
    @ValueSource(strings = {"x:?a", "x:?=b", "x:?a=1&&b=2", "x:?"})
    void aParameterHasANameAndAValue(String url) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> StoreUrl.parse(url))
                .withMessageContaining("name=value");
    }

    @Test
    void aParameterIsGivenOnce() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> StoreUrl.parse("x:?a=1&a=2"))
                .withMessageContaining("'a'")
                .withMessageContaining("twice");
    }

    @Test
    void anUnknownParameterListsTheKnownInOrder() {
        StoreUrl url = StoreUrl.parse("x:?patiense=5s");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> url.allowOnly(Set.of("prefix", "patience", "operationTimeout")))
                .withMessageContaining("'patiense'")
                .withMessageContaining("[operationTimeout, patience, prefix]");
        url.allowOnly(Set.of("patiense"));
    }

    @Test
    void whatIsSettledReplacesWhatWasGiven() {
        StoreUrl url = StoreUrl.parse("x:?t=5s&a=1");
        StoreUrl settled = url.with("t", Duration.ofMillis(1_500)).with("u", Duration.ofHours(2));
        assertThat(settled.duration("t")).contains(Duration.ofMillis(1_500));
        assertThat(settled.duration("u")).contains(Duration.ofHours(2));
        assertThat(settled.parameter("a")).contains("1");
        assertThat(url.duration("t")).contains(Duration.ofSeconds(5));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "redis://user:hunter2@host/0",
                "redis://host/0?password=hunter2",
                "redis://:hunter2@host?prefix=a&b",
                "redis://:hunter2@host?a=hunter2&a=1",
                "redis://host?password=hunter2%zz",
                "redis://host?password=%hunter2",
                "hunter2"
            })
    void noSecretIsShown(String url) {
        Throwable thrown = catchThrowable(() -> {
            StoreUrl parsed = StoreUrl.parse(url);
            assertThat(parsed.toString()).doesNotContain("hunter2");
            parsed.allowOnly(Set.of());
        });
        for (Throwable t = thrown; t != null; t = t.getCause()) {
            assertThat(t.toString())
                    .doesNotContain("hunter2")
                    .doesNotContain("%hu")
                    .doesNotContain("\"hu\"");
        }
    }
}
