// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql.file;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Which files are in place: SQLite goes on with those that it has opened, while others lock in the new ones. None is opened to look:
 * closing it again would release SQLite's own locks.
 *
 * @param file what identifies the database; null when it is missing
 * @param log the same of its write-ahead log
 * @param memory the same of the memory that processes share
 * @param written when the database itself was last written to, rather than its log
 */
record FilePlace(
        @Nullable Object file,
        @Nullable Object log,
        @Nullable Object memory,
        @Nullable FileTime written) {
    static final String LOG = "-wal";
    static final String MEMORY = "-shm";
    static final List<String> SUFFIXES = List.of(LOG, MEMORY);

    static FilePlace at(Path path) {
        BasicFileAttributes main = attributes(path);
        BasicFileAttributes log = attributes(beside(path, LOG));
        BasicFileAttributes memory = attributes(beside(path, MEMORY));
        return new FilePlace(
                main == null ? null : main.fileKey(),
                log == null ? null : log.fileKey(),
                memory == null ? null : memory.fileKey(),
                main == null ? null : main.lastModifiedTime());
    }

    static Path beside(Path path, String suffix) {
        return path.resolveSibling(path.getFileName() + suffix);
    }

    private static @Nullable BasicFileAttributes attributes(Path path) {
        try {
            return Files.readAttributes(path, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
        } catch (IOException e) {
            return null;
        }
    }

    boolean isComplete() {
        return file != null && log != null && memory != null;
    }

    /** Whether the same three files are there. */
    boolean isSame(FilePlace other) {
        return Objects.equals(file, other.file)
                && Objects.equals(log, other.log)
                && Objects.equals(memory, other.memory);
    }

    /** Whether the database is the same, whatever became of the files beside it. */
    boolean hasSameFile(FilePlace now) {
        return file != null && file.equals(now.file);
    }

    /** Whether nobody has written to the database since. */
    boolean isUnwritten(FilePlace now) {
        return Objects.equals(written, now.written);
    }
}
