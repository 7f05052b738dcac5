// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.cli;

import io.lockkeeper.Lease;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** The command that runs under the lock, with our own input and output. */
final class Child {
    /** How long what is left of a tree may go on after the command has been asked to end and has ended. */
    private static final Duration LEFTOVERS = Duration.ofSeconds(5);

    private final Process process;
    private final ProcessTree tree;
    private volatile boolean signalled;

    private Child(Process process, ProcessTree tree) {
        this.process = process;
        this.tree = tree;
    }

    /** Says what a shell would say of a command that it cannot start: before we wait for a lock in vain. */
    static void check(String program) {
        if (program.isEmpty()) {
            throw new Failure(Exit.NO_SUCH_COMMAND, "the command is empty");
        }
        if (program.contains("/")) {
            Path path = Path.of(program);
            if (!Files.exists(path)) {
                throw new Failure(Exit.NO_SUCH_COMMAND, program + ": no such file");
            }
            if (Files.isDirectory(path) || !Files.isExecutable(path)) {
                throw new Failure(
                        Exit.CANNOT_EXECUTE,
                        program + (Files.isDirectory(path) ? ": is a folder" : ": not executable"));
            }
            return;
        }
        String path = System.getenv("PATH");
        boolean there = false;
        for (String folder : (path == null ? "/usr/bin:/bin" : path).split(":", -1)) {
            Path candidate = Path.of(folder.isEmpty() ? "." : folder).resolve(program);
            if (Files.isRegularFile(candidate)) {
                there = true;
                if (Files.isExecutable(candidate)) {
                    return;
                }
            }
        }
        throw there
                ? new Failure(Exit.CANNOT_EXECUTE, program + ": not executable")
                : new Failure(Exit.NO_SUCH_COMMAND, program + ": command not found");
    }

    static Child start(List<String> command, Lease lease, String mark) {
        ProcessBuilder builder = new ProcessBuilder(QuitSignal.unblocked(command)).inheritIO();
        Map<String, String> environment = builder.environment();
        restoreLocale(environment);
        environment.put("LOCKKEEPER_NAME", lease.name());
        environment.put("LOCKKEEPER_TOKEN", Long.toString(lease.token()));
        environment.put("LOCKKEEPER_SEQUENCER", lease.sequencer().toString());
        environment.put(ProcessTree.MARKS, ProcessTree.withMark(environment.get(ProcessTree.MARKS), mark));
        try {
            Process process = builder.start();
            return new Child(process, new ProcessTree(process.toHandle(), mark));
        } catch (IOException e) {
            boolean missing = String.valueOf(e.getMessage()).contains("error=2,");
            throw new Failure(
                    missing ? Exit.NO_SUCH_COMMAND : Exit.CANNOT_EXECUTE,
                    command.get(0) + (missing ? ": no such file" : ": cannot be executed"));
        }
    }

    /** The launcher has given us a locale with UTF-8 where there was none, and says here what LC_ALL was. */
    private static void restoreLocale(Map<String, String> environment) {
        String locale = System.getProperty("lockkeeper.locale");
        if (locale != null && locale.isEmpty()) {
            environment.remove("LC_ALL");
        } else if (locale != null) {
            environment.put("LC_ALL", locale);
        }
    }

    long pid() {
        return process.pid();
    }

    /** Passes a signal on. */
    void signal(String name) {
        signalled = true;
        tree.signal(name);
    }

    void stop(Duration grace) {
        tree.stop(grace);
    }

    /** Waits for the end; what a signal of ours has not ended with it ends now, so that the lock covers all of it. */
    int await() {
        int code;
        for (; ; ) {
            try {
                code = process.waitFor(); // 128 + n when it was ended by signal n
                break;
            } catch (InterruptedException e) {
                // A signal, which has been passed on.
            }
        }
        if (signalled) {
            tree.stop(LEFTOVERS);
        }
        return code;
    }
}
