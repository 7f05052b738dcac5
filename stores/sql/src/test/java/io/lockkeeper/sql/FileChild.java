// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import static org.awaitility.Awaitility.await;

import io.lockkeeper.Lease;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.sql.file.FileGate;
import io.lockkeeper.sql.file.FileSource;
import java.io.BufferedReader;
import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A separate process that uses a file of locks as the test asks it to, and the handle by which the test does so. */
final class FileChild implements AutoCloseable {
    private final Process process;
    private final Path log;

    private FileChild(Process process, Path log) {
        this.process = process;
        this.log = log;
    }

    /** Starts a process that does this; see {@link #main}. */
    static FileChild start(String what, Path file, String... more) throws IOException {
        return start(List.of(), what, file, more);
    }

    /** The same, started by another command. */
    static FileChild start(List<String> before, String what, Path file, String... more) throws IOException {
        String classes = System.getProperty("java.class.path");
        String modules = System.getProperty("jdk.module.path", "");
        List<String> command = new ArrayList<>(before);
        command.addAll(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx64m",
                "-Xshare:auto",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                FileChild.class.getName(),
                what,
                file.toString()));
        command.addAll(List.of(more));
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.environment().put("CLASSPATH", modules.isEmpty() ? classes : modules + File.pathSeparator + classes);
        Path log = Files.createTempFile(file.resolveSibling("").resolveSibling(""), "child", ".log");
        return new FileChild(
                builder.redirectErrorStream(true).redirectOutput(log.toFile()).start(), log);
    }

    long pid() {
        return process.pid();
    }

    String said() throws IOException {
        return Files.readString(log);
    }

    /** Waits until it has said so. */
    FileChild says(String text) {
        await().atMost(120, TimeUnit.SECONDS).pollInterval(Duration.ofMillis(5)).until(() -> {
            boolean ended = !process.isAlive();
            if (said().contains(text)) {
                return true;
            }
            if (ended) {
                throw new AssertionError("it ended without '" + text + "': " + said());
            }
            return false;
        });
        return this;
    }

    void tell(String line) throws IOException {
        process.getOutputStream().write((line + "\n").getBytes(StandardCharsets.UTF_8));
        process.getOutputStream().flush();
    }

    void signal(String name) throws Exception {
        int code = new ProcessBuilder("/bin/sh", "-c", "kill -s " + name + " " + pid())
                .start()
                .waitFor();
        if (code != 0) {
            throw new AssertionError("kill failed");
        }
    }

    int exitCode() throws InterruptedException {
        if (!process.waitFor(120, TimeUnit.SECONDS)) {
            throw new AssertionError("it does not end");
        }
        return process.exitValue();
    }

    @Override
    public void close() {
        process.destroyForcibly().onExit().join();
    }

    // ---- In the process ----

    public static void main(String[] arguments) throws Exception {
        Path file = Path.of(arguments[1]);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        switch (arguments[0]) {
            case "hold" -> hold(file, in);
            case "once" -> once(file);
            case "write" -> write(file, in);
            case "enter" -> enter(file, in);
            case "crowd" -> crowd(file);
            case "full" -> full(file, in);
            default -> throw new IllegalArgumentException(arguments[0]);
        }
    }

    /** Goes through the gate again and again, each time for a moment. */
    private static void crowd(Path file) {
        try (FileGate gate = new FileGate(file)) {
            for (boolean isFirst = true; ; isFirst = false) {
                if (gate.enter(TimeUnit.SECONDS.toNanos(30)) == FileGate.Entry.ENTERED) {
                    long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(10);
                    await().pollDelay(Duration.ZERO).until(() -> System.nanoTime() - until >= 0);
                    gate.leave();
                    if (isFirst) {
                        System.out.println("CROWDS");
                    }
                }
            }
        }
    }

    /** Holds x, and says on request whether it still does. */
    private static void hold(Path file, BufferedReader in) throws Exception {
        try (Lockkeeper keeper = Lockkeeper.connect("file:" + file)) {
            Lease lease = keeper.lock("x").acquire();
            System.out.println("held");
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                System.out.println(line.equals("release") ? "released " + lease.release() : line + lease.isValid());
            }
        }
    }

    /** Holds x once, as {@code lockkeeper run} does. */
    private static void once(Path file) throws Exception {
        try (Lockkeeper keeper = Lockkeeper.builder("file:" + file)
                .operationTimeout(Duration.ofSeconds(5))
                .build()) {
            boolean had = keeper.lock("x")
                    .tryCall(Duration.ofMinutes(1), lease -> true)
                    .orElse(false);
            System.exit(had ? 0 : 75);
        }
    }

    /** Begins to write, and does not end. */
    private static void write(Path file, BufferedReader in) throws Exception {
        FileSource source = new FileSource(file.toRealPath(), Duration.ofSeconds(5), true, "");
        Connection connection = source.pooled();
        connection.setAutoCommit(false);
        System.out.println("writing");
        in.readLine();
    }

    /** Goes through the gate, and no further. */
    private static void enter(Path file, BufferedReader in) throws Exception {
        System.out.println(
                new FileGate(file.toRealPath()).enter(Duration.ofSeconds(5).toNanos()));
        in.readLine();
    }

    /** Listens, and has no more descriptors until it is asked to free them. */
    private static void full(Path file, BufferedReader in) throws Exception {
        try (Lockkeeper keeper = Lockkeeper.connect("file:" + file)) {
            Lease lease = keeper.lock("mine").acquire();
            System.out.println("listens");
            in.readLine();
            List<InputStream> all = new ArrayList<>();
            try {
                while (true) {
                    all.add(new FileInputStream("/dev/null"));
                }
            } catch (IOException e) {
                System.out.println("full");
            }
            in.readLine();
            for (InputStream each : all) {
                each.close();
            }
            System.out.println("free");
            in.readLine();
            lease.close();
        }
    }
}
