// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.lockkeeper.Lease;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.testservers.LocalServer;
import io.lockkeeper.testservers.MariaDbServer;
import io.lockkeeper.testservers.PostgresServer;
import io.lockkeeper.testservers.Servers;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The client's clock is an hour off the server's, ahead or behind: only the server's counts. H51, H57 */
class ClockTest {
    private static final long HOUR = 3_600;

    @TempDir
    static Path folder;

    private static Path shim;

    /** A library that shifts the wall clock of the server that is started with it. */
    @BeforeAll
    static void compile() throws Exception {
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x")); // servers run as others
        Path source = folder.resolve("shifted_clock.c");
        try (InputStream in = ClockTest.class.getResourceAsStream("shifted_clock.c")) {
            Files.copy(in, source);
        }
        shim = folder.resolve("shifted_clock.so");
        try {
            Process compiler = new ProcessBuilder(
                            "cc", "-shared", "-fPIC", "-o", shim.toString(), source.toString(), "-ldl")
                    .inheritIO()
                    .start();
            assertThat(compiler.waitFor()).isZero();
        } catch (IOException e) {
            assumeTrue(!Servers.skipsAllowed(), "no C compiler (cc) on this machine");
            throw e;
        }
    }

    private static LocalServer start(Db db, long seconds) {
        Map<String, String> environment =
                Map.of("LD_PRELOAD", shim.toString(), "LOCKKEEPER_CLOCK_SHIFT", String.valueOf(seconds));
        return db == Db.POSTGRESQL
                ? PostgresServer.start(environment, List.of())
                : MariaDbServer.start(environment, List.of());
    }

    @ParameterizedTest
    @CsvSource({"POSTGRESQL, 3600", "POSTGRESQL, -3600", "MARIADB, 3600", "MARIADB, -3600"})
    void onlyTheServersClockCounts(Db db, long seconds) throws Exception {
        try (LocalServer server = start(db, seconds)) {
            String url =
                    server instanceof PostgresServer postgres ? postgres.jdbcUrl() : ((MariaDbServer) server).jdbcUrl();
            try (SqlStore a = Db.open(url);
                    SqlStore b = Db.open(url);
                    Lockkeeper one = Lockkeeper.on(a);
                    Lockkeeper two = Lockkeeper.on(b)) {
                long ahead = a.time(a).micros() / 1_000_000 - System.currentTimeMillis() / 1_000;
                assertThat(ahead).as("the shift").isBetween(seconds - HOUR / 4, seconds + HOUR / 4);

                LockOptions options = LockOptions.defaults().lease(Duration.ofSeconds(3));
                Lease held = one.lock("x", options).acquire();
                CompletableFuture<Lease> waiting = two.lock("x", options).acquireAsync();
                Spi.during(
                        Duration.ofSeconds(5),
                        () -> { // it is renewed
                            assertThat(held.isValid()).isTrue();
                            assertThat(waiting).isNotDone();
                        });
                assertThat(a.inspect("x").orElseThrow().holders().get(0).expiresIn())
                        .isBetween(Duration.ZERO, Duration.ofSeconds(3));
                assertThat(held.release()).isTrue();
                Lease next = waiting.get(30, TimeUnit.SECONDS);
                assertThat(next.token()).isGreaterThan(held.token());
                next.release();

                Lease fixed = one.lock("y", LockOptions.defaults().fixedLease(Duration.ofSeconds(1)))
                        .acquire();
                CompletableFuture<Lease> after = two.lock("y").acquireAsync();
                assertThat(after.get(30, TimeUnit.SECONDS).token())
                        .as("it expires by the server's clock")
                        .isGreaterThan(fixed.token());
            }
        }
    }
}
