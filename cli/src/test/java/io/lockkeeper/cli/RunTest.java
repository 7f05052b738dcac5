// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.cli.Cli.Await;
import io.lockkeeper.cli.Cli.Result;
import io.lockkeeper.cli.Cli.Running;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@code lockkeeper run}, as its user sees it. */
class RunTest {
    @TempDir
    Path folder;

    private Cli cli;

    @BeforeEach
    void setUp() {
        cli = new Cli(folder);
    }

    @Test
    void twentyAtOnceOnAFreshMachineRunOneAtATime() throws Exception {
        Path witness = Files.writeString(folder.resolve("witness"), "0");
        // Reads, looks whether anybody else is inside, and writes what it read plus one.
        String step = "mkdir inside || exit 99; n=$(cat witness); sleep 0.02; echo $((n + 1)) >witness; rmdir inside";
        List<Running> all = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            all.add(cli.start("run", "counter", "--", "sh", "-c", step));
        }
        for (Running one : all) {
            Result result = one.await();
            assertThat(result.err()).isEmpty();
            assertThat(result.code()).isZero();
        }
        assertThat(Files.readString(witness).strip()).isEqualTo("20");
        assertThat(JsonReader.objects(cli.run("ls", "--json").out())).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"exit 0,0", "exit 3,3", "exit 255,255", "kill -TERM $$,143", "kill -KILL $$,137", "kill -INT $$,130"})
    void theExitCodeIsTheCommands(String script, int code) throws Exception {
        Result result = cli.run("run", "x", "--", "sh", "-c", script);
        assertThat(result.code()).isEqualTo(code);
        assertThat(result.err()).isEmpty();
    }

    @Test
    void aCommandThatCannotBeStartedIsReportedAsShellsDo() throws Exception {
        Path plain = Files.createFile(folder.resolve("plain"));
        Result missing = cli.run("run", "x", "--", "no-such-command-here");
        assertThat(missing.code()).isEqualTo(127);
        assertThat(missing.err()).contains("no-such-command-here").hasLineCount(1);
        assertThat(cli.run("run", "x", "--", "./missing").code()).isEqualTo(127);
        assertThat(cli.run("run", "x", "--", plain.toString()).code()).isEqualTo(126);
        assertThat(cli.run("run", "x", "--", folder.toString()).code()).isEqualTo(126);
        Path broken = Files.writeString(folder.resolve("broken"), "#!/no/such/interpreter\n");
        assertThat(broken.toFile().setExecutable(true)).isTrue();
        Result badInterpreter = cli.run("run", "x", "--", broken.toString());
        assertThat(badInterpreter.code()).isIn(126, 127);
        assertThat(cli.run("inspect", "x").code()).isEqualTo(1);
    }

    @Test
    void theCommandKnowsItsLock() throws Exception {
        String script = "printf '%s\\n' \"$LOCKKEEPER_NAME\" \"$LOCKKEEPER_TOKEN\" \"$LOCKKEEPER_SEQUENCER\"";
        List<String> first =
                cli.run("run", "a b/ü", "--", "sh", "-c", script).out().lines().toList();
        List<String> second =
                cli.run("run", "a b/ü", "--", "sh", "-c", script).out().lines().toList();
        assertThat(first.get(0)).isEqualTo("a b/ü");
        assertThat(first.get(2)).isEqualTo("lk1:X:" + first.get(1) + ":a%20b%2F%C3%BC");
        assertThat(Long.parseLong(second.get(1))).isGreaterThan(Long.parseLong(first.get(1)));
    }

    @Test
    void inputOutputAndArgumentsPassUnchanged() throws Exception {
        Path input = Files.writeString(folder.resolve("input"), "line one\nline two\n");
        Running cat = cli.start(ProcessBuilder.Redirect.from(input.toFile()), "run", "x", "--", "cat");
        assertThat(cat.await().out()).isEqualTo("line one\nline two\n");
        Result echo = cli.run("run", "x", "--", "printf", "[%s]", "", "a b", "@x", "--wait", "$HOME", "\"q\"", "--");
        assertThat(echo.out()).isEqualTo("[][a b][@x][--wait][$HOME][\"q\"][--]");
        Result err = cli.run("run", "x", "--", "sh", "-c", "echo oops >&2");
        assertThat(err.err()).isEqualTo("oops\n");
    }

    @Test
    void aBusyLockIsNotAcquiredInTime() throws Exception {
        Running holder = cli.start("run", "x", "--label", "the holder", "--", "sh", "-c", "echo in; exec sleep 600");
        holder.says("in");
        Result tried = cli.run("run", "x", "--wait", "0", "--", "echo", "never");
        assertThat(tried.code()).isEqualTo(75);
        assertThat(tried.out()).isEmpty();
        assertThat(tried.err())
                .contains("held by testhost (pid " + holder.process().pid() + ")");
        assertThat(cli.run("run", "x", "--wait", "300ms", "--", "echo", "never").code())
                .isEqualTo(75);
        assertThat(cli.run("run", "x", "--shared", "--wait", "0", "--", "true").code())
                .isEqualTo(75);
        assertThat(cli.run("run", "x", "--permits", "1/2", "--wait", "0", "--", "true")
                        .code())
                .isEqualTo(64);
        holder.signal("TERM");
        assertThat(holder.await().code()).isEqualTo(143);
        assertThat(cli.run("run", "x", "--wait", "5s", "--", "true").code()).isZero();
    }

    @Test
    void sharersAndPermitsRunTogether() throws Exception {
        String inside = "echo in; while ! test -e go; do sleep 0.05; done";
        List<Running> all = List.of(
                cli.start("run", "s", "--shared", "--", "sh", "-c", inside),
                cli.start("run", "s", "--shared", "--", "sh", "-c", inside),
                cli.start("run", "p", "--permits", "2/3", "--", "sh", "-c", inside),
                cli.start("run", "p", "--permits", "1/3", "--", "sh", "-c", inside));
        all.forEach(one -> one.says("in"));
        assertThat(cli.run("run", "p", "--permits", "1/3", "--wait", "0", "--", "true")
                        .code())
                .isEqualTo(75);
        assertThat(cli.run("run", "s", "--wait", "0", "--", "true").code()).isEqualTo(75);
        Files.createFile(folder.resolve("go"));
        for (Running one : all) {
            assertThat(one.await().code()).isZero();
        }
    }

    @ParameterizedTest
    @CsvSource({
        "run",
        "run x",
        "run x --",
        "run x --wait soon -- true",
        "run x --wait 10 -- true",
        "run x --wait -5s -- true",
        "run x --wait 5s5 -- true",
        "run x --lease 10ms -- true",
        "run x --lease 999999999h -- true",
        "run x --permits 3 -- true",
        "run x --permits 3/2 -- true",
        "run x --permits 1/2 --shared -- true",
        "run x --no-such-option -- true",
        "run x --store nonsense -- true",
        "run x --store nonsense:// -- true",
        "run x --store @/no/such/file -- true",
        "run x --store file:/tmp/x?what=1 -- true",
        "nonsense",
        "ls a b",
        "ls --limit 0",
        "inspect",
        "break",
        "check nonsense",
        "--nonsense",
        "''"
    })
    void badArgumentsAreReportedInOneLine(String arguments) throws Exception {
        Result result = cli.run(arguments.isEmpty() ? new String[0] : arguments.split(" "));
        assertThat(result.code()).as(result.err()).isEqualTo(64);
        assertThat(result.out()).isEmpty();
        assertThat(result.err()).startsWith("lockkeeper: ").hasLineCount(1);
    }

    @ParameterizedTest
    @CsvSource({
        "run x --lease 25h -- true,lockkeeper: --lease is 25h; allowed is 1s to 24h",
        "run x --lease 100ms -- true,lockkeeper: --lease is 100ms; allowed is 1s to 24h",
        "run x --lease 100d -- true,'--lease is ''100d''; it takes a duration of 1s to 24h with the units ms, s, m and h'",
        "run x --wait 9d -- true,'--wait is ''9d''; it takes a duration with the units ms, s, m and h'",
        "run EMPTY -- true,a name is not empty; allowed are 1 to 512 bytes",
        "run LONG -- true,a name has 1 to 512 bytes in UTF-8; this one has 600",
        "run x --permits 5/4 -- true,PERMITS",
        "run x --permits 0/4 -- true,PERMITS",
        "run x --permits 1/99999999999 -- true,PERMITS",
        "run x --permits 1/0 -- true,PERMITS",
        "run x --label LONG -- true,'a label has at most 200 bytes in UTF-8, this one 600'",
        "acquire x --lease 25h,--lease is 25h; allowed is 1s to 24h",
        "acquire x --json,'--json needs --shell PID, the process that the lock ends with'",
        "inspect EMPTY,a name is not empty",
        "ls --limit 10001,--limit is 10001; allowed is 1 to 10000",
        "ls --limit 99999999999,99999999999' is too large",
        "break EMPTY --yes,a name is not empty",
        "break x --yes --delay 2h,--delay is 2h; allowed is 0 to 1h",
        "break x --yes --delay 1d,--delay is '1d'; it takes a duration of 0 to 1h",
        "break x --yes --token 0,--token is 0; allowed is 1 to",
        "break x --yes --token abc,abc' is not a whole number; see lockkeeper break --help",
        "check lk1:X:1:LONG,a name has 1 to 512 bytes",
        "release EMPTY,a name is not empty"
    })
    void badArgumentsAreReportedBeforeAStoreIsAskedOrMade(String arguments, String expected) throws Exception {
        String[] words = arguments.replace("LONG", "n".repeat(600)).split(" ");
        for (int i = 0; i < words.length; i++) {
            words[i] = words[i].equals("EMPTY") ? "" : words[i];
        }
        String message =
                expected.replace("PERMITS", "it takes K/N, as in 1/4, where N is 1 to 2147483647 and K is 1 to N");
        for (Cli one : List.of(cli, cli.with("LOCKKEEPER_STORE", "redis://127.0.0.1:1"))) {
            Result result = one.run(words);
            assertThat(result.code()).as(result.err()).isEqualTo(64);
            assertThat(result.err())
                    .startsWith("lockkeeper: ")
                    .contains(message)
                    .hasLineCount(1);
        }
        assertThat(cli.database().getParent()).doesNotExist();
    }

    /** As from {@code "$STORE"} where that is not set: it would lock on this host alone. */
    @Test
    void anEmptyStoreIsNotTheDefault() throws Exception {
        for (String command :
                List.of("run x --store EMPTY -- echo never", "acquire x --store EMPTY", "ls --store EMPTY")) {
            String[] words = command.split(" ");
            words[List.of(words).indexOf("EMPTY")] = "";
            Result result = cli.run(words);
            assertThat(result.code()).as(command + result.err()).isEqualTo(64);
            assertThat(result.err()).contains("--store is empty; give a URL").hasLineCount(1);
            assertThat(result.out()).doesNotContain("never");
        }
        assertThat(cli.database().getParent()).doesNotExist();
        assertThat(cli.with("LOCKKEEPER_STORE", "")
                        .run("run", "x", "--", "true")
                        .code())
                .isZero();
        assertThat(cli.database()).exists();
    }

    @Test
    void whatIsNoUrlIsShownUnlessItMayBeASecret() throws Exception {
        assertThat(cli.run("ls", "--store", "foo").err())
                .contains("--store is 'foo'; a store's URL begins with its scheme, as in file:/", "redis://")
                .doesNotContain("memory:");
        Path file = Files.writeString(folder.resolve("secret"), "sesame42\n");
        for (Result result : List.of(
                cli.run("ls", "--store", "u/sesame42@h"),
                cli.run("ddl", "--store", "@" + file),
                cli.with("LOCKKEEPER_STORE", "sesame42").run("ls"))) {
            assertThat(result.code()).isEqualTo(64);
            assertThat(result.err())
                    .contains("is not a store's URL; a store's URL begins with")
                    .doesNotContain("sesame42");
        }
    }

    @Test
    void aStoreThatNobodyElseSeesIsRefused() throws Exception {
        for (String url : List.of("memory:", "memory:shared", "Memory:", "jdbc:h2:mem:x")) {
            for (String command : List.of("run x -- echo never", "acquire x", "ls")) {
                Result result = cli.with("LOCKKEEPER_STORE", url).run(command.split(" "));
                assertThat(result.code()).as(command + result.err()).isEqualTo(64);
                assertThat(result.err())
                        .contains("one process only", "a file", "a server")
                        .hasLineCount(1);
                assertThat(result.out()).doesNotContain("never");
            }
        }
    }

    @Test
    void anUnknownCommandIsCalledOne() throws Exception {
        assertThat(cli.run("frob", "--wait", "x").err())
                .contains("there is no command 'frob'; the commands are run, acquire, release, ls,")
                .doesNotContain("hold", "Unmatched");
        assertThat(cli.run("ls", "a", "b").err()).contains("unexpected argument 'b'; see lockkeeper ls --help");
        assertThat(cli.run("--frob").err()).contains("Unknown option: '--frob'");
    }

    @Test
    void anErrorOfJavaIsABugAndNotSomethingThatWasNotFound() throws Exception {
        // A class that is not what it should be, as after an update that went wrong; Java looks there first.
        Path broken = Files.createDirectories(folder.resolve("broken/io/lockkeeper/cli"));
        Files.writeString(broken.resolve("InterruptibleWait.class"), "no class");
        Cli cut = cli.with("JDK_JAVA_OPTIONS", "-Xbootclasspath/a:" + folder.resolve("broken"));
        for (String command : List.of("run x -- true", "acquire x")) {
            Result result = cut.run(command.split(" "));
            assertThat(result.code()).as(command).isEqualTo(70);
            assertThat(result.err().lines().filter(line -> !line.startsWith("NOTE: Picked up")))
                    .as(command)
                    .singleElement()
                    .asString()
                    .startsWith("lockkeeper: unexpected: java.lang.ClassFormatError");
            assertThat(result.out()).isEqualTo(command.startsWith("acquire") ? "(exit 70)\n" : "");
        }
        Result verbose = cut.with("LOCKKEEPER_DEBUG", "1").run("run", "x", "--", "true");
        assertThat(verbose.code()).isEqualTo(70);
        assertThat(verbose.err()).contains("\tat ");
    }

    @Test
    void aStateDirectoryThatCannotBeWrittenIsAnUnavailableStore() throws Exception {
        Path plain = Files.createFile(folder.resolve("plain"));
        Result result = cli.with("XDG_STATE_HOME", plain.toString()).run("run", "x", "--", "echo", "never");
        assertThat(result.code()).isEqualTo(69);
        assertThat(result.out()).isEmpty();
        assertThat(result.err()).contains(plain + "/lockkeeper/locks.db").hasLineCount(1);
        assertThat(cli.with("XDG_STATE_HOME", "/proc/nowhere").run("ls").code()).isEqualTo(69);
    }

    @Test
    void aUserWithoutAHomeGetsAnErrorAndNoFileInTheCurrentFolder() throws Exception {
        Cli homeless = cli.without("XDG_STATE_HOME");
        for (Cli one : List.of(
                homeless.with("HOME", "relative"),
                homeless.without("HOME").with("JDK_JAVA_OPTIONS", "-Duser.home=?"))) {
            Result result = one.run("run", "x", "--", "echo", "never");
            assertThat(result.code()).isEqualTo(69);
            assertThat(result.out()).isEmpty();
            assertThat(result.err()).contains("XDG_STATE_HOME", "--store");
        }
        assertThat(folder.resolve("relative")).doesNotExist();
        assertThat(folder.resolve("?")).doesNotExist();
    }

    @Test
    void aStoreThatIsNotThereIsUnavailableAndItsSecretStaysOne() throws Exception {
        String url = "jdbc:postgresql://127.0.0.1:1/none?user=u&password=sesame42";
        for (Cli one : List.of(
                cli.with("LOCKKEEPER_STORE", url),
                cli.with("LOCKKEEPER_STORE", "@" + Files.writeString(folder.resolve("url"), url + "\n")),
                cli.with("LOCKKEEPER_STORE", url).with("LOCKKEEPER_DEBUG", "1"))) {
            Result result = one.run("run", "x", "--", "echo", "never");
            assertThat(result.code()).isEqualTo(69);
            assertThat(result.out()).isEmpty();
            assertThat(result.err()).startsWith("lockkeeper: ").doesNotContain("sesame42");
        }
    }

    @Test
    void aWaiterLeavesTheQueueWhenInterrupted() throws Exception {
        Running holder = cli.start("run", "x", "--", "sh", "-c", "echo in; exec sleep 600")
                .says("in");
        for (String signal : List.of("INT", "TERM", "HUP")) {
            Running waiter = cli.start("run", "x", "--", "echo", "never");
            Await.until(() -> waiters("x") == 1);
            waiter.signal(signal);
            Result result = waiter.await();
            assertThat(result.code())
                    .isEqualTo(128
                            + java.util.Map.of("HUP", 1, "INT", 2, "TERM", 15).get(signal));
            assertThat(result.out()).isEmpty();
            assertThat(waiters("x")).isZero();
        }
        holder.signal("TERM");
        holder.await();
    }

    private long waiters(String name) throws Exception {
        Object found = JsonReader.read(cli.run("inspect", "--json", name).out());
        return found instanceof java.util.Map<?, ?> lock ? (Long) lock.get("waiters") : 0;
    }
}
