// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testservers;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Where a server's executables are. They are looked for once in a JVM, and the answer is printed: at the place that the
 * environment variable of the {@link ServerKind} names, on the {@code PATH} and in the usual places, in Debian packages
 * unpacked into a cache folder.
 *
 * <p>An environment variable that is set but wrong is an error, not a reason to look elsewhere: setting it means that this server is wanted.
 */
public final class Binaries {
    private static final Map<ServerKind, Answer> ANSWERS = new EnumMap<>(ServerKind.class);

    private final Place place;
    private final String version;

    private Binaries(Place place, String version) {
        this.place = place;
        this.version = version;
    }

    /**
     * The binaries of a server; the first call may download packages.
     *
     * @throws MissingServerException if there are none, or they do not run
     */
    public static Binaries of(ServerKind kind) {
        synchronized (ANSWERS) {
            return ANSWERS.computeIfAbsent(kind, Binaries::look).orThrow();
        }
    }

    /** The path of an executable. */
    public Path executable(String name) {
        return place.executable(name)
                .orElseThrow(
                        () -> new MissingServerException("no " + name + " beside the server found " + place.how()));
    }

    /** What must be added to the environment of the executables. */
    public Map<String, String> environment() {
        return place.environment();
    }

    /** The first line of what the server prints for {@code --version}. */
    public String version() {
        return version;
    }

    private static Answer look(ServerKind kind) {
        Answer answer;
        try {
            answer = new Answer(search(kind), null);
        } catch (MissingServerException e) {
            answer = new Answer(null, e);
        }
        System.out.println("[test-servers] " + kind + ": " + answer);
        return answer;
    }

    private static Binaries search(ServerKind kind) {
        String named = System.getenv(kind.variable());
        if (named != null && !named.isBlank()) {
            return tried(
                    kind,
                    Place.named(kind, Path.of(named), kind.variable())
                            .orElseThrow(() -> new MissingServerException(
                                    kind.variable() + "=" + named + " has not all of " + kind.executables())));
        }
        Optional<Place> local = Place.onThisMachine(kind);
        return tried(kind, local.isPresent() ? local.get() : DebianPackages.fetch(kind));
    }

    /** Runs the server with {@code --version}: a missing library shows now, with a clear message. */
    private static Binaries tried(ServerKind kind, Place place) {
        String server = kind.executables().get(0);
        Path file = place.executable(server).orElseThrow();
        try {
            String output =
                    Commands.run(Duration.ofSeconds(30), place.environment(), List.of(file.toString(), "--version"));
            return new Binaries(place, output.lines().findFirst().orElse("unknown version"));
        } catch (IllegalStateException e) {
            throw new MissingServerException(server + ", found " + place.how() + ", does not run", e);
        }
    }

    /** A cached answer: also that a server is missing, which takes seconds to find out. */
    private record Answer(
            @Nullable Binaries found, @Nullable MissingServerException missing) {
        Binaries orThrow() {
            if (found != null) {
                return found;
            }
            // a new one, with the stack of this caller
            MissingServerException first = Objects.requireNonNull(missing);
            throw new MissingServerException(String.valueOf(first.getMessage()), first);
        }

        @Override
        public String toString() {
            return found != null ? found.version + ", found " + found.place.how() : "MISSING: " + missing;
        }
    }

    /** Whether a file can be run, following links. */
    static boolean runnable(Path file) {
        return Files.isRegularFile(file) && Files.isExecutable(file);
    }
}
