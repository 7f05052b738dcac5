// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.cli;

import static io.lockkeeper.cli.Clone.ended;
import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.cli.Cli.Await;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** When the script {@code ./lockkeeper} builds, and when not. */
class LauncherTest {
    @TempDir
    Path folder;

    private Clone clone;

    @BeforeEach
    void makeClone() throws Exception {
        clone = new Clone(folder);
    }

    /** The source is newer than what was built from it. */
    private void change() throws Exception {
        Files.writeString(clone.root().resolve("core/src/main/New.java"), "");
        Path stamp = clone.builds().resolve("current/stamp");
        if (Files.exists(stamp)) {
            Files.setLastModifiedTime(stamp, FileTime.from(Instant.now().minusSeconds(5)));
        }
    }

    @Test
    void buildsOnceForAllAndAgainOnlyAfterAChange() throws Exception {
        Path elsewhere = Files.createDirectories(folder.resolve("another place"));
        Path absolute = Files.createSymbolicLink(elsewhere.resolve("lk"), clone.script());
        Path relative = Files.createSymbolicLink(elsewhere.resolve("lk2"), Path.of("lk"));
        List<Process> all = List.of(
                clone.start(Path.of("./lockkeeper"), clone.root(), "run", "x", "--", "pwd"),
                clone.start(absolute, elsewhere, "run", "x", "--", "pwd"),
                clone.start(Path.of("./lk2"), elsewhere, "run", "x", "--", "pwd"));
        assertThat(relative).exists();
        List<String> said = List.of(ended(all.get(0), 0), ended(all.get(1), 0), ended(all.get(2), 0));
        assertThat(said.get(0)).endsWith(clone.root().toRealPath() + "\n");
        assertThat(said.get(1)).endsWith(elsewhere.toRealPath() + "\n");
        assertThat(said.get(2)).endsWith(elsewhere.toRealPath() + "\n");
        // Where no terminal shows how it goes on, as in the log of a job, one line says why it takes so long.
        assertThat(said)
                .filteredOn(text -> text.contains("lockkeeper: building"))
                .hasSize(1);
        assertThat(said).allSatisfy(text -> assertThat(text.lines()).hasSizeLessThanOrEqualTo(2));
        assertThat(clone.calls()).isEqualTo(1);
        assertThat(clone.builds().resolve("current/classes.jsa")).exists();
        assertThat(clone.builds().resolve("current/native")).isNotEmptyDirectory();

        assertThat(ended(clone.start(absolute, folder, "version"), 0)).startsWith("lockkeeper ");
        assertThat(ended(clone.start(absolute, folder, "inspect", "x"), 1)).contains("nobody");
        ProcessBuilder confused = clone.prepare(folder, "a clone/lockkeeper", "version");
        confused.environment().put("CDPATH", folder.toString());
        assertThat(ended(confused.start(), 0)).startsWith("lockkeeper ");
        assertThat(clone.calls()).isEqualTo(1);

        change();
        Files.createFile(folder.resolve("broken"));
        assertThat(ended(clone.start(absolute, folder, "version"), 69)).contains("the build failed", "build.log");
        assertThat(clone.calls()).isEqualTo(2);
        Files.delete(folder.resolve("broken"));
        assertThat(ended(clone.start(absolute, folder, "version"), 0)).contains("\nlockkeeper ");
        assertThat(clone.calls()).isEqualTo(3);
    }

