// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.cli;

import static io.lockkeeper.cli.Clone.ended;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.lockkeeper.cli.Cli.Await;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What the script gives to the command: its place, terminals, bytes, and the duties of a container's first process. */
class LauncherRunTest {
    @TempDir
    static Path home;

    private static Clone clone;

    @TempDir
    Path folder;

    @BeforeAll
    static void build() throws Exception {
        clone = new Clone(home);
        ended(clone.start(clone.script(), home, "version"), 0);
    }

    @BeforeEach
    void freshState() {
        assertThat(folder).isEmptyDirectory();
    }

    private ProcessBuilder prepare(String... command) {
        ProcessBuilder builder = clone.prepare(folder, command);
        builder.environment().put("XDG_STATE_HOME", folder.resolve("state").toString());
        builder.environment().put("LK", clone.script().toString());
        return builder;
    }

    /** A script in which {@code "$LK"} is ours. */
    private Process shell(String script) throws IOException {
        return prepare("/bin/sh", "-c", script).start();
    }

    /** Java would open its own files under those numbers. */
    @Test
    void whatIsClosedIsEmptyForTheCommand() throws Exception {
        String script = "\"$LK\" run x -- sh -c 'cat; echo out; echo err >&2; echo $? >code' <&- >&- 2>&-";
        ended(shell(script), 0);
        assertThat(folder.resolve("code")).hasContent("0");
    }

    @Test
    void outputThatCannotBeWrittenIsAFailure() throws Exception {
        assumeThat(Path.of("/dev/full")).exists();
        for (String command : List.of("version", "ls --json", "ddl --store jdbc:postgresql:x")) {
            ended(shell("\"$LK\" " + command + " >/dev/full"), 74);
        }
        ended(shell("\"$LK\" version | true"), 0);
    }

    // ---- As the first process of a container ----

    private Process first(String script) throws Exception {
        Process trial = new ProcessBuilder("unshare", "-pf", "--mount-proc", "true")
                .redirectErrorStream(true)
                .start();
        assumeThat(trial.waitFor()).as("may make a PID namespace").isZero();
        return prepare(
                        "unshare",
                        "-pf",
                        "--kill-child",
                        "--mount-proc",
                        clone.script().toString(),
                        "run",
                        "x",
                        "--",
                        "sh",
                        "-c",
                        script)
                .start();
    }

    @Test
    void theFirstProcessReapsOrphansAndHasTheCommandsCode() throws Exception {
        // Orphans by the dozen, each of which ends at once; none may stand in the table for long.
        String script = """
                for i in 1 2 3 4 5 6 7 8 9; do (sh -c : &); done
                n=0
                while grep -l '^State:.Z' /proc/[0-9]*/status 2>/dev/null; do
                    n=$((n + 1)); test $n -gt 500 && exit 1; sleep 0.02
                done >/dev/null
                test "$PPID" != 1 && exit 7
                """;
        ended(first(script), 7);
    }

    @ParameterizedTest
    @CsvSource({"HUP,1", "INT,2", "TERM,15"})
    void theFirstProcessPassesSignalsOn(String signal, int number) throws Exception {
        String script = "trap 'sleep 0.1; exit " + (40 + number) + "' " + signal
                + "; echo in >in; while :; do sleep 0.05; done";
        Process unshare = first(script);
        Await.until(() -> Files.exists(folder.resolve("in")));
        List<ProcessHandle> inside = unshare.children().toList();
        assertThat(inside).hasSize(1);
        Clone.signal(signal, inside.get(0).pid());
        ended(unshare, 40 + number);
    }

    // ---- Bytes ----

    @Test
    void argumentsAndNamesAreTheSameBytesWithoutALocale() throws Exception {
        String said = ended(
                shell(
                        "env -u LANG -u LC_CTYPE LC_ALL=C \"$LK\" run 'grün' -- sh -c 'echo \"$1 $LOCKKEEPER_NAME\"; >\"$1\"' sh 'ä€😀'"),
                0);
        assertThat(said).isEqualTo("ä€😀 grün\n");
        assertThat(ended(shell("LC_ALL=C \"$LK\" run x -- sh -c 'echo $LC_ALL'"), 0))
                .isEqualTo("C\n");
        assertThat(ended(shell("env -u LC_ALL LANG=C \"$LK\" run x -- sh -c 'echo ${LC_ALL-none} $LANG'"), 0))
                .isEqualTo("none C\n");
        assertThat(ended(shell("printf '#!/bin/sh\\necho ran' >ü; chmod +x ü; LC_ALL=C \"$LK\" run x -- ./ü"), 0))
                .isEqualTo("ran\n");
        assertThat(ended(
                        shell("LC_ALL=C \"$LK\" run x --store \"file:$PWD/ö/locks.db\" -- echo in; test -e ö/locks.db"),
                        0))
                .isEqualTo("in\n");
        assertThat(ended(shell("\"$LK\" run x -- rm \"$(printf '\\374')\""), 64))
                .contains("UTF-8");
    }

