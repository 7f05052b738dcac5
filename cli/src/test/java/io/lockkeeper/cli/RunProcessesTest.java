// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.cli.Cli.Result;
import io.lockkeeper.cli.Cli.Running;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What {@code run} does with signals and processes, above all when the lock is lost. */
class RunProcessesTest {
    /** Starts a grandchild, and an orphan whose parent has ended; each writes its pid, and none ends by itself. */
    static final String FAMILY = """
            echo $$ >child
            sh -c 'echo $$ >grandchild; exec sleep 600' &
            sh -c '(sh -c "echo \\$\\$ >orphan; exec sleep 600" &)'
            until test -s child && test -s grandchild && test -s orphan; do sleep 0.01; done
            echo in
            wait
            sleep 600
            """;

    @TempDir
    Path folder;

    private Cli cli;

    @BeforeEach
    void setUp() {
        cli = new Cli(folder);
    }

    private long pid(String who) throws IOException {
        return Long.parseLong(Files.readString(folder.resolve(who)).strip());
    }

    static boolean lives(long pid) {
        try {
            String stat = Files.readString(Path.of("/proc/" + pid + "/stat"));
            return stat.charAt(stat.lastIndexOf(')') + 2) != 'Z';
        } catch (IOException e) {
            return ProcessHandle.of(pid).filter(ProcessHandle::isAlive).isPresent()
                    && !Files.exists(Path.of("/proc/self"));
        }
    }

    private void assertFamilyIsGone() throws IOException {
        for (String who : List.of("child", "grandchild", "orphan")) {
            assertThat(lives(pid(who))).as(who).isFalse();
        }
    }

    @ParameterizedTest
    @CsvSource({"HUP,129", "INT,130", "TERM,143"})
    void signalsReachTheWholeTree(String signal, int code) throws Exception {
        Running running = cli.start("run", "x", "--", "sh", "-c", FAMILY).says("in");
        running.signal(signal);
        assertThat(running.await().code()).isEqualTo(code);
        assertFamilyIsGone();
        assertThat(cli.run("inspect", "x").code()).isEqualTo(1);
    }

    @Test
    void aCommandMayTakeItsTimeToEnd() throws Exception {
        String script =
                "trap 'echo cleaning; sleep 0.3; echo done; exit 7' TERM; echo in; while :; do sleep 0.05; done";
        Running running = cli.start("run", "x", "--", "sh", "-c", script).says("in");
        running.signal("TERM");
        Result result = running.await();
        assertThat(result.code()).isEqualTo(7);
        assertThat(result.out()).isEqualTo("in\ncleaning\ndone\n");
    }

    @Test
    void noZombieIsLeftWhileTheCommandRuns() throws Exception {
        Running running = cli.start(
                        "run", "x", "--", "sh", "-c", "for i in 1 2 3; do true & done; wait; echo in; sleep 600")
                .says("in");
        assertThat(running.process().descendants().filter(p -> !lives(p.pid()))).isEmpty();
        running.signal("TERM");
        running.await();
    }

    @ParameterizedTest
    @CsvSource({"--yes", "--yes --now"})
    void aBrokenLockStopsTheWholeTree(String how) throws Exception {
        Running running = cli.start("run", "x", "--", "sh", "-c", FAMILY).says("in");
        Result broken = cli.run(("break x " + how).split(" "));
        assertThat(broken.code()).as(broken.err()).isZero();
        Result result = running.await();
        assertThat(result.code()).isEqualTo(76);
        assertThat(result.err()).contains("was lost (somebody broke it); the command was ended");
        assertFamilyIsGone();
    }

    @Test
    void aStoreThatGoesAwayStopsTheCommandBeforeTheLeaseEnds() throws Exception {
        String stubborn = "trap 'echo asked' TERM; echo in; while :; do sleep 0.05; done";
        Running running = cli.start("run", "x", "--lease", "4s", "--", "sh", "-c", stubborn)
                .says("in");
        long start = System.nanoTime();
        Files.delete(cli.database());
        Result result = running.await();
        double seconds = (System.nanoTime() - start) / 1e9;
        assertThat(result.code()).isEqualTo(76);
        // Whichever is noticed first: that a step failed, or that the file is not in its place any more. Then no time
        // is left.
        assertThat(result.err())
                .containsAnyOf("the store could not be reached", "the file of locks was removed or replaced");
        if (result.err().contains("the store could not be reached")) {
            assertThat(result.out()).contains("asked"); // TERM first …
        }
        assertThat(seconds).isLessThan(4.5); // … and KILL before others could acquire it (and a JVM to end)
    }
}
