// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.cli;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A shell outside this JVM that ends the command before the lock is no longer valid, when we can no longer do so ourselves:
 * killed, or stopped. What it does is in {@code guardian.sh}; it gets its orders through a pipe, and notices at once when that
 * ends.
 *
 * <p>It has its own session where there is {@code setsid}: what is sent to our process group does not reach it. It holds
 * neither our output nor our folder. Should it end before it is dismissed, {@link #ensureRuns} starts another one.
 */
final class Guardian {
    /** What it does to the processes. */
    enum Means {
        /** TERM, then KILL. */
        KILL,
        /** TERM alone. */
        TERM,
        /** Nothing. */
        NONE
    }

    private static final Path UPTIME = Path.of("/proc/uptime");

    private final String mark;
    private final Means means;
    private final @Nullable Path folder;

    // Guarded by this.
    private Process process;
    private @Nullable String root;
    private String until = "";

    private Guardian(String mark, Means means, @Nullable Path folder) throws IOException {
        this.mark = mark;
        this.means = means;
        this.folder = folder;
        this.process = launch();
    }

    /**
     * Starts one.
     *
     * @param mark what all that it may end have in their environment, beside what is below {@link #watch}ed processes
     * @param folder is deleted if we are killed; null if there is none
     */
    static Guardian start(String mark, Means means, @Nullable Path folder) {
        try {
            return new Guardian(mark, means, folder);
        } catch (IOException e) {
            throw new Failure(
                    Exit.SYSTEM,
                    "nothing was run: a shell that would end the command in time cannot be started (" + e.getMessage()
                            + "); is there a /bin/sh, and are you allowed another process (ulimit -u)?");
        }
    }

    private Process launch() throws IOException {
        List<String> command = new ArrayList<>(ownSession());
        command.addAll(List.of(
                "/bin/sh", "-c", script(), "guardian", mark, means.name().toLowerCase(Locale.ROOT)));
        command.add(folder == null ? "" : folder.toString());
        ProcessBuilder builder = new ProcessBuilder(command)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(ProcessBuilder.Redirect.DISCARD);
        // Without the marks of those that we ourselves run below: it is not theirs to end.
        Map<String, String> environment = builder.environment();
        String path = environment.getOrDefault("PATH", "");
        environment.clear();
        environment.put("PATH", (path.isEmpty() ? "" : path + ":") + "/usr/bin:/bin");
        return builder.start();
    }

    /** What to put before a command so that nothing that is sent to our process group reaches it; nothing on macOS. */
    static List<String> ownSession() {
        for (String setsid : List.of("/usr/bin/setsid", "/bin/setsid")) {
            if (Files.isExecutable(Path.of(setsid))) {
                return List.of(setsid);
            }
        }
        return List.of();
    }

    private static String script() throws IOException {
        try (InputStream in = Guardian.class.getResourceAsStream("guardian.sh")) {
            if (in == null) {
                throw new IOException("guardian.sh is missing in the jar");
            }
            String text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
            // Its text is what ps shows: the first line says what it is, the other comments are for readers of the
            // file.
            return text.lines()
                    .filter(line -> !line.startsWith("#") || text.startsWith(line))
                    .collect(Collectors.joining("\n"));
        }
    }

    /** The command, or the shell whose lock it is. */
    synchronized void watch(long pid) {
        root = "root " + pid;
        tell(root);
    }

    /** The time that {@link #until} counts from; read it before what is counted. */
    static long now() {
        try {
            // Seconds with two decimals; counted also while the machine is suspended.
            String text = Files.readString(UPTIME, StandardCharsets.US_ASCII);
            return (long) (Double.parseDouble(text.substring(0, text.indexOf(' '))) * 1000);
        } catch (IOException e) {
            return 0; // not Linux: it counts from when it reads the message
        }
    }

    /** From when on processes are asked to end, and when they are killed; until another time is given. */
    synchronized void until(long now, Duration ask, Duration kill) {
        until = "until " + (now + ask.toMillis()) + " " + (now + kill.toMillis());
        tell(until);
    }

    /** There is nothing to guard any more. */
    synchronized void dismiss() {
        tell("done");
    }

    /** The process; another one after {@link #ensureRuns}. */
    synchronized Process process() {
        return process;
    }

    /** Starts it again if it has ended; false when that cannot be done now. */
    synchronized boolean ensureRuns() {
        if (process.isAlive()) {
            return true;
        }
        try {
            process = launch();
        } catch (IOException e) {
            return false;
        }
        tell(until);
        if (root != null) {
            tell(root);
        }
        return true;
    }

    private void tell(String line) {
        try {
            OutputStream orders = process.getOutputStream();
            orders.write((line + "\n").getBytes(StandardCharsets.US_ASCII));
            orders.flush();
        } catch (IOException e) {
            // It has ended: when it is started again, it is given everything.
        }
    }
}
