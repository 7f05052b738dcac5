// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testservers;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A missing server fails a test, and skips it only where that was allowed. */
@Timeout(60)
class MissingServerTest {
    @Test
    void failsUnlessSkipsAreAllowed() throws IOException {
        assertThat(outcome("")).contains("failed: LOCKKEEPER_REDIS=/nowhere");
        assertThat(outcome("false")).contains("failed: LOCKKEEPER_REDIS=/nowhere");
        assertThat(outcome("true")).contains("skipped: LOCKKEEPER_REDIS=/nowhere");
    }

    /** In a JVM of its own: this one's environment cannot be changed, and it looks for a server only once. */
    private static String outcome(String allowSkips) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "-Dlockkeeper.allowSkips=" + allowSkips,
                        "-cp",
                        System.getProperty("java.class.path"),
                        Child.class.getName())
                .redirectErrorStream(true);
        builder.environment().put("LOCKKEEPER_REDIS", "/nowhere");
        return new String(builder.start().getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }

    static final class Child {
        private static final class Skipped extends RuntimeException {
            Skipped(String message) {
                super(message);
            }
        }

        public static void main(String[] arguments) {
            try {
                Servers.require(ServerKind.REDIS, reason -> {
                    throw new Skipped(reason);
                });
            } catch (Skipped e) {
                System.out.println("skipped: " + e.getMessage());
            } catch (MissingServerException e) {
                System.out.println("failed: " + e.getMessage());
            }
        }
    }
}