    @Test
    void inputReachesTheCommandAndNothingElseReadsIt() throws Exception {
        assertThat(ended(shell("printf 'a\\nb\\n' | { \"$LK\" run x -- head -c 2; cat; }"), 0))
                .isEqualTo("a\nb\n");
    }

    // ---- On a terminal ----

    private ProcessBuilder onTerminal(String script) throws Exception {
        assumeThat(new ProcessBuilder("sh", "-c", "command -v script").start().waitFor())
                .isZero();
        // Its shell must not be in between: an interrupted one may end before the command does.
        ProcessBuilder builder = prepare("script", "-qefc", "exec " + script, "/dev/null");
        builder.environment().put("TERM", "xterm");
        builder.environment().remove("NO_COLOR");
        return builder;
    }

    @Test
    void aTerminalShowsColoursAndTheHolder() throws Exception {
        Process holder = shell("exec \"$LK\" run x -- sh -c 'echo in >in; exec sleep 600'");
        Await.until(() -> Files.exists(folder.resolve("in")));
        String waiting = ended(onTerminal("\"$LK\" run x --wait 2s -- true").start(), 75);
        assertThat(waiting).contains("waiting for x, held by ").contains("(pid " + holder.pid() + ") for ");
        assertThat(ended(onTerminal("\"$LK\" ls").start(), 0))
                .contains("\u001b[1m")
                .contains("exclusive");
        ProcessBuilder plain = onTerminal("\"$LK\" ls");
        plain.environment().put("NO_COLOR", "1");
        assertThat(ended(plain.start(), 0)).contains("exclusive").doesNotContain("\u001b");
        assertThat(ended(shell("\"$LK\" run x --wait 1s -- true"), 75)).doesNotContain("waiting for", "\u001b");
        Clone.signal("TERM", holder.pid());
        ended(holder, 143);
    }

    @Test
    void controlCReachesTheCommandOnce() throws Exception {
        // INT is counted for a while after the first.
        String script = "trap 'echo one >>count' INT; echo in >in; until test -e count; do sleep 0.05; done;"
                + " for i in 1 2 3 4 5 6 7 8 9; do sleep 0.05; done; exit 5";
        Files.writeString(folder.resolve("command"), script);
        List<String> starts = new ArrayList<>(List.of("\"$LK\" run x -- sh ./command"));
        if (new ProcessBuilder("unshare", "-pf", "--mount-proc", "true").start().waitFor() == 0) {
            starts.add("unshare -pf --kill-child --mount-proc \"$LK\" run x -- sh ./command");
        }
        for (String start : starts) {
            Files.deleteIfExists(folder.resolve("in"));
            Files.deleteIfExists(folder.resolve("count"));
            Process terminal = onTerminal(start).start();
            Await.until(() -> Files.exists(folder.resolve("in")));
            type(terminal, "\u0003");
            String said = ended(terminal, 5);
            assertThat(folder.resolve("count")).as(start + said).hasContent("one");
        }
    }

    private static void type(Process terminal, String keys) throws IOException {
        terminal.getOutputStream().write(keys.getBytes(StandardCharsets.US_ASCII));
        terminal.getOutputStream().flush();
    }

    @Test
    void controlBackslashReachesTheCommandAndJavaPrintsNothing() throws Exception {
        String handled = "trap 'echo quit >quit; exit 5' QUIT; echo in >in; while :; do sleep 0.05; done";
        Files.writeString(folder.resolve("command"), handled);
        Process terminal = onTerminal("\"$LK\" run x -- sh ./command").start();
        Await.until(() -> Files.exists(folder.resolve("in")));
        type(terminal, "\u001c");
        assertThat(ended(terminal, 5)).doesNotContain("Full thread dump", "java");
        assertThat(folder.resolve("quit")).exists();

        Files.delete(folder.resolve("in"));
        Files.writeString(folder.resolve("command"), "ulimit -c 0; echo in >in; exec sleep 600");
        Process unhandled = onTerminal("\"$LK\" run x -- sh ./command").start();
        Await.until(() -> Files.exists(folder.resolve("in")));
        type(unhandled, "\u001c");
        assertThat(ended(unhandled, 131)).doesNotContain("Full thread dump", "java");
    }

    @Test
    void controlBackslashEndsAWait() throws Exception {
        Process holder = shell("exec \"$LK\" run x -- sh -c 'echo in >in; exec sleep 600'");
        Await.until(() -> Files.exists(folder.resolve("in")));
        Process waiting = onTerminal("\"$LK\" run x -- true").start();
        Await.until(() -> ended(shell("\"$LK\" inspect --json x"), 0).contains("\"waiters\":1"));
        type(waiting, "\u001c");
        assertThat(ended(waiting, 131)).doesNotContain("Full thread dump");
        assertThat(ended(shell("\"$LK\" inspect --json x"), 0)).contains("\"waiters\":0");
        Clone.signal("TERM", holder.pid());
        ended(holder, 143);
    }
}
