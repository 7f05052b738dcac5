// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testservers;

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
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;

/** The wall clock of a server, which can be set while the server runs; for servers that are linked dynamically. */
public final class JumpingClock {
    private final Path library;
    private final Path file;
    private Duration ahead = Duration.ZERO;

    private JumpingClock(Path library, Path file) {
        this.library = library;
        this.file = file;
    }

    /**
     * Compiles the library that does it, into this folder.
     *
     * @param skip as in {@link Servers#require}, if there is no C compiler
     */
    public static Path library(Path folder, Consumer<String> skip) throws IOException, InterruptedException {
        Path source = folder.resolve("jumping_clock.c");
        try (InputStream in = JumpingClock.class.getResourceAsStream("jumping_clock.c")) {
            Files.copy(Objects.requireNonNull(in), source);
        }
        Path library = folder.resolve("jumping_clock.so");
        Process compiler;
        try {
            compiler = new ProcessBuilder(
                            "cc", "-shared", "-fPIC", "-O1", "-o", library.toString(), source.toString(), "-ldl")
                    .inheritIO()
                    .start();
        } catch (IOException e) {
            if (Servers.skipsAllowed()) {
                skip.accept("no C compiler (cc) on this machine");
            }
            throw e;
        }
        if (compiler.waitFor() != 0) {
            throw new IllegalStateException("cc could not compile " + source);
        }
        return library;
    }

    /** A clock that is right until it is set. */
    public static JumpingClock in(Path library) throws IOException {
        Path folder = Objects.requireNonNull(library.getParent());
        JumpingClock clock = new JumpingClock(library, Files.createTempFile(folder, "clock", ""));
        clock.set(0);
        return clock;
    }

    /** What a server must have in its environment to go by this clock. */
    public Map<String, String> environment() {
        return Map.of("LD_PRELOAD", library.toString(), "LOCKKEEPER_CLOCK_FILE", file.toString());
    }

    /** Sets it ahead by this much more, or back. */
    public void jump(Duration by) throws IOException {
        ahead = ahead.plus(by);
        set(0);
    }

    /** Makes it run faster by this many millionths, from now on. */
    public void runFaster(long millionths) throws IOException {
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
