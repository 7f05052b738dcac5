// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testservers;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A server in the version of another Debian suite, such as Redis 8 of {@code trixie}: its package and all libraries that it
 * needs, its libc included, unpacked into the cache folder of {@link DebianPackages}, where they are found next time. That needs
 * no root, runs no script of a package, and installs nothing. Packages come from the mirror of the machine's own apt settings,
 * and are checked with Debian's keys.
 *
 * <pre>{@code
 * DebianRelease mysql = DebianRelease.of("sid", "mysql-server-core");
 * mysql.command("usr/sbin/mysqld")       // the beginning of a command line
 * }</pre>
 */
public final class DebianRelease {
    private static final Duration LIMIT = Duration.ofMinutes(10);
    private static final String KEYS = "/usr/share/keyrings/debian-archive-keyring.gpg";

    /** Lines of {@code sources.list} and of {@code *.sources}. */
    private static final Pattern MIRROR = Pattern.compile("^(?:URIs:|deb(?: \\[[^]]*])?) *(https?://\\S+).*");

    /** What a server needs to run: libraries and its own programs, not those of the base system. */
    private static final Pattern NEEDED =
            Pattern.compile("(lib.*|lua-.*|zlib1g|.*-(core|common|client|tools|server)(-.*)?)");

    private final Path root;

    private DebianRelease(Path root) {
        this.root = root;
    }

    /**
     * The release of a package in a suite; the first call fetches it.
     *
     * @throws MissingServerException if this machine has no apt, or the suite has no such package
     */
    public static DebianRelease of(String suite, String name) {
        Path cache = DebianPackages.cache();
        Path root = cache.resolve(name + "-" + suite + "-" + System.getProperty("os.arch"));
        try {
            Files.createDirectories(cache);
            try (FileChannel channel = FileChannel.open(
                            cache.resolve("lock-" + suite), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                    FileLock lock = channel.lock()) {
                if (!Files.isDirectory(root)) {
                    System.out.println("[test-servers] fetching " + name + " of " + suite + " into " + root);
                    fetch(suite, name, cache, root);
                }
            }
        } catch (IOException | IllegalStateException e) {
            throw new MissingServerException("cannot fetch " + name + " of Debian " + suite + " into " + cache, e);
        }
        return new DebianRelease(root);
    }

    /** The same in a folder of this JVM that all can pass: a cache in root's home is closed to others. */
    DebianRelease copy() {
        Path copy = Guardian.get().newFolder("release");
        try {
            Folders.letOthersPass(copy);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        Commands.run(LIMIT, Map.of(), List.of("cp", "-a", root + "/.", copy.toString()));
        Commands.run(LIMIT, Map.of(), List.of("chmod", "-R", "a+rX", copy.toString()));
        return new DebianRelease(copy);
    }

    /** The beginning of a command line: the program, run by its own loader with its own libraries. */
    public List<String> command(String program) {
        Path loader = find("ld-linux-").stream()
                .findFirst()
                .orElseThrow(
                        () -> new MissingServerException("no loader in " + root + "; delete it to fetch it again"));
        TreeSet<String> folders = new TreeSet<>();
        find("").forEach(library -> folders.add(String.valueOf(library.getParent())));
        return List.of(
                loader.toString(),
                "--library-path",
                String.join(File.pathSeparator, folders),
                root.resolve(program).toString());
    }

    /** Shared libraries whose name begins with this. */
    private List<Path> find(String prefix) {
        try (Stream<Path> files = Files.walk(root)) {
            return files.filter(
                            file -> file.getFileName().toString().matches(Pattern.quote(prefix) + ".*\\.so(\\..*)?"))
                    .sorted()
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void fetch(String suite, String name, Path cache, Path root) throws IOException {
        Path work = Files.createTempDirectory(cache, "unpacking");
        try {
            Folders.letOthersPass(work);
            Path unpacked = Files.createDirectory(work.resolve("root"));
            List<String> apt = apt(suite, work);
            run(work, apt, List.of("update"));
            List<String> download = new ArrayList<>(List.of("download"));
            Matcher planned = Pattern.compile("(?m)^'[^']+' ([^_ ]+)_\\S+")
                    .matcher(run(work, apt, List.of("-y", "--print-uris", "install", name)));
            while (planned.find()) {
                String each = planned.group(1);
                if (each.equals(name) || NEEDED.matcher(each).matches()) {
                    download.add(each);
                }
            }
            run(work, apt, download);
            try (DirectoryStream<Path> files = Files.newDirectoryStream(work, "*.deb")) {
                for (Path file : files) {
                    Commands.run(LIMIT, Map.of(), List.of("dpkg", "-x", file.toString(), unpacked.toString()));
                }
            }
            Files.move(unpacked, root, StandardCopyOption.ATOMIC_MOVE);
        } finally {
            Folders.delete(work);
        }
    }

    private static String run(Path work, List<String> apt, List<String> arguments) {
        List<String> command = new ArrayList<>(apt);
        command.addAll(arguments);
        return Commands.run(LIMIT, work, Map.of("LC_ALL", "C"), command);
    }

    /** apt with lists, cache and state of its own, for which nothing is installed: so libc is fetched, too. */
    private static List<String> apt(String suite, Path work) throws IOException {
        Path state = work.resolve("apt");
        Files.createDirectories(state.resolve("lists/partial"));
        Files.createDirectories(state.resolve("cache/archives/partial"));
        Files.writeString(state.resolve("status"), "");
        Files.writeString(
                state.resolve("sources"), "deb [signed-by=" + KEYS + "] " + mirror() + " " + suite + " main\n");
        List<String> command = new ArrayList<>(List.of("apt-get", "-q"));
        for (String option : List.of(
                "Dir::Etc::sourcelist=" + state.resolve("sources"),
                "Dir::Etc::sourceparts=-",
                "Dir::State=" + state,
                "Dir::State::lists=" + state.resolve("lists"),
                "Dir::State::status=" + state.resolve("status"),
                "Dir::Cache=" + state.resolve("cache"),
                "APT::Install-Recommends=false",
                "APT::Sandbox::User=" + System.getProperty("user.name"),
                "Debug::NoLocking=true")) {
            command.addAll(List.of("-o", option));
        }
        return command;
    }

    private static String mirror() throws IOException {
        List<Path> files = new ArrayList<>(List.of(Path.of("/etc/apt/sources.list")));
        if (Files.isDirectory(Path.of("/etc/apt/sources.list.d"))) {
            try (DirectoryStream<Path> more =
                    Files.newDirectoryStream(Path.of("/etc/apt/sources.list.d"), "*.{list,sources}")) {
                more.forEach(files::add);
            }
        }
        for (Path file : files) {
            if (Files.isReadable(file)) {
                for (String line : Files.readAllLines(file)) {
                    Matcher mirror = MIRROR.matcher(line);
                    if (mirror.matches()) {
                        return mirror.group(1);
                    }
                }
            }
        }
        throw new IllegalStateException("no Debian mirror is set up on this machine");
    }
}
