// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.cli;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * {@code Ctrl-\}. Java keeps QUIT for itself: it is blocked in all that a JVM starts, cannot be handled, and prints all threads
 * (which the launcher turns off). So commands are started with it unblocked, and while there is no command yet, a process of our
 * process group dies of it in our place.
 */
final class QuitSignal {
    static final KernelSignals.Caught CAUGHT = new KernelSignals.Caught("QUIT", 3);

    /** The launcher says which of these programs can unblock a signal here, so that we need not try. */
    private static final String TOOL = System.getProperty("lockkeeper.unblock", "");

    private static final String PERL =
            "sigprocmask(SIG_UNBLOCK, POSIX::SigSet->new(SIGQUIT)); exec {$ARGV[0]} @ARGV or exit($!{ENOENT} ? 127 : 126)";

    private QuitSignal() {}

    /** The same command with QUIT unblocked, where that is possible. */
    static List<String> unblocked(List<String> command) {
        List<String> all = new ArrayList<>();
        if (TOOL.equals("env") || (TOOL.isEmpty() && envCan())) {
            all.addAll(List.of("env", "--default-signal=QUIT"));
            if (command.get(0).contains("=")) {
                all.addAll(List.of("/bin/sh", "-c", "exec \"$@\"", "sh")); // which env would take for a variable
            }
        } else if (TOOL.equals("perl")) {
            all.addAll(List.of("perl", "-MPOSIX", "-e", PERL));
        }
        all.addAll(command);
        return all;
    }

    private static boolean envCan() {
        try {
            return new ProcessBuilder("env", "--default-signal=QUIT", "true")
                            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                            .redirectError(ProcessBuilder.Redirect.DISCARD)
                            .start()
                            .waitFor()
                    == 0;
        } catch (IOException e) {
            return false;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /** Calls {@code action} if the terminal sends QUIT before it is closed. */
    static AutoCloseable listen(Runnable action) throws IOException {
        // Ends with its input, and so with us, however that comes.
        Process ear = new ProcessBuilder(unblocked(List.of("/bin/sh", "-c", "ulimit -c 0; exec cat")))
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        ear.onExit().thenAccept(ended -> {
            if (ended.exitValue() == CAUGHT.exitCode()) {
                action.run();
            }
        });
        return () -> ear.getOutputStream().close();
    }
}
