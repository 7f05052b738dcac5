// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.cli;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The command and all that it has started. A process whose parent has ended is no longer below the command; on Linux it
 * is still known by the mark in its environment. One that cleans its environment and leaves its parent has daemonised
 * itself, and is not ours any more.
 */
final class ProcessTree {
    /** The variable that carries the mark, and those of the runs that this one is itself below. */
    static final String MARKS = "LOCKKEEPER_RUNS";

    private static final Path PROC = Path.of("/proc");
    private static final long LOOK_EVERY = 10_000_000;

    private final ProcessHandle root;
    private final byte[] mark;

    ProcessTree(ProcessHandle root, String mark) {
        this.root = root;
        this.mark = mark.getBytes(StandardCharsets.US_ASCII);
    }

    /** A mark that no other run has; see {@link #withMark}. */
    static String newMark() {
        return UUID.randomUUID().toString();
    }

    /** The value of the variable, from what it was before. */
    static String withMark(@Nullable String before, String mark) {
        return before == null || before.isEmpty() ? mark : before + ":" + mark;
    }

    /** All that live, the command first. */
    Collection<ProcessHandle> living() {
        Map<Long, ProcessHandle> found = new LinkedHashMap<>();
        found.put(root.pid(), root);
        root.descendants().forEach(p -> found.put(p.pid(), p));
        for (ProcessHandle marked : marked()) {
            found.putIfAbsent(marked.pid(), marked);
            marked.descendants().forEach(p -> found.putIfAbsent(p.pid(), p));
        }
        // In a container the shell whose lock we hold may be the parent of all orphans, and so our own.
        found.remove(ProcessHandle.current().pid());
        found.values().removeIf(p -> !lives(p));
        return found.values();
    }

    private List<ProcessHandle> marked() {
        List<ProcessHandle> found = new ArrayList<>();
        long self = ProcessHandle.current().pid();
        try (DirectoryStream<Path> all = Files.newDirectoryStream(PROC, "[0-9]*")) {
            for (Path process : all) {
                long pid = Long.parseLong(process.getFileName().toString());
                if (pid != self && hasMark(process.resolve("environ"))) {
                    ProcessHandle.of(pid).ifPresent(found::add);
                }
            }
        } catch (IOException e) {
            // There is no /proc here: what is below the command must do.
        }
        return found;
    }

    private boolean hasMark(Path environ) {
        byte[] text;
        try {
            text = Files.readAllBytes(environ);
        } catch (IOException e) {
            return false; // gone, or another user's
        }
        for (int i = 0; i + mark.length <= text.length; i++) {
            if (Arrays.equals(text, i, i + mark.length, mark, 0, mark.length)) {
                return true;
            }
        }
        return false;
    }

    /** A zombie is dead, though it stands in the table until its parent looks. */
    static boolean lives(ProcessHandle process) {
        if (!process.isAlive()) {
            return false;
        }
        try {
            String stat = Files.readString(PROC.resolve(process.pid() + "/stat"), StandardCharsets.ISO_8859_1);
            int end = stat.lastIndexOf(')');
            return end < 0 || end + 2 >= stat.length() || stat.charAt(end + 2) != 'Z';
        } catch (IOException e) {
            return process.isAlive();
        }
    }

    /** Sends a signal to all, as a terminal does: to a shell alone it would wait for what the shell waits for. */
    void signal(String name) {
        Collection<ProcessHandle> all = living();
        if (name.equals("TERM")) {
            all.forEach(ProcessHandle::destroy);
            return;
        }
        List<String> kill = new ArrayList<>(List.of("/bin/sh", "-c", "kill -s \"$@\" 2>/dev/null", "sh", name));
        all.forEach(p -> kill.add(Long.toString(p.pid())));
        if (!all.isEmpty()) {
            try {
                new ProcessBuilder(kill)
                        .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                        .redirectError(ProcessBuilder.Redirect.DISCARD)
                        .start()
                        .waitFor();
            } catch (IOException e) {
                all.forEach(ProcessHandle::destroy); // no shell: the nearest thing
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Asks all to end; those that have not when {@code grace} is over are killed. Returns when none is left. */
    void stop(Duration grace) {
        long killAt = System.nanoTime() + grace.toNanos();
        Set<Long> asked = new HashSet<>();
        for (Collection<ProcessHandle> left = living(); !left.isEmpty(); left = living()) {
            boolean kill = System.nanoTime() - killAt >= 0;
            for (ProcessHandle process : left) {
                if (kill) {
                    process.destroyForcibly();
                } else if (asked.add(process.pid())) {
                    process.destroy();
                }
            }
            long rest = kill ? LOOK_EVERY : Math.min(LOOK_EVERY, killAt - System.nanoTime());
            LockSupport.parkNanos(rest);
        }
    }
}
