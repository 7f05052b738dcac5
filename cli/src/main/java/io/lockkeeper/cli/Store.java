// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.cli;

import io.lockkeeper.KeeperListener;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.spi.StoreUrl;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options of all commands, and the store that they lead to. */
final class Store {
    @Option(
            names = "--store",
            paramLabel = "URL|@FILE",
            description =
                    "Where the locks are; @FILE is a file with the URL in its first line. Default: $LOCKKEEPER_STORE,"
                            + " otherwise a file in your state directory.")
    private @Nullable String store;

    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            description = "Show this help.")
    @SuppressWarnings("UnusedVariable") // picocli sees to it
    private boolean help;

    private static final Pattern SCHEME = Pattern.compile("[A-Za-z][A-Za-z0-9+.-]*:");

    /** A command is in less of a hurry than a server: a machine that starts twenty of us at once is slow for a while. */
    private static final Duration STEP = Duration.ofSeconds(5);

    Lockkeeper open() {
        return open(null);
    }

    Lockkeeper open(@Nullable KeeperListener listener) {
        String url = url();
        Secrets.learn(url);
        refuseMemory(url);
        Lockkeeper.Builder builder = Lockkeeper.builder(url).clientName(clientName());
        if (!url.contains("operationTimeout=")) {
            builder.operationTimeout(STEP);
        }
        // With any listener, outages are not logged: commands say themselves what they wait for, and why they fail.
        return builder.listener(listener == null ? new KeeperListener() {} : listener)
                .build();
    }

    /** Each command is a separate process: a store in its own memory would keep nobody out. */
    private static void refuseMemory(String url) {
        for (String begin : List.of("memory:", "jdbc:h2:mem:")) {
            if (url.regionMatches(true, 0, begin, 0, begin.length())) {
                throw new Failure(
                        Exit.USAGE,
                        "a " + begin + " store is seen by one process only, and each lockkeeper is a process: it would"
                                + " lock nothing; leave out --store and LOCKKEEPER_STORE to use a file, or give the URL of a"
                                + " server");
            }
        }
    }

    /** Whether it was asked for in the command itself, not as a default. */
    boolean isGiven() {
        return store != null;
    }

    /** The URL, taken apart. */
    StoreUrl parsed() {
        return StoreUrl.parse(url());
    }

    /** The URL; may hold a secret. */
    private String url() {
        String url = given();
        if (!SCHEME.matcher(url).lookingAt()) {
            throw new Failure(
                    Exit.USAGE,
                    source(url) + "; a store's URL begins with its scheme, as in file:/var/lib/app/locks.db,"
                            + " redis://HOST or jdbc:postgresql://HOST/DATABASE");
        }
        return url;
    }

    /** Where what is no URL was given; shown only if everybody could see it anyway, and if it is not part of a login. */
    private String source(String url) {
        String shown = StoreUrl.shown(url);
        if (store == null) {
            return "what LOCKKEEPER_STORE leads to is not a store's URL";
        }
        return store.startsWith("@") || !shown.equals(url)
                ? "what --store leads to is not a store's URL"
                : "--store is '" + shown + "'";
    }

    private String given() {
        String given = store;
        if (given != null && given.isBlank()) {
            // As from "$STORE" where that is not set: the default would lock on this host alone, and nobody would
            // notice.
            throw new Failure(
                    Exit.USAGE,
                    "--store is empty; give a URL, or leave it out to use LOCKKEEPER_STORE or, without that, a file");
        }
        if (given == null) {
            given = System.getenv("LOCKKEEPER_STORE");
        }
        if (given == null || given.isEmpty()) {
            return "file:" + stateFile().toString().replace("%", "%25");
        }
        return given.startsWith("@") ? read(given.substring(1)) : given;
    }

    private static String read(String file) {
        try {
            List<String> lines = Files.readAllLines(Path.of(file));
            if (lines.isEmpty() || lines.get(0).isBlank()) {
                throw new Failure(
                        Exit.USAGE, "the first line of " + file + " is empty; it should be the URL of the store");
            }
            return lines.get(0).strip();
        } catch (CharacterCodingException e) {
            throw new Failure(Exit.USAGE, file + " is not a text file");
        } catch (IOException e) {
            throw new Failure(
                    Exit.USAGE, "cannot read " + file + ", which should have the URL of the store in its first line");
        }
    }

    private static Path stateFile() {
        String state = System.getenv("XDG_STATE_HOME");
        String home = System.getenv("HOME");
        if (state != null && state.startsWith("/")) {
            return Path.of(state, "lockkeeper", "locks.db");
        }
        if (home == null || home.isEmpty()) {
            home = System.getProperty("user.home"); // a question mark for a user without an entry
        }
        if (home == null || !home.startsWith("/")) {
            // A relative one would be another file in each folder, and exclude nobody.
            throw new Failure(
                    Exit.UNAVAILABLE,
                    "there is no home directory to keep locks in: set XDG_STATE_HOME, or use --store");
        }
        return Path.of(home, ".local", "state", "lockkeeper", "locks.db");
    }

    /** Asking the resolver for our own name can take seconds; the launcher's shell knows it. */
    private static String clientName() {
        String host = System.getProperty("lockkeeper.host", "");
        return (host.isBlank() || host.length() > 150 ? "localhost" : host) + ":"
                + ProcessHandle.current().pid();
    }
}
