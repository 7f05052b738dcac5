// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testservers;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Runs programs that end by themselves. */
final class Commands {
    private Commands() {}

    static String run(Duration limit, Map<String, String> environment, List<String> command) {
        return run(limit, Guardian.get().folder(), environment, command);
    }

    /**
     * Runs a program to its end.
     *
     * @return what it printed, errors included
     * @throws IllegalStateException if it does not start, ends with another code than 0, or not in time; with the end of what it
     *     printed
     */
    static String run(Duration limit, Path folder, Map<String, String> environment, List<String> command) {
        try {
            // a file and not a pipe, which could only be read without a deadline
            Path output = Files.createTempFile(Guardian.get().folder(), "output", "");
            try {
                Process process = builder(folder, environment, command)
                        .redirectOutput(output.toFile())
                        .start();
                Guardian.get().watch(process);
                boolean ended = process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS);
                if (!ended) {
                    process.destroyForcibly();
                }
                if (!ended || process.exitValue() != 0) {
                    String end = ended ? "ended with " + process.exitValue() : "did not end within " + limit;
                    throw new IllegalStateException(String.join(" ", command) + " " + end + ":\n" + tail(output));
                }
                return text(output);
            } finally {
                Files.deleteIfExists(output);
            }
        } catch (IOException e) {
            throw new IllegalStateException(String.join(" ", command) + " does not start", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while running " + command, e);
        }
    }

    static ProcessBuilder builder(Path folder, Map<String, String> environment, List<String> command) {
        ProcessBuilder builder = new ProcessBuilder(command)
                .directory(folder.toFile())
                .redirectErrorStream(true)
                .redirectInput(new File("/dev/null"));
        builder.environment().putAll(environment);
        return builder;
    }

    /** Sends a signal; a process that has already ended is no error. The JDK itself knows only TERM and KILL. */
    static void signal(String name, List<Long> pids) {
        String script = "for pid; do kill -" + name + " \"$pid\" 2>/dev/null; done; true";
        List<String> command = new ArrayList<>(List.of("sh", "-c", script, "signal"));
        pids.forEach(pid -> command.add(pid.toString()));
        run(Duration.ofSeconds(30), Map.of(), command);
    }

    static String text(Path file) {
        try {
            // not readString: a server's log need not be valid in any encoding
            return new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The last lines of a log, for a message. */
    static String tail(Path file) {
        List<String> lines = text(file).lines().toList();
        return String.join("\n", lines.subList(Math.max(0, lines.size() - 30), lines.size()));
    }
}
