// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testservers;

import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A server on {@code 127.0.0.1}, with a data folder and a port that outlive its runs: it can be killed and started again.
 * {@link #close()} ends it and deletes its folder. Safe for use by several threads; one thing is done to it at a time.
 */
public abstract class LocalServer implements AutoCloseable {
    /** Servers start within a second or two; a machine with much else to do needs longer. */
    private static final Duration START_LIMIT = Duration.ofSeconds(60);
    /** Each attempt with other ports; that even one is taken is rare. */
    private static final int ATTEMPTS = 5;

    private final Path folder;
    private final Map<String, String> environment;
    private final int portCount;
    private List<Integer> ports = List.of();
    private @Nullable ServerProcess process;
    private int runs;

    /** @param environment what is added to the environment of the server, beyond what the binaries need */
    LocalServer(ServerKind kind, Map<String, String> environment, int portCount) {
        this.environment = new HashMap<>(Binaries.of(kind).environment());
        this.environment.putAll(environment);
        this.folder = Guardian.get().newFolder(kind.name().toLowerCase(Locale.ROOT));
        this.portCount = portCount;
    }

    /** A server whose binaries are not those of a {@link ServerKind}, and need nothing in their environment. */
    LocalServer(String name, int portCount) {
        this.environment = Map.of();
        this.folder = Guardian.get().newFolder(name);
        this.portCount = portCount;
    }

    /** Makes what the server needs before its first run. */
    void prepare() {}

    /** The command line that runs the server in the foreground. */
    abstract List<String> command(List<Integer> ports);

    /** What the server prints when it is ready. */
    abstract String readyText();

    /** The signal that makes the server end in order without waiting for its clients. */
    String stopSignal() {
        return "TERM";
    }

    /** The first start, to be called by the creator of this object; nothing is left behind if it fails. */
    final synchronized void begin() {
        try {
            prepare();
            for (int attempt = 1; ; attempt++) {
                ports = Ports.free(portCount);
                try {
                    run();
                    return;
                } catch (IllegalStateException e) {
                    if (attempt == ATTEMPTS || !log().toLowerCase(Locale.ROOT).contains("address already in use")) {
                        throw e;
                    }
                }
            }
        } catch (RuntimeException e) {
            close();
            throw e;
        }
    }

    /** Runs a program of the server to its end, in the server's environment. */
    final void runTool(List<String> command) {
        Commands.run(START_LIMIT, folder, environment, command);
    }

    final Path folder() {
        return folder;
    }

    private void run() {
        Path log = folder.resolve("log-" + ++runs);
        ServerProcess started = ServerProcess.start(command(ports), environment, folder, log);
        process = started;
        try {
            started.awaitLog(readyText(), START_LIMIT);
        } catch (IllegalStateException e) {
            started.kill();
            throw e;
        }
    }

    /** The host that the server listens on. */
    public final String host() {
        return "127.0.0.1";
    }

    /** The port for clients; it stays the same over {@link #restart()}. */
    public final synchronized int port() {
        return ports.get(0);
    }

    /** Another port of the server. */
    final synchronized int port(int index) {
        return ports.get(index);
    }

    /** {@code host:port}. */
    public final String address() {
        return host() + ":" + port();
    }

    /** Whether the server runs; a paused one does. */
    public final synchronized boolean isAlive() {
        return process != null && process.isAlive();
    }

    /** What the server has printed in this run. */
    public final synchronized String log() {
        return current().log();
    }

    /** The process number of this run. */
    public final synchronized long pid() {
        return current().pid();
    }

    /** {@code kill -9} of the server and its children: returns when they have ended. */
    public final synchronized void kill() {
        current().kill();
    }

    /** {@code SIGSTOP}: the server keeps its connections and answers nothing, until {@link #resume()}. */
    public final synchronized void pause() {
        current().pause();
    }

    /** {@code SIGCONT}: ends a {@link #pause()}. */
    public final synchronized void resume() {
        current().resume();
    }

    /** Ends the server in order: returns when it has ended. */
    public final synchronized void stop() {
        current().stop(stopSignal());
    }

    /** Starts the server with the same data on the same port, after {@link #stop()} if it runs: returns when it is ready. */
    public final synchronized void restart() {
        stop();
        run();
    }

    /** Kills the server and deletes its data. */
    @Override
    public final synchronized void close() {
        if (process != null) {
            process.kill();
        }
        Folders.delete(folder);
    }

    private ServerProcess current() {
        if (process == null) {
            throw new IllegalStateException("the server has not been started");
        }
        return process;
    }
}
