// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.tck.support.Contract;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;

/** A {@link ChildMain} in its own process: asked step by step, paused, continued and killed. */
public final class ChildJvm implements AutoCloseable {
    private static final int LINES_KEPT = 100;

    private final Process process;
    private final Writer commands;
    private final BlockingQueue<String> answers = new LinkedBlockingQueue<>();
    private final Deque<String> errors = new ArrayDeque<>();

    /** Starts one with this JVM's own java and class path; {@link #ready()} waits until it has connected. */
    public ChildJvm(String url, Duration patience, boolean releaseOnShutdown) throws IOException {
        this(List.of(), classPath(), url, patience, releaseOnShutdown);
    }

    /** Starts one by way of a command that becomes what it is given to run, as {@code setpriv} and {@code nice} do. */
    public ChildJvm(List<String> by, String classPath, String url, Duration patience, boolean releaseOnShutdown)
            throws IOException {
        Path java = Path.of(System.getProperty("java.home"), "bin", "java");
        List<String> command = new ArrayList<>(by);
        command.addAll(List.of(java.toString(), "-Xmx128m", "-Xss512k", "-XX:TieredStopAtLevel=1"));
        command.addAll(List.of("-Xlog:disable", "-Xlog:all=warning:stderr")); // what the JVM says is no answer
        command.add(ChildMain.class.getName());
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.environment().put("CLASSPATH", classPath);
        process = builder.start();
        commands = new OutputStreamWriter(process.getOutputStream(), StandardCharsets.UTF_8);
        read(process.getInputStream(), answers::add);
        read(process.getErrorStream(), this::keep);
        send(url, String.valueOf(patience.toMillis()), String.valueOf(releaseOnShutdown));
    }

    public long pid() {
        return process.pid();
    }

    /** The class path of this JVM, its modules included. */
    public static String classPath() {
        String modules = System.getProperty("jdk.module.path", "");
        String classes = System.getProperty("java.class.path", "");
        return modules.isEmpty() ? classes : modules + File.pathSeparator + classes;
    }

    private static void read(InputStream stream, Consumer<String> lines) {
        Thread reader = new Thread(() -> {
            try (BufferedReader in = new BufferedReader(new InputStreamReader(stream, StandardCharsets.UTF_8))) {
                in.lines().forEach(lines);
            } catch (IOException | UncheckedIOException e) {
                // It was killed.
            }
        });
        reader.setDaemon(true);
        reader.start();
    }

    private void keep(String line) {
        synchronized (errors) {
            errors.add(line);
            if (errors.size() > LINES_KEPT) {
                errors.remove();
            }
        }
    }

    public ChildJvm ready() throws InterruptedException {
        assertThat(answer()).as(this::toString).isEqualTo("ready");
        return this;
    }

    /** Sends a command and gives the answer; fails when there is none, or an error. */
    public String ask(String... words) throws IOException, InterruptedException {
        send(words);
        return answer();
    }

    /** Sends a command, also to a paused child, which will carry it out when it is continued. */
    public void send(String... words) throws IOException {
        assertThat(words).allMatch(word -> word.equals(word.strip()) && word.indexOf(' ') < 0);
        commands.write(String.join(" ", words) + "\n");
        commands.flush();
    }

    /** The answer to the command that was sent first and has none yet. */
    public String answer() throws InterruptedException {
        long deadline = System.nanoTime() + 2 * Contract.LONG.toNanos();
        for (; ; ) {
            String answer = answers.poll(100, TimeUnit.MILLISECONDS);
            if (answer != null) {
                assertThat(answer).as(this::toString).doesNotStartWith("error");
                return answer;
            }
            assertThat(process.isAlive()).as("alive: " + this).isTrue();
            assertThat(System.nanoTime()).as("answer in time: " + this).isLessThan(deadline);
        }
    }

    /** Begins to wait for a lock, with its own claim. */
    public void acquire(String key, String name, Duration lease) throws IOException, InterruptedException {
        acquire(key, name, lease, Duration.ZERO);
    }

    /** Begins to wait for a lock, with its own claim. */
    public void acquire(String key, String name, Duration lease, Duration lockDelay)
            throws IOException, InterruptedException {
        String answer =
                ask("acquire", key, name, String.valueOf(lease.toMillis()), String.valueOf(lockDelay.toMillis()));
        assertThat(answer).isEqualTo("begun");
    }

    /** Waits until it holds, and gives the token. */
    public long token(String key) throws IOException, InterruptedException {
        String[] held = ask("await", key).split(" ");
        assertThat(held[0]).isEqualTo("held");
        return Long.parseLong(held[1]);
    }

    /** Stops it where it is, as a long garbage collection or a suspended machine does. */
    public void pause() throws IOException, InterruptedException {
        signal("STOP");
        Contract.await("all threads of the child have stopped", this::isStopped);
    }

    public void resume() throws IOException, InterruptedException {
        signal("CONT");
    }

    /** Kills it as {@code kill -9} does; nothing of it runs any more when this returns. */
    public void kill() throws InterruptedException {
        process.destroyForcibly();
        assertThat(process.waitFor(Contract.LONG.toSeconds(), TimeUnit.SECONDS)).isTrue();
    }

    /** Asks it to end as a service manager does, and waits until it has. */
    public void terminate() throws IOException, InterruptedException {
        signal("TERM");
        assertThat(process.waitFor(Contract.LONG.toSeconds(), TimeUnit.SECONDS)).isTrue();
    }

    /** The same while it ends by itself: {@link Process#destroy} also ends its input. */
    public void terminateAndEnd() throws InterruptedException {
        process.destroy();
        assertThat(process.waitFor(Contract.LONG.toSeconds(), TimeUnit.SECONDS)).isTrue();
    }

    /** Ends its input, and waits until it has closed its keeper and ended. */
    public void end() throws IOException, InterruptedException {
        commands.close();
        assertThat(process.waitFor(Contract.LONG.toSeconds(), TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).as(this::toString).isZero();
    }

    private void signal(String signal) throws IOException, InterruptedException {
        run("kill -" + signal + " " + process.pid());
    }

    private static String run(String command) throws IOException, InterruptedException {
        Process shell = new ProcessBuilder("sh", "-c", command).start();
        String output = new String(shell.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(shell.waitFor()).as(command).isZero();
        return output.strip();
    }

    /** A signal takes a moment to reach each thread. */
    private boolean isStopped() {
        try {
            Path tasks = Path.of("/proc", String.valueOf(process.pid()), "task");
            if (!Files.isDirectory(tasks)) {
                return run("ps -o state= -p " + process.pid()).startsWith("T");
            }
            List<Path> all;
            try (Stream<Path> found = Files.list(tasks)) {
                all = found.toList();
            }
            for (Path task : all) {
                String stat = Files.readString(task.resolve("stat"));
                if (!stat.substring(stat.lastIndexOf(')') + 2).startsWith("T")) {
                    return false;
                }
            }
            return true;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }

    @Override
    public String toString() {
        synchronized (errors) {
            return "child " + process.pid() + (process.isAlive() ? "" : " (ended)") + ", which said "
                    + String.join("\n", errors);
        }
    }
}
