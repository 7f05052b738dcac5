// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testservers;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/**
 * Ends the children of this JVM with it, and deletes its temporary folder. A shutdown hook does so where the JVM ends in order.
 * For {@code kill -9} there is a shell that reads which processes to end from a pipe: when the JVM has ended, however, the pipe
 * ends too.
 *
 * <p>Linux could send a signal at the parent's death ({@code setpriv --pdeathsig}), but it takes the thread that started the
 * child for the parent: servers started by a pool's thread would die with that thread. And it cannot delete folders.
 */
final class Guardian {
    /** It ignores what a terminal or a build tool sends to the whole process group, for it is needed just then. */
    private static final String SCRIPT = """
            trap '' HUP INT TERM
            began() { # sets when: a number may have become another's meanwhile
                when=
                if read -r line 2>/dev/null <"/proc/$1/stat"; then
                    set -- ${line##*) }
                    when=${20}
                fi
            }
            all=' '
            while read -r verb pid; do
                case $verb in
                    watch)
                        began "$pid"
                        all="$all$pid:$when "
                        ;;
                    forget)
                        case $all in *" $pid:"*)
                            rest=${all#* "$pid":}
                            all="${all%% "$pid":*} ${rest#* }"
                            ;;
                        esac
                        ;;
                esac
            done
            for one in $all; do
                began "${one%%:*}"
                if [ "$when" = "${one#*:}" ]; then kill -KILL "${one%%:*}" 2>/dev/null; fi
            done
            for attempt in 1 2 3 4 5; do rm -rf "$1" && break; sleep 1; done
            """;

    private final Path folder;
    private final OutputStream orders;
    private final Set<ProcessHandle> watched = ConcurrentHashMap.newKeySet();

    private Guardian() throws IOException {
        folder = Files.createTempDirectory("lockkeeper-");
        // a server may run as another user, in its own folder below this one
        Folders.letOthersPass(folder);
        orders = new ProcessBuilder("sh", "-c", SCRIPT, "guardian", folder.toString())
                .redirectOutput(Redirect.DISCARD)
                .redirectError(Redirect.DISCARD)
                .start()
                .getOutputStream();
        Runtime.getRuntime().addShutdownHook(new Thread(this::endAll, "test-servers-end"));
    }

    private static final class Holder {
        static final Guardian INSTANCE = create();

        private static Guardian create() {
            try {
                return new Guardian();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    static Guardian get() {
        return Holder.INSTANCE;
    }

    /** The temporary folder of this JVM. */
    Path folder() {
        return folder;
    }

    /** A new folder below {@link #folder()}. */
    Path newFolder(String name) {
        try {
            return Files.createTempDirectory(folder, name + "-");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Ends the process with the JVM, if it has not ended by then. */
    void watch(Process process) {
        watch(process.toHandle());
        process.onExit().thenRun(() -> forget(process.toHandle()));
    }

    void watch(ProcessHandle process) {
        watched.add(process);
        order("watch " + process.pid());
    }

    /** To be called as soon as a process has ended: its number may become another's. */
    void forget(ProcessHandle process) {
        watched.remove(process);
        order("forget " + process.pid());
    }

    private synchronized void order(String line) {
        try {
            orders.write((line + "\n").getBytes(StandardCharsets.US_ASCII));
            orders.flush();
        } catch (IOException e) {
            throw new IllegalStateException("the guardian has ended: servers would outlive this JVM", e);
        }
    }

    private void endAll() {
        watched.forEach(ProcessHandle::destroyForcibly);
        CompletableFuture<?>[] ends =
                watched.stream().map(ProcessHandle::onExit).toArray(CompletableFuture<?>[]::new);
        // what has not ended by then is left to the guardian
        CompletableFuture.allOf(ends)
                .completeOnTimeout(null, 5, TimeUnit.SECONDS)
                .join();
    }
}
