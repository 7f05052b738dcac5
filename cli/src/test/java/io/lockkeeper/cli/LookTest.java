// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.cli.Cli.Await;
import io.lockkeeper.cli.Cli.Result;
import io.lockkeeper.cli.Cli.Running;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code ls}, {@code inspect}, {@code watch}, {@code break}, {@code check}, {@code version} and help. */
class LookTest {
    /** With all that may not reach a terminal as it is. */
    private static final String NAME = "night \"ly\"\\ \u001b[31m ü";

    @TempDir
    Path folder;

    private Cli cli;
    private Running holder;

    @BeforeEach
    void hold() throws Exception {
        cli = new Cli(folder);
        holder = cli.start(
                        "run",
                        NAME,
                        "--label",
                        "the\tlabel",
                        "--",
                        "sh",
                        "-c",
                        "echo $LOCKKEEPER_SEQUENCER; exec sleep 600")
                .says("lk1:");
    }

    @AfterEach
    void release() throws Exception {
        holder.process().destroy();
        holder.await();
    }

    @Test
    void listsWhoHoldsWhat() throws Exception {
        List<Map<String, Object>> all =
                JsonReader.objects(cli.run("ls", "--json").out());
        assertThat(all).hasSize(1);
        Map<String, Object> lock = all.get(0);
        assertThat(lock.keySet()).containsExactly("name", "mode", "limit", "holders", "waiters", "closedForMillis");
        assertThat(lock)
                .containsEntry("name", NAME)
                .containsEntry("mode", "EXCLUSIVE")
                .containsEntry("waiters", 0L);
        Map<?, ?> hold = (Map<?, ?>) ((List<?>) lock.get("holders")).get(0);
        assertThat(hold.get("client")).isEqualTo("testhost:" + holder.process().pid());
        assertThat(hold.get("label")).isEqualTo("the\tlabel");
        assertThat(hold.get("token")).isEqualTo(holder.out().split(":")[2]);
        assertThat(Instant.parse((String) hold.get("since")))
                .isBefore(Instant.now().plusSeconds(5));
        assertThat((Long) hold.get("expiresInMillis")).isBetween(1L, 30_000L);

        Result table = cli.run("ls", "night");
        assertThat(table.code()).isZero();
        List<String> lines = table.out().lines().toList();
        assertThat(lines).hasSize(2);
        assertThat(lines.get(1))
                .contains("testhost (pid " + holder.process().pid() + ")")
                .contains("exclusive");
        assertThat(lines.get(0).indexOf("MODE")).isEqualTo(lines.get(1).indexOf("exclusive"));
        assertThat(table.out()).doesNotContain("\u001b");
        Result none = cli.run("ls", "day");
        assertThat(none.code()).isZero();
        assertThat(none.out()).isEmpty();
        assertThat(none.err()).isEqualTo("no name that begins with 'day' is in use\n");
    }

    @Test
    void inspectsOneName() throws Exception {
        Map<String, Object> lock =
                JsonReader.object(cli.run("inspect", "--json", NAME).out());
        assertThat(lock).containsEntry("name", NAME);
        Result text = cli.run("inspect", NAME);
        assertThat(text.code()).isZero();
        assertThat(text.out()).contains("held by").contains("token").doesNotContain("\u001b");
        Result none = cli.run("inspect", "--json", "other");
        assertThat(none.code()).isEqualTo(1);
        assertThat(none.out()).isEqualTo("null\n");
    }

    @Test
    void checksASequencer() throws Exception {
        String sequencer = holder.out().strip();
        assertThat(cli.run("check", sequencer).code()).isZero();
        assertThat(cli.with("LOCKKEEPER_SEQUENCER", sequencer).run("check").code())
                .isZero();
        Result other = cli.run("check", "--json", "lk1:X:1:other");
        assertThat(other.code()).isEqualTo(1);
        assertThat(JsonReader.object(other.out()))
                .containsEntry("sequencer", "lk1:X:1:other")
                .containsEntry("inForce", false);
        assertThat(cli.run("check").code()).isEqualTo(64);
    }

    @Test
    void breaksOnlyWhatItIsAskedTo() throws Exception {
        Result unasked = cli.run("break", NAME);
        assertThat(unasked.code()).isEqualTo(64);
        assertThat(unasked.err()).contains("--yes");
        assertThat(cli.run("break", NAME, "--yes", "--token", "1").code()).isEqualTo(1);
        assertThat(cli.run("break", "other", "--yes").code()).isEqualTo(1);
        assertThat(cli.run("inspect", NAME).code()).isZero();
        Result broken = cli.run("break", NAME, "--yes", "--json");
        assertThat(broken.code()).isZero();
        assertThat((List<?>) JsonReader.object(broken.out()).get("broken")).hasSize(1);
        assertThat(holder.await().code()).isEqualTo(76);
    }

    @Test
    void watchesWhatChanges() throws Exception {
        Running watch = cli.start("watch", "--json");
        Running people = cli.start("watch", "x");
        watch.says("night");
        assertThat(cli.run(
                                "run",
                                "x",
                                "--",
                                "sh",
                                "-c",
                                "until grep -q '\"x\"' " + watch.outFile() + " && grep -q held " + people.outFile()
                                        + "; do sleep 0.05; done")
                        .code())
                .isZero();
        people.says("free");
        Await.until(() -> watch.out().lines().filter(l -> l.contains("\"x\"")).count() == 2);
        watch.signal("INT");
        people.signal("TERM");
        Result result = watch.await();
        assertThat(result.code()).isEqualTo(130);
        assertThat(people.await().code()).isEqualTo(143);
        assertThat(people.out()).contains("held by testhost (pid").doesNotContain("night");
        result.out().lines().forEach(JsonReader::object);
    }

