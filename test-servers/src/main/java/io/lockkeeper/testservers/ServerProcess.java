// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testservers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * One run of a server, from start to end; it ends with this JVM at the latest, even if that is killed. What is done to it is done
 * to its children too: a PostgreSQL whose first process alone is stopped goes on answering.
 *
 * <p>Safe for use by several threads.
 */
public final class ServerProcess {
    /** For what the kernel does at once, on a machine that has a lot else to do. */
    private static final Duration SOON = Duration.ofSeconds(20);

    private final Process process;
    private final Path log;
    private final List<ProcessHandle> paused = new ArrayList<>();

    private ServerProcess(Process process, Path log) {
        this.process = process;
        this.log = log;
    }

    /** Starts a program in a folder, with all that it prints going to the file {@code log}. */
    public static ServerProcess start(List<String> command, Map<String, String> environment, Path folder, Path log) {
        try {
            Process process = Commands.builder(folder, environment, command)
                    .redirectOutput(log.toFile())
                    .start();
            Guardian.get().watch(process);
            return new ServerProcess(process, log);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The process number. */
    public long pid() {
        return process.pid();
    }

    /** Whether it has not ended; a paused one is alive. */
    public boolean isAlive() {
        return process.isAlive();
    }

    /** What it has printed so far. */
    public String log() {
        return Commands.text(log);
    }

    /**
     * Waits until it has printed something. Its own log cannot be mistaken for that of another server which took the port.
     *
     * @throws IllegalStateException if it ends before, or does not print that in time; with the end of its log
     */
    public void awaitLog(String text, Duration limit) {
        await("print \"" + text + "\"", limit, () -> {
            boolean alive = isAlive();
            boolean printed = log().contains(text);
            if (!alive && !printed) {
                throw new IllegalStateException(
                        "the server ended with " + process.exitValue() + ":\n" + Commands.tail(log));
            }
            return printed;
        });
    }

    /** {@code kill -9}: returns when it has ended. */
    public synchronized void kill() {
        // stopped first, so that it starts no more children that would be missed
        List<ProcessHandle> all = isAlive() ? stopAll() : List.of();
        process.destroyForcibly();
        all.forEach(ProcessHandle::destroyForcibly);
        await("end when killed", SOON, () -> !process.isAlive() && all.stream().noneMatch(ServerProcess::running));
        release();
    }

    /** {@code SIGSTOP}: it keeps its connections and answers nothing, until {@link #resume()}. Returns when it has stopped. */
    public synchronized void pause() {
        if (!isAlive()) {
            throw new IllegalStateException("cannot pause a server that has ended:\n" + Commands.tail(log));
        }
        for (ProcessHandle each : stopAll()) {
            if (!paused.contains(each)) {
                paused.add(each);
                if (isChild(each)) {
                    // a stopped child would not notice that its parent has ended
                    Guardian.get().watch(each);
                }
            }
        }
    }

    /** {@code SIGCONT}: ends a {@link #pause()}; does nothing if there is none. */
    public synchronized void resume() {
        if (!paused.isEmpty()) {
            Commands.signal("CONT", pids(paused));
            release();
        }
    }

    /**
     * Asks it to end in order, and waits for that; does nothing if it has ended. A paused one is resumed first.
     *
     * @param signal the name of the signal that asks, such as {@code TERM}
     * @throws IllegalStateException if it does not end in time; it is killed then
     */
    public synchronized void stop(String signal) {
        resume();
        if (isAlive()) {
            Commands.signal(signal, List.of(pid()));
            try {
                await("end after " + signal, SOON, () -> !isAlive());
            } finally {
                kill();
            }
        }
    }

    private void release() {
        paused.stream().filter(this::isChild).forEach(Guardian.get()::forget);
        paused.clear();
    }

    private boolean isChild(ProcessHandle handle) {
        return handle.pid() != pid();
    }

    /** Stops it and all below it; returns them. */
    private List<ProcessHandle> stopAll() {
        Set<ProcessHandle> stopped = Set.of();
        while (true) {
            Set<ProcessHandle> all = Stream.concat(Stream.of(process.toHandle()), process.descendants())
                    .collect(Collectors.toSet());
            if (stopped.containsAll(all)) {
                return List.copyOf(all);
            }
            Commands.signal("STOP", pids(all));
            await("stop", SOON, () -> all.stream().allMatch(ServerProcess::stoppedOrGone));
            stopped = all;
        }
    }

    private static List<Long> pids(Iterable<ProcessHandle> handles) {
        List<Long> pids = new ArrayList<>();
        handles.forEach(handle -> pids.add(handle.pid()));
        return pids;
    }

    private static boolean stoppedOrGone(ProcessHandle handle) {
        return "TtZX?".indexOf(ProcessState.of(handle)) >= 0;
    }

    private static boolean running(ProcessHandle handle) {
        // an orphan whose new parent does not ask for its result stays a zombie
        return handle.isAlive() && "ZX".indexOf(ProcessState.of(handle)) < 0;
    }

    private void await(String what, Duration limit, BooleanSupplier condition) {
        if (!Deadline.await(limit, condition)) {
            throw new IllegalStateException(
                    "the server did not " + what + " within " + limit + ":\n" + Commands.tail(log));
        }
    }
}
