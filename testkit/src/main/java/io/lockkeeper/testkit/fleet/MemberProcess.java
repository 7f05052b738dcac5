// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testkit.fleet;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** A {@link FleetMember} in its process, as its fleet sees it: started, killed, paused, resumed, and asked. */
final class MemberProcess {
    private static final Duration ANSWER = Duration.ofMinutes(2);

    private final Path log;
    private final Process process;
    private final Writer commands;
    private final BlockingQueue<String> answers = new LinkedBlockingQueue<>();

    /** Starts it with this JVM's own java and class path; it begins at once. */
    MemberProcess(FleetPlan plan, int number, int start, long seed) throws IOException {
        log = log(plan.folder(), number, start);
        Path java = Path.of(System.getProperty("java.home"), "bin", "java");
        ProcessBuilder builder = new ProcessBuilder(
                java.toString(),
                "-Xmx256m",
                "-Xss512k",
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                FleetMember.class.getName());
        builder.environment().put("CLASSPATH", classPath());
        builder.redirectError(
                plan.folder().resolve("member-" + number + "-" + start + ".err").toFile());
        process = builder.start();
        commands = process.outputWriter(StandardCharsets.UTF_8);
        Thread reader = new Thread(this::read, "fleet-reader");
        reader.setDaemon(true);
        reader.start();
        send(String.join(
                " ",
                URLEncoder.encode(plan.url(), StandardCharsets.UTF_8),
                URLEncoder.encode(plan.folder().toString(), StandardCharsets.UTF_8),
                String.valueOf(number),
                String.valueOf(start),
                String.valueOf(seed),
                String.valueOf(plan.threads()),
                String.valueOf(plan.isExclusive())));
    }

    /** Where a member writes its history. */
    static Path log(Path folder, int number, int start) {
        return folder.resolve("member-" + number + "-" + start + ".log");
    }

    /** Where it writes its history. */
    Path log() {
        return log;
    }

    /** The class path of this JVM, its modules included. */
    private static String classPath() {
        String modules = System.getProperty("jdk.module.path", "");
        String classes = System.getProperty("java.class.path", "");
        return modules.isEmpty() ? classes : modules + File.pathSeparator + classes;
    }

    private void read() {
        try (BufferedReader in =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            in.lines().forEach(answers::add);
        } catch (IOException | UncheckedIOException e) {
            // It was killed.
        }
    }

    /** Sends a command, also to one that is paused. */
    void send(String command) throws IOException {
        commands.write(command + "\n");
        commands.flush();
    }

    /**
     * The next answer.
     *
     * @throws IllegalStateException if there is none in time, or the process has ended
     */
    String answer() throws InterruptedException {
        long deadline = System.nanoTime() + ANSWER.toNanos();
        for (; ; ) {
            boolean isAlive = process.isAlive();
            String answer = answers.poll(100, TimeUnit.MILLISECONDS);
            if (answer != null) {
                return answer;
            }
            if (!isAlive || System.nanoTime() > deadline) {
                throw new IllegalStateException(
                        "member " + process.pid() + (isAlive ? " does not answer" : " has ended")
                                + "; what it said is in the folder of the fleet");
            }
        }
    }

    void kill() throws InterruptedException {
        process.destroyForcibly();
        process.waitFor();
    }

    void pause() throws IOException, InterruptedException {
        signal("STOP");
    }

    void resume() throws IOException, InterruptedException {
        signal("CONT");
    }

    private void signal(String signal) throws IOException, InterruptedException {
        Process kill = new ProcessBuilder(List.of("kill", "-" + signal, String.valueOf(process.pid()))).start();
        if (kill.waitFor() != 0) {
            throw new IOException("could not send " + signal + " to member " + process.pid());
        }
    }
}
