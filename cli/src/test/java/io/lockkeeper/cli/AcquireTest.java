// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.lockkeeper.cli.Cli.Await;
import io.lockkeeper.cli.Cli.Result;
import io.lockkeeper.cli.Cli.Running;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code acquire} and {@code release}, as scripts use them. */
class AcquireTest {
    @TempDir
    Path folder;

    private Cli cli;
    private Path holds;

    @BeforeEach
    void setUp() throws Exception {
        holds = Files.createDirectories(folder.resolve("runtime dir"));
        cli = new Cli(folder).with("XDG_RUNTIME_DIR", holds.toString()).without("LOCKKEEPER_HOLDS");
    }

    /** Nothing is left of any hold. */
    @AfterEach
    void nothingIsLeft() {
        Await.until(() -> {
            try (Stream<Path> left = Files.list(holds)) {
                return left.findAny().isEmpty();
            }
        });
    }

    /** A script in which {@code lockkeeper} is the command. */
    private Running script(String shell, String text) throws IOException {
        return cli.startShell(shell, text);
    }

    private String holders(String name) throws Exception {
        return cli.run("inspect", "--json", name).out();
    }

    private void awaitFree(String name) {
        Await.until(() -> cli.run("inspect", name).code() == 1);
    }

    @Test
    void aScriptHoldsSeveralLocksUntilItReleasesThem() throws Exception {
        String text = """
                set -eu
                eval "$(lockkeeper acquire "it's a" --wait 30s)"
                test "$LOCKKEEPER_NAME" = "it's a"
                first=$LOCKKEEPER_SEQUENCER
                eval "$(lockkeeper acquire b)"
                lockkeeper check "$first"
                lockkeeper release
                if lockkeeper check; then exit 9; fi
                lockkeeper release "it's a"
                status=0
                lockkeeper release || status=$?
                echo "$status ${LOCKKEEPER_TOKEN:?}"
                """;
        Result result = script("bash", text).await();
        assertThat(result.code()).as(result.out() + result.err()).isZero();
        assertThat(result.out()).startsWith("in force\nnot in force\n1 ");
        awaitFree("it's a");
    }

    /** A holder that kept it open would let the shell wait until nobody has evaluated the answer in time. */
    @Test
    void bothOutputsMayBeOnePipe() throws Exception {
        assumeThat(Path.of("/proc/self/fd")).exists();
        String text = """
                out=$(lockkeeper acquire x 2>&1); echo $?
                eval "$out" || exit
                lockkeeper inspect x
                lockkeeper release || exit
                lockkeeper acquire x --json --shell $$ 2>&1 | cat
                lockkeeper acquire x --wait 0 2>&1 | cat
                echo after
                """;
        Result result = script("sh", text).await();
        assertThat(result.code()).as(result.out() + result.err()).isZero();
        assertThat(result.out())
                .startsWith("0\nx  exclusive")
                .contains("{\"name\":\"x\"")
                .containsPattern(
                        "lockkeeper: the lock x was not acquired within 0 s; held by testhost .*\n\\(exit 75\\)\nafter\n");
        awaitFree("x");
    }

    @Test
    void aFailureIsTheStatusOfEvalAndNothingElseIsRun() throws Exception {
        Running holder = cli.start("run", "x", "--", "sh", "-c", "echo in; exec sleep 600")
                .says("in");
        String text = """
                eval "$(lockkeeper acquire x --wait 0 --store file:/proc/none/x)"; echo "$?"
                eval "$(lockkeeper acquire x --no-such)"; echo "$?"
                lock=$(lockkeeper acquire x --wait 0); echo "$?" "$lock" "${LOCKKEEPER_TOKEN-none}"
                set -e
                eval "$(lockkeeper acquire x --wait 0)"
                echo never
                """;
        Result result = script("sh", text).await();
        assertThat(result.out()).isEqualTo("69\n64\n75 (exit 75) none\n");
        assertThat(result.code()).isEqualTo(75);
        assertThat(result.err())
                .contains("held by testhost (pid " + holder.process().pid());
        holder.signal("TERM");
        holder.await();
    }

    @Test
    void theLockEndsWithTheShellThatIsKilled() throws Exception {
        // A lease that is too long for anybody to wait for its end; what the shell leaves running does not keep the
        // lock.
        String text = """
                eval "$(lockkeeper acquire x --lease 1h)" || exit
                sleep 600 </dev/null >/dev/null 2>&1 & echo $! >left
                echo in
                until test -e go; do sleep 0.05; done
                kill -9 $$""";
        Running running = script("sh", text).says("in");
        assertThat(holders("x")).contains("\"client\":\"testhost:");
        Files.createFile(folder.resolve("go"));
        assertThat(running.process().waitFor()).isEqualTo(137);
        awaitFree("x");
        end("left");
    }

    private void end(String pidFile) throws IOException {
        ProcessHandle.of(
                        Long.parseLong(Files.readString(folder.resolve(pidFile)).strip()))
                .ifPresent(ProcessHandle::destroyForcibly);
    }

    @Test
    void aLostLockEndsTheScriptAndWhatItRuns() throws Exception {
        String text = "eval \"$(lockkeeper acquire x)\" || exit\n"
                + "sh -c 'echo $$ >child; echo in; exec sleep 600'\necho never";
        Running running = script("sh", text).says("in");
        assertThat(cli.run("break", "x", "--yes").code()).isZero();
        Result result = running.await();
        assertThat(result.code()).isEqualTo(143);
        assertThat(result.out()).isEqualTo("in\n");
        assertThat(result.err()).contains("the lock x was lost (somebody broke it)");
        long child = Long.parseLong(Files.readString(folder.resolve("child")).strip());
        Await.until(() -> !RunProcessesTest.lives(child)); // it was asked a moment after the script
        awaitFree("x");
    }

