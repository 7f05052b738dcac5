// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The client's clock cannot matter, because nothing here reads it. */
class ServerTimeTest {
    @Test
    void noClassReadsTheWallClock() throws Exception {
        Path classes = Path.of(SqlStore.class
                .getProtectionDomain()
                .getCodeSource()
                .getLocation()
                .toURI());
        try (Stream<Path> files = Files.walk(classes.resolve("io/lockkeeper/sql"))) {
            List<Path> all = files.filter(
                            f -> f.getFileName().toString().matches("(Sql|Poll|Pg|Name|Purge|Conn).*\\.class"))
                    .filter(f -> !f.getFileName().toString().contains("Test"))
                    .toList();
            assertThat(all).hasSizeGreaterThan(8);
            assertThat(all).allSatisfy(file -> assertThat(text(file))
                    .doesNotContain("currentTimeMillis")
                    .doesNotContain("java/time/Clock")
                    .doesNotContain("java/time/Instant"));
        }
    }

    private static String text(Path file) {
        try {
            return Files.readString(file, StandardCharsets.ISO_8859_1);
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }
}
