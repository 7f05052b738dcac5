// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.cli;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Where a shell and the holder of its lock find each other: a folder that only their user can enter, with a small file for each
 * thing that one says to the other. The holder deletes it; after a request to release, {@code lockkeeper release} does.
 */
final class HoldFolder {
    /** The folders of a shell's holds, the latest last; a colon between any two. */
    static final String VARIABLE = "LOCKKEEPER_HOLDS";

    private final Path path;

    HoldFolder(Path path) {
        this.path = path;
    }

    static HoldFolder create() {
        String runtime = System.getenv("XDG_RUNTIME_DIR");
        String temporary = System.getenv("TMPDIR");
        for (@Nullable String parent : new String[] {runtime, temporary, "/tmp"}) {
            try {
                if (parent != null && parent.startsWith("/") && !parent.contains(":")) {
                    return new HoldFolder(Files.createTempDirectory(Path.of(parent), "lockkeeper-"));
                }
            } catch (IOException e) {
                // The next, or none.
            }
        }
        throw new Failure(
                Exit.SYSTEM,
                "no folder can be made in $XDG_RUNTIME_DIR, $TMPDIR or /tmp; set TMPDIR to one you may write to");
    }

    Path path() {
        return path;
    }

    boolean exists() {
        return Files.isDirectory(path);
    }

    /** The pid of the shell, once it has written it. */
    Optional<Long> shell() {
        return read("shell").filter(text -> text.endsWith("\n")).flatMap(HoldFolder::number);
    }

    /** The file to which the shell writes its pid. */
    Path shellFile() {
        return path.resolve("shell");
    }

    Optional<ProcessHandle> holder() {
        return read("holder").flatMap(HoldFolder::number).flatMap(ProcessHandle::of);
    }

    Optional<String> name() {
        return read("name");
    }

    /** The mark of what the shell starts while it holds the lock. */
    Optional<String> mark() {
        return read("mark");
    }

    /** The holder says who it is, and of what. */
    void introduce(String name, String mark) throws IOException {
        write("name", name);
        write("mark", mark);
        write("holder", Long.toString(ProcessHandle.current().pid()));
    }

    void requestRelease() throws IOException {
        try {
            Files.createFile(path.resolve("release"));
        } catch (FileAlreadyExistsException e) {
            // Somebody has asked before.
        }
    }

    boolean isReleaseRequested() {
        return Files.exists(path.resolve("release"));
    }

    /** How the release ended: an exit code. */
    Optional<Integer> result() {
        return read("result").flatMap(HoldFolder::number).map(Long::intValue);
    }

    void answer(int code) throws IOException {
        write("result", Integer.toString(code));
    }

    void delete() {
        try {
            for (String file : List.of("shell", "holder", "name", "mark", "release", "result", "new")) {
                Files.deleteIfExists(path.resolve(file));
            }
            Files.deleteIfExists(path);
        } catch (IOException e) {
            // A folder of a few bytes in a place for temporary files.
        }
    }

    private void write(String file, String text) throws IOException {
        Path fresh = Files.writeString(path.resolve("new"), text, StandardCharsets.UTF_8);
        Files.move(fresh, path.resolve(file), StandardCopyOption.ATOMIC_MOVE);
    }

    private Optional<String> read(String file) {
        try {
            return Optional.of(Files.readString(path.resolve(file), StandardCharsets.UTF_8));
        } catch (NoSuchFileException e) {
            return Optional.empty();
        } catch (IOException e) {
            return Optional.empty(); // of another user: not a hold that we know
        }
    }

    private static Optional<Long> number(String text) {
        try {
            return Optional.of(Long.parseLong(text.strip()));
        } catch (NumberFormatException e) {
            return Optional.empty();
        }
    }
}