    @Test
    void helpsAndCompletes() throws Exception {
        for (String command : List.of("run", "acquire", "ls", "inspect", "watch", "break", "check", "ddl")) {
            Result help = cli.run(command, "--help");
            assertThat(help.code()).isZero();
            assertThat(help.out())
                    .contains("Example")
                    .contains("lockkeeper " + command)
                    .contains("--store");
        }
        assertThat(cli.run("--help").out()).contains("Examples:", "run", "break", "Exit codes", "76");
        assertThat(cli.run("version", "--help").out()).contains("Example", "lockkeeper version");
        assertThat(cli.run("release", "--help").out()).contains("Example", "lockkeeper release");
        assertThat(JsonReader.object(cli.run("version", "--json").out())).containsKeys("version", "java");
        assertThat(cli.run("version").out()).startsWith("lockkeeper ").doesNotContain("$");
        Path script = Files.writeString(
                folder.resolve("completion"), cli.run("generate-completion").out());
        assertThat(new ProcessBuilder("bash", "-n", script.toString()).start().waitFor())
                .isZero();
        assertThat(script).content().contains("--permits", "inspect");
        String complete = "source " + script + "; COMP_WORDS=(lockkeeper in); COMP_CWORD=1; _complete_lockkeeper;"
                + " echo ${COMPREPLY[*]}";
        Process bash = new ProcessBuilder("bash", "-c", complete).start();
        assertThat(new String(bash.getInputStream().readAllBytes(), java.nio.charset.StandardCharsets.UTF_8))
                .isEqualTo("inspect\n");
    }

    @Test
    void readsTheStoreFromAFile() throws Exception {
        Path other = Files.writeString(folder.resolve("url"), "file:" + folder.resolve("other.db") + "\nsecond line\n");
        assertThat(cli.run("ls", "--json", "--store", "@" + other).out()).isEqualTo("[]\n");
        assertThat(cli.run("ls", "--json", "--store", "file:" + cli.database()).out())
                .contains("night");
        assertThat(cli.with("LOCKKEEPER_STORE", "@" + other).run("ls", "--json").out())
                .isEqualTo("[]\n");
    }

    @Test
    void aListThatIsCutShortSaysSo() throws Exception {
        Running other = cli.start("run", "other", "--", "sh", "-c", "echo in; exec sleep 600")
                .says("in");
        Result cut = cli.run("ls", "--json", "--limit", "1");
        assertThat(JsonReader.objects(cut.out())).hasSize(1);
        assertThat(cut.err()).contains("only the first 1 names");
        assertThat(JsonReader.objects(cli.run("ls", "--json").out())).hasSize(2);
        other.signal("TERM");
        other.await();
    }

    @Test
    void printsTheTablesOfAStoreWithoutConnecting() throws Exception {
        Result dialect = cli.run("ddl", "--dialect", "postgresql");
        assertThat(dialect.code()).as(dialect.err()).isZero();
        assertThat(dialect.out()).contains("\"lockkeeper_lock\"", "fillfactor", ");\n");
        String url = "jdbc:mariadb://nowhere.invalid/app?password=hunter2&lockkeeper.tablePrefix=app_";
        Result store = cli.run("ddl", "--json", "--store", url);
        assertThat(store.code()).as(store.err()).isZero();
        assertThat(store.out()).startsWith("[\"").contains("`app_lock`").doesNotContain("lockkeeper_", "hunter2");
        assertThat(cli.run("ddl").out()).contains("CREATE TABLE");
        for (String without : List.of("memory:", "redis://nowhere.invalid", "zookeeper://nowhere.invalid")) {
            for (String option : List.of("--json", "--store")) {
                Result none = option.equals("--json")
                        ? cli.with("LOCKKEEPER_STORE", without).run("ddl", option)
                        : cli.run("ddl", option, without);
                assertThat(none.code()).isEqualTo(64);
                assertThat(none.out()).isEmpty();
                assertThat(none.err()).contains("has no tables; only stores with jdbc: or file: URLs have");
            }
        }
        assertThat(cli.run("ddl", "--store", "oracle:x").err())
                .contains("unknown scheme 'oracle'; only stores with jdbc: or file: URLs have tables");
        Result both = cli.run("ddl", "--dialect", "MariaDB", "--store", url);
        assertThat(both.code()).as(both.err()).isZero();
        assertThat(both.out()).contains("`app_lock`").doesNotContain("lockkeeper_");
        for (String contradiction : List.of(url, "file:x.db", "redis://nowhere.invalid/postgresql", "postgresql:x")) {
            Result refused = cli.run("ddl", "--dialect", "PostgreSQL", "--store", contradiction);
            assertThat(refused.code()).isEqualTo(64);
            assertThat(refused.out()).isEmpty();
            assertThat(refused.err())
                    .contains("--dialect is PostgreSQL", "and the store is")
                    .doesNotContain("hunter2");
        }
        Result bad = cli.run(
                "ddl", "--dialect", "postgresql", "--store", "jdbc:postgresql://h/d?lockkeeper.tablePrefix=a;drop");
        assertThat(bad.code()).isEqualTo(64);
        assertThat(bad.out()).isEmpty();
        assertThat(bad.err()).contains("tablePrefix is 'a;drop'");
        Result unknown = cli.run("ddl", "--dialect", "oracle");
        assertThat(unknown.code()).isEqualTo(64);
        assertThat(unknown.err()).contains("oracle", "PostgreSQL");
    }
}
