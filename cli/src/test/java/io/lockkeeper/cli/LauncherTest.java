// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The script {@code ./lockkeeper} in a clone of its own, with a stand-in for Maven that counts how often it is called. */
class LauncherTest {
    @TempDir
    Path folder;

    private Path clone;

    @BeforeEach
    void makeClone() throws Exception {
        clone = Files.createDirectories(folder.resolve("a clone"));
        for (String module : List.of("core", "cli", "stores/sql")) {
            Files.createDirectories(clone.resolve(module).resolve("src/main"));
            Files.createFile(clone.resolve(module).resolve("pom.xml"));
        }
        Files.createFile(clone.resolve("pom.xml"));
        Path script = Files.copy(Path.of("..", "lockkeeper"), clone.resolve("lockkeeper"));
        assertThat(script.toFile().setExecutable(true)).isTrue();
        Path built = Files.createDirectories(folder.resolve("built"));
        int n = 0;
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
            Path path = Path.of(entry);
            n++;
            if (Files.isDirectory(path)) {
                jar(path, built.resolve(n + ".jar"));
            } else if (entry.endsWith(".jar") && Files.exists(path)) {
                Files.copy(path, built.resolve(n + ".jar"));
            }
        }
        Path tools = Files.createDirectories(folder.resolve("tools"));
        Path maven = Files.writeString(
                tools.resolve("mvn"),
                "#!/bin/sh\necho called >>'" + folder + "/calls'\ntest -e '" + folder
                        + "/broken' && { echo no; exit 1; }\n"
                        + "mkdir -p cli/target/lib\ncp '" + built + "'/*.jar cli/target/lib\n"
                        + "cp \"$(ls cli/target/lib/*.jar | head -n 1)\" cli/target/lockkeeper-cli-0.jar\n");
        assertThat(maven.toFile().setExecutable(true)).isTrue();
    }

    private static void jar(Path classes, Path jar) throws IOException {
        try (OutputStream out = Files.newOutputStream(jar);
                ZipOutputStream zip = new ZipOutputStream(out);
                Stream<Path> all = Files.walk(classes)) {
            zip.setLevel(0);
            for (Path file : all.filter(Files::isRegularFile).toList()) {
                zip.putNextEntry(new ZipEntry(classes.relativize(file).toString()));
                Files.copy(file, zip);
            }
        }
    }

    private Process start(Path script, Path from, String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of(script.toString()));
        command.addAll(List.of(arguments));
        ProcessBuilder builder =
                new ProcessBuilder(command).directory(from.toFile()).redirectErrorStream(true);
        builder.environment().put("PATH", folder.resolve("tools") + ":" + System.getenv("PATH"));
        builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
        builder.environment().put("XDG_STATE_HOME", folder.resolve("state").toString());
        builder.environment().remove("LOCKKEEPER_STORE");
        return builder.start();
    }

    private static String ended(Process process, int code) throws Exception {
        String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(120, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).as(text).isEqualTo(code);
        return text;
    }

    private long builds() throws IOException {
        return Files.readAllLines(folder.resolve("calls")).size();
    }

    @Test
    void buildsOnceForAllWhoComeAndAgainOnlyAfterAChange() throws Exception {
        Path elsewhere = Files.createDirectories(folder.resolve("else where"));
        Path absolute = Files.createSymbolicLink(elsewhere.resolve("lk"), clone.resolve("lockkeeper"));
        Path relative = Files.createSymbolicLink(elsewhere.resolve("lk2"), Path.of("lk"));
        List<Process> all = List.of(
                start(Path.of("./lockkeeper"), clone, "run", "x", "--", "pwd"),
                start(absolute, elsewhere, "run", "x", "--", "pwd"),
                start(Path.of("./lk2"), elsewhere, "run", "x", "--", "pwd"));
        assertThat(relative).exists();
        assertThat(ended(all.get(0), 0)).isEqualTo(clone.toRealPath() + "\n");
        assertThat(ended(all.get(1), 0)).isEqualTo(elsewhere.toRealPath() + "\n");
        assertThat(ended(all.get(2), 0)).isEqualTo(elsewhere.toRealPath() + "\n");
        assertThat(builds()).isEqualTo(1);
        assertThat(clone.resolve("cli/target/launcher/current/classes.jsa")).exists();
        assertThat(clone.resolve("cli/target/launcher/current/native")).isNotEmptyDirectory();

        assertThat(ended(start(absolute, folder, "version"), 0)).startsWith("lockkeeper ");
        assertThat(ended(start(absolute, folder, "inspect", "x"), 1)).contains("nobody");
        assertThat(builds()).isEqualTo(1);

        Path source = Files.createFile(clone.resolve("core/src/main/New.java"));
        Files.setLastModifiedTime(source, FileTime.from(Instant.now().plusSeconds(2)));
        Files.createFile(folder.resolve("broken"));
        assertThat(ended(start(absolute, folder, "version"), 69)).contains("the build failed", "build.log");
        assertThat(builds()).isEqualTo(2);
        Files.delete(folder.resolve("broken"));
        Files.setLastModifiedTime(source, FileTime.from(Instant.now()));
        assertThat(ended(start(absolute, folder, "version"), 0)).startsWith("lockkeeper ");
        assertThat(builds()).isEqualTo(3);
    }
}
