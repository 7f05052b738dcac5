// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.cli.Cli.Await;
import io.lockkeeper.cli.Cli.Result;
import io.lockkeeper.cli.Cli.Running;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A command never outlives its lock, even when {@code lockkeeper} cannot do anything any more (H111). */
class GuardianTest {
    /** Says who of the family lives, and that it has the lock. A process that has ended may stand in the table for a while. */
    private static final String LOOK = """
            for who in child grandchild orphan; do
                test -e $who && grep -qE '^State:.[^ZX]' /proc/$(cat $who)/status 2>/dev/null && echo $who lives
            done
            echo mine
            """;

    @TempDir
    Path folder;

    private Cli cli;

    @BeforeEach
    void setUp() {
        cli = new Cli(folder);
    }

    private Running waiter() throws Exception {
        Running waiter = cli.start("run", "x", "--wait", "50s", "--", "sh", "-c", LOOK);
        Await.until(() -> cli.run("inspect", "--json", "x").out().contains("\"waiters\":1"));
        return waiter;
    }

    private void assertOthersFindNobody(Running waiter) throws Exception {
        Result result = waiter.await();
        assertThat(result.code()).as(result.err()).isZero();
        assertThat(result.out()).isEqualTo("mine\n");
    }

    /** The guardian is a child of lockkeeper, as the command is. */
    private static List<ProcessHandle> guardians(Running running) {
        return running.process()
                .children()
                .filter(p -> arguments(p.pid()).contains("\0guardian\0"))
                .toList();
    }

    private static String arguments(long pid) {
        try {
            return Files.readString(Path.of("/proc/" + pid + "/cmdline"));
        } catch (IOException e) {
            return "";
        }
    }

    @Test
    void theCommandEndsWhenLockkeeperIsKilled() throws Exception {
        Running holder = cli.start("run", "x", "--lease", "4s", "--", "sh", "-c", RunProcessesTest.FAMILY)
                .says("in");
        Running waiter = waiter();
        List<ProcessHandle> guardians = guardians(holder);
        assertThat(guardians).hasSize(1);
        holder.process().destroyForcibly();
        assertOthersFindNobody(waiter);
        Await.until(() -> guardians.stream().noneMatch(ProcessHandle::isAlive));
    }

    @Test
    void theCommandIsKilledInTimeWhenLockkeeperIsStopped() throws Exception {
        String stubborn = "trap 'echo asked' TERM; echo $$ >child; echo in; while :; do sleep 0.05; done";
        Running holder = cli.start("run", "x", "--lease", "6s", "--", "sh", "-c", stubborn)
                .says("in");
        Running waiter = waiter();
        holder.signal("STOP");
        assertOthersFindNobody(waiter);
        holder.signal("CONT");
        Result result = holder.await();
        assertThat(result.code()).as(result.err()).isEqualTo(76);
        // Between TERM and KILL are a few hundred milliseconds: a busy machine may not get to the trap.
        assertThat(result.out()).isIn("in\n", "in\nasked\n");
    }

    @Test
    void aGuardianThatIsKilledIsReplaced() throws Exception {
        Running holder = cli.start("run", "x", "--", "sh", "-c", "echo $$ >child; echo in; exec sleep 600")
                .says("in");
        List<ProcessHandle> first = guardians(holder);
        assertThat(first).hasSize(1);
        first.get(0).destroyForcibly();
        Await.until(() -> {
            List<ProcessHandle> next = guardians(holder);
            return next.size() == 1 && !next.equals(first);
        });
        holder.process().destroyForcibly();
        long child = Long.parseLong(Files.readString(folder.resolve("child")).strip());
        Await.until(() -> !RunProcessesTest.lives(child)); // far sooner than its lease of 30 s has ended
    }

    @Test
    void itEndsWithTheCommandAndLeavesAloneWhatTheCommandHasLeft() throws Exception {
        String script = "sleep 600 </dev/null >/dev/null 2>&1 & echo $! >left; echo $LOCKKEEPER_RUNS; exit 3";
        Running running = cli.start("run", "x", "--", "sh", "-c", script);
        assertThat(running.await().code()).isEqualTo(3);
        String mark = running.out().strip();
        assertThat(mark).isNotEmpty();
        Await.until(() ->
                ProcessHandle.allProcesses().noneMatch(p -> arguments(p.pid()).contains(mark)));
        long left = Long.parseLong(Files.readString(folder.resolve("left")).strip());
        assertThat(RunProcessesTest.lives(left)).isTrue();
        ProcessHandle.of(left).ifPresent(ProcessHandle::destroyForcibly);
    }

    @Test
    void aRunInsideARunEndsWithTheOuterOne() throws Exception {
        Path classPath = Files.writeString(folder.resolve("arguments"), "-cp " + System.getProperty("java.class.path"));
        String inner = Path.of(System.getProperty("java.home"), "bin", "java") + " @" + classPath
                + " io.lockkeeper.cli.Main run y -- sh -c '(sh -c \"echo \\$\\$ >orphan; exec sleep 600\" &);"
                + " echo $$ >child; echo in; exec sleep 600'";
        Running outer = cli.start("run", "x", "--", "sh", "-c", inner).says("in");
        Await.until(() -> Files.exists(folder.resolve("orphan"))
                && !Files.readString(folder.resolve("orphan")).isBlank());
        outer.process().destroyForcibly();
        for (String who : List.of("child", "orphan")) {
            long pid = Long.parseLong(Files.readString(folder.resolve(who)).strip());
            Await.until(() -> !RunProcessesTest.lives(pid));
        }
    }
}
