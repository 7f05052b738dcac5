// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testservers;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Fetches a server as Debian packages and unpacks them into a cache folder. That needs no root, runs no script of a package,
 * starts nothing and changes nothing else on the machine.
 *
 * <p>The cache is {@code $LOCKKEEPER_SERVER_CACHE}, otherwise {@code lockkeeper/servers} below {@code $XDG_CACHE_HOME} or
 * {@code ~/.cache}. Two JVMs do not get into each other's way: a file lock is held while unpacking, and a folder appears under
 * its final name only when it is complete.
 *
 * <p>Which packages are missing beside the server's own, apt itself says in a simulated installation: the names differ between
 * releases ({@code libaio1}, {@code libaio1t64}), and what is already installed need not be fetched.
 */
final class DebianPackages {
    /** For one call of apt or dpkg: tens of megabytes over a slow line. */
    private static final Duration LIMIT = Duration.ofMinutes(5);

    private DebianPackages() {}

    /** @throws MissingServerException if this machine has no apt, or apt has not these packages */
    static Place fetch(ServerKind kind) {
        Path cache = cache();
        try {
            Files.createDirectories(cache);
            try (FileChannel channel = FileChannel.open(
                            cache.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                    FileLock lock = channel.lock()) {
                Path root = cache.resolve(kind.executables().get(0) + "-" + System.getProperty("os.arch"));
                if (!Files.isDirectory(root)) {
                    unpack(kind, cache, root);
                }
                return Place.unpacked(kind, root)
                        .orElseThrow(() -> new MissingServerException(
                                root + " has not all of " + kind.executables() + "; delete it to fetch it again"));
            }
        } catch (IOException e) {
            throw new MissingServerException("cannot use the cache folder " + cache, e);
        }
    }

    static Path cache() {
        String own = System.getenv("LOCKKEEPER_SERVER_CACHE");
        if (own != null && !own.isBlank()) {
            return Path.of(own).toAbsolutePath();
        }
        String user = System.getenv("XDG_CACHE_HOME");
        Path base =
                user != null && !user.isBlank() ? Path.of(user) : Path.of(System.getProperty("user.home"), ".cache");
        return base.resolve("lockkeeper").resolve("servers").toAbsolutePath();
    }

    private static void unpack(ServerKind kind, Path cache, Path root) throws IOException {
        if (!Binaries.runnable(Path.of("/usr/bin/apt-get")) || !Binaries.runnable(Path.of("/usr/bin/dpkg"))) {
            throw new MissingServerException("no " + kind.executables() + " on this machine, and no apt-get to fetch "
                    + kind.packages() + " with; install it, or set " + kind.variable());
        }
        System.out.println("[test-servers] " + kind + ": fetching " + kind.packages() + " into " + root);
        try (DirectoryStream<Path> abandoned = Files.newDirectoryStream(cache, "unpacking*")) {
            // by a JVM that was killed: the others wait for the lock
            abandoned.forEach(Folders::delete);
        }
        Path work = Files.createTempDirectory(cache, "unpacking");
        try {
            // the server may run as another user than the one who unpacks
            Folders.letOthersPass(work);
            Path unpacked = Files.createDirectory(work.resolve("root"));
            apt(work, "download", needed(kind));
            try (DirectoryStream<Path> files = Files.newDirectoryStream(work, "*.deb")) {
                for (Path file : files) {
                    Commands.run(LIMIT, Map.of(), List.of("dpkg", "-x", file.toString(), unpacked.toString()));
                }
            }
            Files.move(unpacked, root, StandardCopyOption.ATOMIC_MOVE);
        } catch (IllegalStateException e) {
            throw new MissingServerException(
                    "no " + kind.executables() + " on this machine, and apt-get did not bring " + kind.packages()
                            + "; install it, or set " + kind.variable(),
                    e);
        } finally {
            Folders.delete(work);
        }
    }

    /** The server's packages and those that they need and this machine has not. */
    private static List<String> needed(ServerKind kind) {
        String plan;
        try {
            plan = simulate(kind);
        } catch (IllegalStateException e) {
            if (!Folders.runByRoot()) {
                throw e;
            }
            // a fresh container has no package lists
            apt(Path.of("/"), "update", List.of());
            plan = simulate(kind);
        }
        Set<String> names = new LinkedHashSet<>(kind.packages());
        plan.lines()
                .map(line -> line.split(" "))
                // "Inst name [old] (new …)" is an upgrade; a newer libc next to the old loader would break everything
                .filter(words -> words.length > 2 && words[0].equals("Inst") && !words[2].startsWith("["))
                .forEach(words -> names.add(words[1]));
        return List.copyOf(names);
    }

    private static String simulate(ServerKind kind) {
        List<String> options = new ArrayList<>(List.of("--simulate", "--no-install-recommends"));
        options.addAll(kind.packages());
        return apt(Path.of("/"), "install", options);
    }

    private static String apt(Path folder, String verb, List<String> arguments) {
        List<String> command = new ArrayList<>(List.of("apt-get", "-qq", verb));
        command.addAll(arguments);
        return Commands.run(LIMIT, folder, Map.of("LC_ALL", "C"), command);
    }
}
