// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testservers;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/** Folders that together have all executables of one server. */
record Place(List<Path> folders, Map<String, String> environment, String how) {

    /** The place that an environment variable names: the server's executable, its folder, or the folder above that. */
    static Optional<Place> named(ServerKind kind, Path path, String how) {
        if (Binaries.runnable(path)) {
            return around(kind, path, "by " + how + " at " + path);
        }
        return firstWith(kind, List.of(path, path.resolve("bin"), path.resolve("sbin")), "by " + how);
    }

    /** On the {@code PATH}, or where packages put servers without telling the {@code PATH}. */
    static Optional<Place> onThisMachine(ServerKind kind) {
        List<Path> folders = new ArrayList<>();
        for (String folder : System.getenv().getOrDefault("PATH", "").split(File.pathSeparator)) {
            if (!folder.isBlank()) {
                folders.add(Path.of(folder));
            }
        }
        folders.addAll(versions("/usr/lib/postgresql", "*"));
        folders.addAll(List.of(Path.of("/usr/sbin"), Path.of("/usr/local/sbin")));
        for (String brew : List.of("/opt/homebrew", "/usr/local", "/home/linuxbrew/.linuxbrew")) {
            folders.add(Path.of(brew, "bin"));
            folders.addAll(versions(brew + "/opt", "{postgresql,mariadb,redis,etcd}*"));
        }
        return firstWith(kind, folders, "on this machine");
    }

    /** Below the root of unpacked Debian packages, whose libraries are not where the loader looks. */
    static Optional<Place> unpacked(ServerKind kind, Path root) {
        List<Path> folders = new ArrayList<>(versions(root + "/usr/lib/postgresql", "*"));
        folders.addAll(List.of(root.resolve("usr/bin"), root.resolve("usr/sbin")));
        List<String> libraries = Stream.of("usr/lib", "lib")
                .flatMap(lib -> list(root.resolve(lib), "*-linux-gnu*").stream())
                .map(Path::toString)
                .toList();
        Map<String, String> environment =
                libraries.isEmpty() ? Map.of() : Map.of("LD_LIBRARY_PATH", String.join(File.pathSeparator, libraries));
        return firstWith(kind, folders, "unpacked").map(place -> new Place(place.folders, environment, place.how));
    }

    Optional<Path> executable(String name) {
        return folders.stream()
                .map(folder -> folder.resolve(name))
                .filter(Binaries::runnable)
                .findFirst();
    }

    private static Optional<Place> firstWith(ServerKind kind, List<Path> folders, String how) {
        String server = kind.executables().get(0);
        return folders.stream()
                .map(folder -> folder.resolve(server))
                .filter(Binaries::runnable)
                .flatMap(file -> around(kind, file, how + " at " + file).stream())
                .findFirst();
    }

    /**
     * The folder of the server and those beside it ({@code mariadbd} is in {@code sbin}, its helpers in {@code bin}). The folder
     * behind a link comes first: a link in {@code /usr/local/bin} has not all of PostgreSQL beside it. The link of the file
     * itself stays: {@code redis-server} is one, and does what its name says.
     */
    private static Optional<Place> around(ServerKind kind, Path server, String how) {
        List<Path> folders = new ArrayList<>();
        for (Path folder : List.of(parent(real(server)), parent(server.toAbsolutePath()))) {
            Path above = parent(folder);
            folders.addAll(List.of(folder, above.resolve("bin"), above.resolve("sbin"), above.resolve("scripts")));
        }
        Place place = new Place(List.copyOf(folders), Map.of(), how);
        boolean complete = kind.executables().stream()
                .allMatch(name -> place.executable(name).isPresent());
        return complete ? Optional.of(place) : Optional.empty();
    }

    /** The {@code bin} folders of installed versions, the highest first. */
    private static List<Path> versions(String folder, String pattern) {
        return list(Path.of(folder), pattern).stream()
                .sorted(Comparator.comparingInt(Place::number).reversed())
                .map(version -> version.resolve("bin"))
                .toList();
    }

    private static int number(Path versioned) {
        String digits = versioned.getFileName().toString().replaceAll("^\\D*(\\d{0,6}).*$", "$1");
        return digits.isEmpty() ? 0 : Integer.parseInt(digits);
    }

    private static List<Path> list(Path folder, String pattern) {
        List<Path> found = new ArrayList<>();
        if (Files.isDirectory(folder)) {
            try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, pattern)) {
                files.forEach(found::add);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        return found;
    }

    private static Path real(Path file) {
        try {
            return file.toRealPath();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Path parent(Path path) {
        Path parent = path.getParent();
        return parent == null ? path : parent;
    }
}