    @Test
    void aBuildIsOfOnePlaceAndStaysAsLongAsSomethingRunsFromIt() throws Exception {
        Process running = clone.start(clone.script(), folder, "run", "x", "--", "sh", "-c", "echo in >in; exec cat");
        Await.until(() -> Files.exists(folder.resolve("in")));
        Path old = clone.builds().resolve("current").toRealPath();
        change();
        Files.setLastModifiedTime(old, FileTime.from(Instant.now().minusSeconds(7200)));
        ended(clone.start(clone.script(), folder, "version"), 0);
        assertThat(clone.builds().resolve("current").toRealPath()).isNotEqualTo(old);
        assertThat(old).exists();

        Path copy = folder.resolve("copy");
        assertThat(new ProcessBuilder("cp", "-a", clone.root().toString(), copy.toString())
                        .start()
                        .waitFor())
                .isZero();
        ended(clone.start(copy.resolve("lockkeeper"), folder, "version"), 0);
        assertThat(clone.calls()).isEqualTo(3);
        assertThat(copy.resolve("cli/target/launcher/current").toRealPath()).startsWith(copy.toRealPath());
        ended(clone.start(clone.script(), folder, "version"), 0);
        assertThat(clone.calls()).isEqualTo(3);

        running.getOutputStream().close();
        ended(running, 0);
        change();
        ended(clone.start(clone.script(), folder, "version"), 0);
        assertThat(old).doesNotExist();
    }

    @Test
    void aBuildThatIsInterruptedEndsAndOneWhoseShellIsKilledIsAwaited() throws Exception {
        Path slow = Files.createFile(folder.resolve("slow"));
        Path pid = folder.resolve("mvn");
        Process interrupted = clone.start(clone.script(), folder, "version");
        Await.until(() -> Files.exists(pid) && !Files.readString(pid).isBlank());
        ProcessHandle maven = handle(pid);
        Clone.signal("INT", interrupted.pid());
        ended(interrupted, 130);
        assertThat(maven.isAlive()).isFalse();

        Files.delete(pid);
        Process killed = clone.start(clone.script(), folder, "version");
        Await.until(() -> Files.exists(pid) && !Files.readString(pid).isBlank());
        maven = handle(pid);
        killed.destroyForcibly().waitFor();
        Files.delete(slow);
        Process next = clone.start(clone.script(), folder, "version");
        assertThat(next.waitFor(500, TimeUnit.MILLISECONDS)).isFalse();
        assertThat(clone.calls()).isEqualTo(2);
        maven.destroy();
        assertThat(ended(next, 0)).contains("lockkeeper: waiting for another", "\nlockkeeper ");
        assertThat(clone.calls()).isEqualTo(3);
    }

    private static ProcessHandle handle(Path pid) throws Exception {
        return ProcessHandle.of(Long.parseLong(Files.readString(pid).strip())).orElseThrow();
    }

    @Test
    void saysWhatIsMissing() throws Exception {
        Path target = Files.createFile(clone.root().resolve("cli/target"));
        assertThat(ended(clone.start(clone.script(), folder, "version"), 69)).contains("not writable");
        Files.delete(target);
        ProcessBuilder noMaven = clone.prepare(folder, clone.script().toString(), "version");
        noMaven.environment().put("PATH", bareTools().toString());
        assertThat(ended(noMaven.start(), 69)).contains("no mvn on the PATH");
        noMaven.environment().remove("JAVA_HOME");
        assertThat(ended(noMaven.start(), 69)).contains("no java found");
        ProcessBuilder noJava = clone.prepare(folder, clone.script().toString(), "version");
        noJava.environment().put("JAVA_HOME", folder.resolve("no jdk").toString());
        assertThat(ended(noJava.start(), 69))
                .isEqualTo("lockkeeper: JAVA_HOME is " + folder.resolve("no jdk") + ", which has no bin/java\n");
    }

    /** Little more than a shell. */
    private Path bareTools() throws Exception {
        Path tools = Files.createDirectories(folder.resolve("bare"));
        for (String tool : List.of("bash", "mkdir", "find", "head", "cat", "rm", "date", "readlink", "flock")) {
            for (String from : List.of("/bin", "/usr/bin")) {
                Path path = Path.of(from, tool);
                if (Files.exists(path) && !Files.exists(tools.resolve(tool))) {
                    Files.createSymbolicLink(tools.resolve(tool), path);
                }
            }
        }
        return tools;
    }
}
