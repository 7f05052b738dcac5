// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.cli;

import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/**
 * {@code lockkeeper acquire}: starts the {@link Holder} in the background, waits for its answer and passes it on to the shell.
 * A failure is reported on standard error, in the exit code, and in what is printed: {@code eval} has that exit code, too.
 */
@Command(
        name = Acquire.NAME,
        customSynopsis = {
            "eval \"$(lockkeeper acquire NAME [--wait DURATION] [--lease DURATION] [--shared | --permits K/N]",
            "                    [--label TEXT] [--on-lost term|kill|none] [--store URL|@FILE])\" || exit"
        },
        description = {
            "Acquire a lock for the rest of a shell script, or until lockkeeper release.",
            "",
            "A process in the background holds the lock. It ends with the shell, however that ends. The script finds"
                    + " LOCKKEEPER_NAME, LOCKKEEPER_TOKEN and LOCKKEEPER_SEQUENCER in its environment, those of the latest"
                    + " lock. If the lock is lost, the script and all that it has started get TERM."
        },
        footer = {
            "",
            "Examples:",
            "  eval \"$(lockkeeper acquire nightly --wait 10s)\" || exit   exit code 75 if it is busy",
            "  ./report.sh",
            "  lockkeeper release                                        or at the end of the script",
            "",
            "  lock=$(lockkeeper acquire nightly) || exit    also where lockkeeper itself may be missing",
            "  eval \"$lock\" || exit"
        })
final class Acquire implements Callable<Integer> {
    /** As the launcher starts us, in less memory. */
    private static final List<String> FLAGS = List.of(
            "-Xshare:auto",
            "-Xlog:disable",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-XX:-UsePerfData",
            "-Xmx64m",
            "-Dfile.encoding=UTF-8",
            "-XX:+UnlockDiagnosticVMOptions",
            "-XX:-DisplayVMOutput");

    static final String NAME = "acquire";

    /** How often we look whether the holder has said something, where we pass it on. */
    private static final long LOOK_EVERY = 10_000_000;

    @Mixin
    private HoldArguments arguments = new HoldArguments();

    // Guarded by this.
    private @Nullable Process holder;
    private KernelSignals.@Nullable Caught pending;

    /** What the holder says, if it does not say it itself. */
    private @Nullable InputStream errors;

    @Override
    public Integer call() throws IOException {
        arguments.check();
        return acquire();
    }

    /** What makes {@code eval} fail with this code, and with it the script; for programs, nothing. */
    static String refusal(List<String> arguments, int code) {
        return arguments.contains("--json") ? "" : "(exit " + code + ")\n";
    }

    private int acquire() throws IOException {
        KernelSignals.onEach(this::received);
        HoldFolder folder = HoldFolder.create();
        Process started;
        synchronized (this) {
            if (pending != null) {
                folder.delete();
                return pending.exitCode();
            }
            started = start(folder);
            holder = started;
        }
        String text;
        try (AutoCloseable quit = listenForQuit()) {
            text = answer(started);
        } catch (IOException e) {
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
        if (!text.isEmpty()) {
            Terminal.OUT.print(text);
            return Exit.OK;
        }
        int code = await(started);
        folder.delete(); // if it was killed
        synchronized (this) {
            return pending == null ? code : pending.exitCode();
        }
    }

    /** What the holder prints; empty if it has failed. What it says until then is passed on. */
    private String answer(Process started) throws IOException {
        InputStream said = errors;
        if (said == null) {
            return read(started.getInputStream());
        }
        CompletableFuture<String> answer = new CompletableFuture<>();
        Thread reader = new Thread(
                () -> {
                    try {
                        answer.complete(read(started.getInputStream()));
                    } catch (IOException e) {
                        answer.completeExceptionally(e);
                    }
                },
                "answer");
        reader.setDaemon(true);
        reader.start();
        while (!answer.isDone()) {
            Terminal.ERR.print(read(said));
            LockSupport.parkNanos(LOOK_EVERY);
        }
        Terminal.ERR.print(read(said));
        return answer.join();
    }

    private static String read(InputStream in) throws IOException {
        return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }

    /** Its standard error is a file without a name, so that it keeps nothing open that is not its own. */
    private Process startApart(ProcessBuilder builder, HoldFolder folder) throws IOException {
        Path file = Files.createFile(folder.path().resolve("errors"));
        try {
            errors = new FileInputStream(file.toFile());
            return builder.redirectError(file.toFile()).start();
        } finally {
            Files.delete(file);
        }
    }

    /**
     * Whether standard output and standard error are the same pipe or file, as in {@code out=$(lockkeeper acquire x 2>&1)}: a
     * reader of the whole answer would wait for the end of a holder that keeps the other one open.
     */
    private static boolean outputHasErrors() {
        try {
            Path out = Files.readSymbolicLink(Path.of("/proc/self/fd/1"));
            return out.equals(Files.readSymbolicLink(Path.of("/proc/self/fd/2"))) && !out.startsWith("/dev");
        } catch (IOException e) {
            return false; // not Linux
        }
    }

    private AutoCloseable listenForQuit() throws IOException {
        return Terminal.ERR.isTerminal() ? QuitSignal.listen(() -> received(QuitSignal.CAUGHT)) : () -> {};
    }

    /** Before the answer it ends the wait. */
    private synchronized void received(KernelSignals.Caught signal) {
        if (pending == null) {
            pending = signal;
        }
        if (holder != null) {
            holder.destroy();
        }
    }

    private static int await(Process process) {
        for (; ; ) {
            try {
                return process.waitFor();
            } catch (InterruptedException e) {
                // It ends in any case.
            }
        }
    }

    private static String environment(String variable) {
        return Objects.toString(System.getenv(variable), "");
    }

    /** With its own session, so that what a terminal sends to the script does not concern it. */
    private Process start(HoldFolder folder) throws IOException {
        List<String> command = new ArrayList<>(Guardian.ownSession());
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(FLAGS);
        String archive = System.getProperty("lockkeeper.archive");
        if (archive != null && Files.exists(Path.of(archive))) {
            command.add("-XX:SharedArchiveFile=" + archive);
        }
        for (Map.Entry<Object, Object> property : System.getProperties().entrySet()) {
            String name = Objects.toString(property.getKey());
            if (name.startsWith("lockkeeper.") || name.equals("org.sqlite.lib.path")) {
                command.add("-D" + name + "=" + property.getValue());
            }
        }
        command.add("-Dlockkeeper.hold=" + folder.path());
        command.add("-D" + ShellText.BEFORE + HoldFolder.VARIABLE + "=" + environment(HoldFolder.VARIABLE));
        command.add("-D" + ShellText.BEFORE + ProcessTree.MARKS + "=" + environment(ProcessTree.MARKS));
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), Main.class.getName(), Holder.NAME));
        command.addAll(Main.arguments().subList(1, Main.arguments().size()));
        ProcessBuilder builder = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT);
        // Without the marks of what we ourselves run below: it ends with its shell, and not before.
        builder.environment().keySet().removeAll(List.of(HoldFolder.VARIABLE, ProcessTree.MARKS));
        try {
            return outputHasErrors() ? startApart(builder, folder) : builder.start();
        } catch (IOException e) {
            folder.delete();
            throw new Failure(
                    Exit.SYSTEM,
                    "a process that would hold the lock cannot be started (" + e.getMessage()
                            + "); are you allowed another one (ulimit -u)?");
        }
    }
}
