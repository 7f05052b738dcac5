// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.lockkeeper.testservers.RedisServer;
import io.lockkeeper.testservers.Servers;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;

/** The wall clock of a server, which can be set while the server runs. */
final class JumpingClock {
    private final Path library;
    private final Path file;
    private Duration ahead = Duration.ZERO;

    private JumpingClock(Path library, Path file) {
        this.library = library;
        this.file = file;
    }

    /** Compiles the library that does it, into this folder. */
    static Path library(Path folder) throws Exception {
        Path source = folder.resolve("jumping_clock.c");
        try (InputStream in = JumpingClock.class.getResourceAsStream("jumping_clock.c")) {
            Files.copy(in, source);
        }
        Path library = folder.resolve("jumping_clock.so");
        try {
            Process compiler = new ProcessBuilder(
                            "cc", "-shared", "-fPIC", "-O1", "-o", library.toString(), source.toString(), "-ldl")
                    .inheritIO()
                    .start();
            assertThat(compiler.waitFor()).isZero();
        } catch (IOException e) {
            assumeTrue(!Servers.skipsAllowed(), "no C compiler (cc) on this machine");
            throw e;
        }
        return library;
    }

    static JumpingClock in(Path library) throws IOException {
        JumpingClock clock = new JumpingClock(library, Files.createTempFile(library.getParent(), "clock", ""));
        clock.set(0);
        return clock;
    }

    RedisServer start(String... settings) {
        return RedisServer.start(
                Map.of("LD_PRELOAD", library.toString(), "LOCKKEEPER_CLOCK_FILE", file.toString()), List.of(settings));
    }

    /** Sets it ahead by so much more, or back. */
    void jump(Duration by) throws IOException {
        ahead = ahead.plus(by);
        set(0);
    }

    /** Has it run faster by so many millionths, from now on. */
    void runFaster(long millionths) throws IOException {
        set(millionths);
    }

    private void set(long millionths) throws IOException {
        ByteBuffer settings = ByteBuffer.allocate(24).order(ByteOrder.nativeOrder());
        settings.putLong(ahead.toNanos() / 1_000)
                .putLong(millionths)
                .putLong(ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now()));
        Files.write(file, settings.array(), StandardOpenOption.WRITE); // not truncated: it is being read
    }
}
