// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

/** A clone with the script {@code ./lockkeeper}, and a stand-in for Maven that counts how often it is called. */
final class Clone {
    /**
     * Fails while there is a file {@code broken}; while there is one {@code slow} it writes its pid to {@code mvn} and
     * does not end.
     */
    private static final String MAVEN = """
            #!/bin/sh
            echo called >>'FOLDER/calls'
            test -e 'FOLDER/broken' && { echo no; exit 1; }
            test -e 'FOLDER/slow' && { echo $$ >'FOLDER/mvn'; exec sleep 600; }
            mkdir -p cli/target/lib
            cp 'FOLDER/built'/*.jar cli/target/lib
            cp "$(ls cli/target/lib/*.jar | head -n 1)" cli/target/lockkeeper-cli-0.jar
            """;

    private final Path folder;
    private final Path root;

    Clone(Path folder) throws IOException {
        this.folder = folder;
        this.root = Files.createDirectories(folder.resolve("a clone"));
        for (String module : List.of("core", "cli", "stores/sql")) {
            Files.createDirectories(root.resolve(module).resolve("src/main"));
            Files.createFile(root.resolve(module).resolve("pom.xml"));
        }
        Files.createFile(root.resolve("pom.xml"));
        executable(Files.copy(Path.of("..", "lockkeeper"), script()));
        Path builder = Path.of("src/launcher/clone.sh");
        Path copy = root.resolve("cli").resolve(builder);
        Files.createDirectories(copy.getParent());
        Files.copy(builder, copy);
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
        executable(Files.writeString(tools.resolve("mvn"), MAVEN.replace("FOLDER", folder.toString())));
    }

    private static void executable(Path file) {
        assertThat(file.toFile().setExecutable(true)).isTrue();
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

    Path root() {
        return root;
    }

    Path script() {
        return root.resolve("lockkeeper");
    }

    /** Where builds are; {@code current} leads to the one in use. */
    Path builds() {
        return root.resolve("cli/target/launcher");
    }

    /** How often Maven was called. */
    long calls() throws IOException {
        return Files.readAllLines(folder.resolve("calls")).size();
    }

    /** A process that uses this clone's Maven, and has its own input, output and state. */
    ProcessBuilder prepare(Path from, String... command) {
        ProcessBuilder builder =
                new ProcessBuilder(command).directory(from.toFile()).redirectErrorStream(true);
        builder.environment().put("PATH", folder.resolve("tools") + ":" + System.getenv("PATH"));
        builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
        builder.environment().put("XDG_STATE_HOME", folder.resolve("state").toString());
        builder.environment().remove("LOCKKEEPER_STORE");
        return builder;
    }

    /** The script, by whatever path. */
    Process start(Path script, Path from, String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of(script.toString()));
        command.addAll(List.of(arguments));
        return prepare(from, command.toArray(String[]::new)).start();
    }

    /** All that it has said when it has ended with this code. */
    static String ended(Process process, int code) throws Exception {
        String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(120, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).as(text).isEqualTo(code);
        return text;
    }

    static void signal(String name, long pid) throws Exception {
        assertThat(new ProcessBuilder("/bin/sh", "-c", "kill -s " + name + " " + pid)
                        .start()
                        .waitFor())
                .isZero();
    }
}