    @Test
    void aScriptMayChooseToGoOn() throws Exception {
        String text = """
                eval "$(lockkeeper acquire x --on-lost none)" || exit
                echo in
                until test -e go; do sleep 0.05; done
                lockkeeper release; echo $?
                """;
        Running running = script("sh", text).says("in");
        assertThat(cli.run("break", "x", "--yes").code()).isZero();
        Await.until(() -> running.err().contains("was lost"));
        Files.createFile(folder.resolve("go"));
        Result result = running.await();
        assertThat(result.out()).isEqualTo("in\n76\n");
        assertThat(result.code()).isZero();
    }

    @Test
    void aHolderThatIsKilledOrStoppedIsALossToo() throws Exception {
        String text = "eval \"$(lockkeeper acquire x --lease 4s --on-lost kill)\" || exit\n"
                + "trap 'echo asked' TERM; echo in; while :; do sleep 0.05; done";
        for (String signal : new String[] {"KILL", "STOP"}) {
            Running running = script("sh", text).says("in");
            String client = holders("x").replaceAll("(?s).*testhost:([0-9]+)\".*", "$1");
            Clone.signal(signal, Long.parseLong(client));
            assertThat(running.await().code()).isEqualTo(137);
            // After a kill it has the rest of the lease from TERM to KILL; after a stop perhaps not time enough for its
            // trap.
            List<String> said = signal.equals("STOP") ? List.of("in\n", "in\nasked\n") : List.of("in\nasked\n");
            assertThat(running.out()).isIn(said);
            if (signal.equals("STOP")) {
                Clone.signal("CONT", Long.parseLong(client));
            }
            awaitFree("x");
        }
    }

    @Test
    void aScriptThatIsAskedToEndKeepsItsLockUntilItHas() throws Exception {
        String text = """
                eval "$(lockkeeper acquire x)" || exit
                trap 'echo asked' TERM
                echo in
                until test -e go; do sleep 0.05; done
                """;
        Running running = script("sh", text).says("in");
        String holder = holders("x").replaceAll("(?s).*testhost:([0-9]+)\".*", "$1");
        Clone.signal("TERM", Long.parseLong(holder));
        running.says("asked");
        assertThat(cli.run("run", "x", "--wait", "0", "--", "true").code()).isEqualTo(75);
        Files.createFile(folder.resolve("go"));
        running.await();
        awaitFree("x");
    }

    @Test
    void theLossOfOneLockOfAScriptIsNoLossOfTheOther() throws Exception {
        String text = """
                eval "$(lockkeeper acquire a)" || exit
                eval "$(lockkeeper acquire b)" || exit
                trap 'echo asked' TERM
                echo in
                until test -e go; do sleep 0.05; done
                """;
        Running running = script("sh", text).says("in");
        assertThat(cli.run("break", "a", "--yes").code()).isZero();
        running.says("asked");
        assertThat(cli.run("run", "b", "--wait", "0", "--", "true").code()).isEqualTo(75);
        Files.createFile(folder.resolve("go"));
        assertThat(running.await().err()).contains("the lock a was lost").doesNotContain("the lock b was lost");
        awaitFree("b");
    }

    @Test
    void theEnvironmentDoesNotGrowWithLocksThatWereReleased() throws Exception {
        String text = """
                set -eu
                eval "$(lockkeeper acquire kept)"
                for i in 1 2 3; do
                    eval "$(lockkeeper acquire x)"
                    echo "$LOCKKEEPER_RUNS-$LOCKKEEPER_HOLDS" | tr -cd ':\n'
                    lockkeeper release x
                done
                lockkeeper release
                """;
        Result result =
                cli.with("LOCKKEEPER_RUNS", "outer").startShell("sh", text).await();
        assertThat(result.code()).as(result.err()).isZero();
        assertThat(result.out()).isEqualTo(":::\n:::\n:::\n");
    }

    @Test
    void aWaiterLeavesTheQueueWhenInterrupted() throws Exception {
        Running holder = cli.start("run", "x", "--", "sh", "-c", "echo in; exec sleep 600")
                .says("in");
        Running waiter = cli.start("acquire", "x");
        Await.until(() -> holders("x").contains("\"waiters\":1"));
        waiter.signal("INT");
        assertThat(waiter.await().code()).isEqualTo(130);
        assertThat(waiter.out()).isEqualTo("(exit 130)\n");
        Running killed = cli.start("acquire", "x");
        Await.until(() -> holders("x").contains("\"waiters\":1"));
        killed.process().destroyForcibly();
        Await.until(() -> holders("x").contains("\"waiters\":0"));
        holder.signal("TERM");
        holder.await();
    }

    @Test
    void aProgramNamesTheProcessThatTheLockEndsWith() throws Exception {
        assertThat(cli.run("acquire", "x", "--json").code()).isEqualTo(64);
        Process owner = new ProcessBuilder("sleep", "600").start();
        Result result = cli.run("acquire", "x", "--json", "--shell", Long.toString(owner.pid()));
        assertThat(result.code()).as(result.err()).isZero();
        assertThat(JsonReader.object(result.out()))
                .containsKeys("name", "token", "sequencer", "hold")
                .containsEntry("name", "x");
        assertThat(cli.run("run", "x", "--wait", "0", "--", "true").code()).isEqualTo(75);
        owner.destroyForcibly();
        awaitFree("x");
    }
}
