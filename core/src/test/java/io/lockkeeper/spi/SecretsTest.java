// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.spi;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.StoreUnavailableException;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Secrets of URLs, and how they are taken out of messages. */
final class SecretsTest { // H78
    @ParameterizedTest
    @ValueSource(
            strings = {
                "redis://user:hunter2@host",
                "redis://:hunter2@host/0#m?a=b",
                "redis://hunter2@host",
                "redlock://a:other1@h1,b:hunter2@h2,h3",
                "redlock://h1,h2,b:hunter2@h3",
                "redis://user:hun?ter2@host hunter2",
                "redis://user:x/hunter2@host",
                "redis://user:x@hunter2@host",
                "x://user:%68unter2@host",
                "jdbc:h2:mem:x;USER=sa;PASSWORD=hunter2",
                "jdbc:h2:mem:x;PASSWORD=hunter2;USER=sa",
                "jdbc:mysql://address=(host=h)(password=hunter2)(port=1)/db",
                "jdbc:mysql://(host=h,password=hunter2,port=1)/db",
                "jdbc:x://host?password=a&password=hunter2",
                "jdbc:x://host?PassWord=hunter2",
                "jdbc:x://host?trustStorePassword=hunter2",
                "jdbc:x://host?sslpassword=hunter2&b",
                "jdbc:x://host?pwd=hunter2",
                "jdbc:x://host?pass%77ord=hunter2",
                "jdbc:x://host?password=%68unter2",
                "jdbc:x://host?password=hunter2;%zz",
                "jdbc:x://host?hexkey=hunter2",
                "no url?password=hunter2",
            })
    void theyAreFoundWhereverTheyStand(String url) {
        Secrets secrets = Secrets.of(url.replace(" hunter2", ""));
        assertThat(secrets.hide("cannot connect to " + url.replace(" hunter2", "")))
                .startsWith("cannot connect to ")
                .doesNotContain("hunter2")
                .doesNotContain("%68unter2")
                .doesNotContain("ter2");
        if (!url.contains("hun?ter2") && !url.contains(";%zz") && !url.contains("x/h") && !url.contains("x@h")) {
            assertThat(secrets.hide("refused: hunter2")).isEqualTo("refused: …");
        }
        assertThat(secrets.toString()).doesNotContain("hunter2");
    }

    @ParameterizedTest
    @CsvSource({
        "jdbc:postgresql://h/db?user=me&passfile=/etc/pw, /etc/pw cannot be read",
        "jdbc:mysql://h/db?disconnectOnExpiredPasswords=true, it is not true",
        "rediss://h?keyStore=/etc/keys, /etc/keys cannot be read",
        "redis://host:6379/0, host:6379 refused the connection",
        "redis-sentinel://h1:1,h2:2#m?patience=5s, h1:1 and h2:2 know no m",
        "jdbc:mariadb://h/db?user=app&password=app, the application app",
        "file:/tmp/x, /tmp/x is not a database"
    })
    void nothingElseIsHidden(String url, String message) {
        assertThat(Secrets.of(url).hide(message)).isEqualTo(message);
    }

    @Test
    void aShortSecretIsHiddenBesideItsName() {
        Secrets secrets = Secrets.of("jdbc:mariadb://root:pw@h/db?user=app&password=app");
        assertThat(secrets.hide("user=app&password=app, root:pw@h")).isEqualTo("user=app&…, …h");
    }

    @Test
    void causesAndSuppressedExceptionsAreCleanedToo() {
        Secrets secrets = Secrets.of("redis://user:hunter2@host");
        IOException root = new IOException("bad port: hunter2@host");
        root.addSuppressed(new IllegalStateException("closing user:hunter2@host"));
        StoreUnavailableException thrown =
                StoreUnavailableException.lasting("it failed", new RuntimeException("no hunter2", root));
        RuntimeException hidden = secrets.hide(thrown);
        assertThat(text(thrown)).contains("hunter2");
        assertThat(text(hidden))
                .doesNotContain("hunter2")
                .contains("it failed", "java.io.IOException: bad port: …@host", "closing …host")
                .contains("causesAndSuppressedExceptionsAreCleanedToo");
        assertThat(hidden).isInstanceOfSatisfying(StoreUnavailableException.class, e -> assertThat(e.worthRepeating())
                .isFalse());
        assertThat(secrets.hide(new IllegalArgumentException("hunter2")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("…");
        RuntimeException innocent = new RuntimeException("it failed", new IOException("reset"));
        assertThat(secrets.hide(innocent)).isSameAs(innocent);
    }

    private static String text(Throwable thrown) {
        StringWriter text = new StringWriter();
        thrown.printStackTrace(new PrintWriter(text));
        return text.toString();
    }
}
