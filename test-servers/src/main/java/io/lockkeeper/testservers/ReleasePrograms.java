// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testservers;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.List;

/**
 * Programs of a {@link DebianRelease} that call each other, such as {@code initdb}, which runs the {@code postgres} beside it: each
 * is replaced by a script that runs it with its own loader and libraries.
 */
final class ReleasePrograms {
    private static final byte[] ELF = {0x7f, 'E', 'L', 'F'};

    private final Path folder;

    private ReleasePrograms(Path folder) {
        this.folder = folder;
    }

    /** These programs, by their paths in the package; the first call prepares them. */
    static ReleasePrograms of(DebianRelease release, List<String> programs) {
        Path cache = DebianPackages.cache();
        try (FileChannel channel =
                        FileChannel.open(cache.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                FileLock lock = channel.lock()) {
            Path first = null;
            for (String program : programs) {
                Path path = wrap(release.command(program));
                first = first == null ? path : first;
            }
            if (first == null || first.getParent() == null) {
                throw new IllegalArgumentException("no programs");
            }
            return new ReleasePrograms(first.getParent());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** One of the programs that are in the same folder as the first. */
    String path(String name) {
        return folder.resolve(name).toString();
    }

    /** The folder above {@code bin} or {@code sbin}. */
    Path base() {
        return folder.resolve("..").normalize();
    }

    private static Path wrap(List<String> command) throws IOException {
        Path program = Path.of(command.get(command.size() - 1));
        Path real = program.resolveSibling(program.getFileName() + ".real");
        if (Files.isRegularFile(program) && isElf(program)) {
            Path script = program.resolveSibling(program.getFileName() + ".script");
            Files.writeString(
                    script,
                    "#!/bin/sh\nexec '" + String.join("' '", command.subList(0, command.size() - 1)) + "' '" + real
                            + "' \"$@\"\n");
            Files.setPosixFilePermissions(script, PosixFilePermissions.fromString("rwxr-xr-x"));
            Files.copy(program, real, StandardCopyOption.REPLACE_EXISTING);
            Files.setPosixFilePermissions(real, PosixFilePermissions.fromString("rwxr-xr-x"));
            Files.move(script, program, StandardCopyOption.ATOMIC_MOVE);
        }
        return program;
    }

    private static boolean isElf(Path file) throws IOException {
        try (InputStream in = Files.newInputStream(file)) {
            return Arrays.equals(in.readNBytes(ELF.length), ELF);
        }
    }
}
