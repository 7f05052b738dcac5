// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import io.lockkeeper.memory.MemoryCore;
import io.lockkeeper.memory.MemoryStore;
import io.lockkeeper.tck.process.ChildJvm;
import io.lockkeeper.tck.support.FaultContract;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * H65: for a while, longer than a renewal takes to become due, a process gets no more threads ({@code ulimit -u}, the limit
 * of a container). Its holds survive that. The process is a real one, under a real limit. Such a limit does not count for the
 * superuser, so where we are that, the process runs as nobody.
 */
final class ShortOfThreadsTest {
    /** Renewals are due after a third of it, and a hold is valid for most of it without one. */
    private static final Duration LEASE = Duration.ofSeconds(6);

    private static final int HOLDS = 8;
    private static final String NOBODY = "65534";

    @TempDir
    Path folder;

    private BridgeServer bridge;
    private ChildJvm child;

    /** What a command is run by so that it is run as the user of the child. */
    private List<String> by = List.of();

    @BeforeEach
    void start() throws Exception {
        needs(Files.isDirectory(Path.of("/proc/self/task")), "a Linux system");
        needs(has("prlimit"), "prlimit");
        String classPath = ChildJvm.classPath();
        if (run(List.of("id", "-u")).equals("0")) {
            needs(has("setpriv"), "setpriv");
            by = List.of("setpriv", "--reuid=" + NOBODY, "--regid=" + NOBODY, "--clear-groups", "--");
            classPath = copied(classPath);
        }
        bridge = new BridgeServer(new MemoryStore(MemoryCore.system()));
        child = new ChildJvm(by, classPath, bridge.url(), Duration.ofSeconds(30), false).ready();
    }

    @AfterEach
    void end() {
        if (child != null) {
            child.close();
        }
        if (bridge != null) {
            bridge.close();
        }
    }

    private static void needs(boolean there, String what) {
        if (!there && Boolean.getBoolean("lockkeeper.allowSkips")) {
            Assumptions.abort("NOT TESTED: this needs " + what);
        }
        if (!there) {
            fail("this needs %s; -Dlockkeeper.allowSkips=true skips it", what);
        }
    }

    private static boolean has(String command) {
        return Stream.of(System.getenv("PATH").split(File.pathSeparator))
                .anyMatch(folder -> Files.isExecutable(Path.of(folder, command)));
    }

    private static String run(List<String> command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(command + ": " + output).isZero();
        return output.strip();
    }

    /** What is on a class path, in a place where anybody may read it: the superuser's home is no such place. */
    private String copied(String classPath) throws IOException, InterruptedException {
        List<String> copies = new ArrayList<>();
        for (String entry : classPath.split(File.pathSeparator)) {
            if (Files.exists(Path.of(entry))) {
                String copy = folder.resolve(
                                copies.size() + "-" + Path.of(entry).getFileName())
                        .toString();
                run(List.of("cp", "-rL", entry, copy));
                copies.add(copy);
            }
        }
        run(List.of("chmod", "-R", "a+rX", folder.toString()));
        return String.join(File.pathSeparator, copies);
    }

    /** Sets how many processes and threads the user of the child may have for the child to get another. */
    private void limit(String most) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(by);
        command.addAll(List.of("prlimit", "--pid", String.valueOf(child.pid()), "--nproc=" + most + ":"));
        run(command);
    }

    private String hardLimit() throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(by);
        command.addAll(List.of(
                "prlimit", "--pid", String.valueOf(child.pid()), "--nproc", "--noheadings", "--raw", "-o", "HARD"));
        return run(command);
    }

    @Test
    void holdsSurviveAShortageOfThreads() throws Exception {
        String plenty = hardLimit();
        for (int i = 0; i < HOLDS / 2; i++) {
            child.ask("hold", "k" + i, "n" + i, String.valueOf(LEASE.toMillis()));
        }
        limit("1");
        assertThat(child.ask("thread")).as("a thread under the limit").isEqualTo("refused");
        for (int i = HOLDS / 2; i < HOLDS; i++) { // what is acquired during the shortage is kept alive, too
            child.ask("hold", "k" + i, "n" + i, String.valueOf(LEASE.toMillis()));
        }
        long start = System.nanoTime();
        FaultContract.awaitPassed(start, LEASE.dividedBy(2)); // all renewals have become due
        limit(plenty);
        assertThat(child.ask("thread")).as("a thread without the limit").isEqualTo("started");

        FaultContract.awaitPassed(start, LEASE.plusSeconds(1)); // without a renewal all leases would have ended
        List<String> states = new ArrayList<>();
        for (int i = 0; i < HOLDS; i++) {
            states.add(child.ask("state", "k" + i));
        }
        assertThat(states).as(child::toString).containsOnly("valid");
        assertThat(child.ask("future", "free")).isEqualTo("released true");
        for (int i = 0; i < HOLDS; i++) {
            assertThat(child.ask("release", "k" + i)).isEqualTo("true");
        }
    }

    /** What cannot be begun for want of a thread fails or waits, and nothing stays behind that would hold up the next. */
    @Test
    void futuresWorkAgainAfterAShortageOfThreads() throws Exception {
        String plenty = hardLimit();
        child.ask("hold", "k", "n", String.valueOf(LEASE.toMillis()));
        limit("1");
        assertThat(child.ask("thread")).isEqualTo("refused");
        child.send("begin", "a"); // with no thread for it: whether it fails or waits is not said
        child.answer();
        limit(plenty);
        assertThat(child.ask("thread")).isEqualTo("started");
        assertThat(child.ask("future", "free")).isEqualTo("released true");
        assertThat(child.ask("state", "k")).isEqualTo("valid");
        assertThat(child.ask("release", "k")).isEqualTo("true");
    }
}
