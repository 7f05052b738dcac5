// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.cli;

import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Runs the real command in separate processes, with its own state directory. */
final class Cli {
    /** What a failed test leaves running ends with its JVM. */
    private static final Set<ProcessHandle> STARTED = ConcurrentHashMap.newKeySet();

    static {
        Runtime.getRuntime().addShutdownHook(new Thread(Cli::endAll));
    }

    private final Path folder;
    private final Map<String, @Nullable String> environment = new HashMap<>(); // null: not to be there

    Cli(Path folder) {
        this.folder = folder;
        environment.put("XDG_STATE_HOME", folder.resolve("state").toString());
    }

    Path database() {
        return folder.resolve("state/lockkeeper/locks.db");
    }

    /** The same without a variable. */
    Cli without(String variable) {
        Cli other = with(variable, "");
        other.environment.put(variable, null);
        return other;
    }

    /** The same with another variable in its environment. */
    Cli with(String variable, String value) {
        Cli other = new Cli(folder);
        other.environment.putAll(environment);
        other.environment.put(variable, value);
        return other;
    }

    Result run(String... arguments) throws IOException, InterruptedException {
        return start(arguments).await();
    }

    Running start(String... arguments) throws IOException {
        return start(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()), arguments);
    }

    Running start(ProcessBuilder.Redirect input, String... arguments) throws IOException {
        List<String> command = java();
        command.addAll(List.of(arguments));
        return launch(input, command);
    }

    /** A script for this shell, in which {@code lockkeeper} is the real command. */
    Running startShell(String shell, String script) throws IOException {
        Path tools = Files.createDirectories(folder.resolve("tools"));
        Path command = tools.resolve("lockkeeper");
        String quoted = java().stream().map(word -> "'" + word + "'").collect(Collectors.joining(" "));
        Files.writeString(command, "#!/bin/sh\nexec " + quoted + " \"$@\"\n");
        if (!command.toFile().setExecutable(true)) {
            throw new IOException("cannot make " + command + " executable");
        }
        Path file = Files.writeString(folder.resolve("script-" + UUID.randomUUID()), script);
        return with("PATH", tools + ":" + System.getenv("PATH"))
                .launch(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()), List.of(shell, file.toString()));
    }

    private static List<String> java() {
        return new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-Xmx128m",
                "-Dfile.encoding=UTF-8",
                "-Dlockkeeper.host=testhost",
                "-cp",
                System.getProperty("java.class.path"),
                "io.lockkeeper.cli.Main"));
    }

    private Running launch(ProcessBuilder.Redirect input, List<String> command) throws IOException {
        String id = UUID.randomUUID().toString();
        Path out = folder.resolve(id + ".out");
        Path err = folder.resolve(id + ".err");
        ProcessBuilder builder = new ProcessBuilder(command)
                .directory(folder.toFile())
                .redirectInput(input)
                .redirectOutput(out.toFile())
                .redirectError(err.toFile());
        builder.environment().remove("LOCKKEEPER_STORE");
        builder.environment().remove("JAVA_TOOL_OPTIONS");
        environment.forEach((variable, value) -> {
            if (value == null) {
                builder.environment().remove(variable);
            } else {
                builder.environment().put(variable, value);
            }
        });
        Process process = builder.start();
        STARTED.add(process.toHandle());
        return new Running(process, out, err);
    }

    private static void endAll() {
        for (ProcessHandle process : STARTED) {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
        }
    }

    /** How a command ended. */
    record Result(int code, String out, String err) {}

    /** A command that has been started. */
    record Running(Process process, Path outFile, Path errFile) {
        Result await() throws IOException, InterruptedException {
            if (!process.waitFor(60, TimeUnit.SECONDS)) {
                process.destroyForcibly();
                throw new AssertionError("the command did not end; it said: " + out() + err());
            }
            return new Result(process.exitValue(), out(), err());
        }

        String out() throws IOException {
            return Files.readString(outFile, StandardCharsets.UTF_8);
        }

        String err() throws IOException {
            return Files.readString(errFile, StandardCharsets.UTF_8);
        }

        /** Waits until it has said so. */
        Running says(String text) {
            Await.until(() -> {
                boolean ended = !process.isAlive(); // looked at first: what it says, it says before
                if (out().contains(text)) {
                    return true;
                }
                if (ended) {
                    throw new AssertionError("the command ended with " + process.exitValue() + " and had not said '"
                            + text + "': " + out() + err());
                }
                return false;
            });
            return this;
        }

        void signal(String name) throws IOException, InterruptedException {
            int code = new ProcessBuilder("/bin/sh", "-c", "kill -s " + name + " " + process.pid())
                    .start()
                    .waitFor();
            if (code != 0) {
                throw new AssertionError("kill failed");
            }
        }
    }

    /** Conditions, with more patience than a busy machine needs. */
    static final class Await {
        private Await() {}

        static void until(java.util.concurrent.Callable<Boolean> condition) {
            await().pollInterval(20, TimeUnit.MILLISECONDS)
                    .atMost(60, TimeUnit.SECONDS)
                    .until(condition);
        }
    }
}
