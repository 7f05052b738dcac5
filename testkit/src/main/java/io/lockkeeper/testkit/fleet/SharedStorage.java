// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testkit.fleet;

import io.lockkeeper.testkit.history.HistoryLog;
import io.lockkeeper.testkit.history.HistoryMode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URLEncoder;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.stream.Stream;

/**
 * What the locks of a fleet protect: one storage for each lock, in files that all processes of a machine share. It refuses stale
 * tokens (an exclusive one must reach both marks, a shared one exceed the exclusive mark), unless it is made without a fence.
 * Check, write and the note of it are one step under a lock of the file.
 */
final class SharedStorage {
    private static final Object ONE_AT_A_TIME = new Object(); // a JVM may not lock a file twice

    private final Path folder;
    private final boolean isFenced;

    /** The storage in a folder, which is made if need be. */
    SharedStorage(Path folder, boolean isFenced) {
        this.folder = folder;
        this.isFenced = isFenced;
        try {
            Files.createDirectories(folder);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Writes to the storage that this lock protects; false when the token is stale. */
    boolean write(String lock, HistoryMode mode, long token) {
        String name = URLEncoder.encode(lock, StandardCharsets.UTF_8);
        synchronized (ONE_AT_A_TIME) {
            try (FileChannel marks = FileChannel.open(
                            folder.resolve(name + ".marks"),
                            StandardOpenOption.CREATE,
                            StandardOpenOption.READ,
                            StandardOpenOption.WRITE);
                    FileLock held = marks.lock()) {
                if (!held.isValid()) {
                    throw new IOException("lost the lock of " + name);
                }
                return write(marks, folder.resolve(name + ".log"), lock, mode, token);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    private boolean write(FileChannel file, Path log, String lock, HistoryMode mode, long token) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(3 * Long.BYTES);
        while (bytes.hasRemaining() && file.read(bytes, bytes.position()) >= 0) {}
        bytes.rewind();
        long exclusive = bytes.getLong();
        long shared = bytes.getLong();
        long number = bytes.getLong() + 1;
        boolean isExclusive = mode == HistoryMode.EXCLUSIVE;
        boolean accepted = !isFenced || (isExclusive ? token >= exclusive && token >= shared : token > exclusive);
        if (accepted) {
            exclusive = isExclusive ? token : exclusive;
            shared = isExclusive ? shared : Math.max(shared, token);
        }
        HistoryLog.written(log, number, lock, mode, token, accepted);
        bytes.rewind();
        bytes.putLong(exclusive).putLong(shared).putLong(number).flip();
        while (bytes.hasRemaining()) {
            file.write(bytes, bytes.position());
        }
        return accepted;
    }

    /** The notes of all writes, one file for each lock. */
    List<Path> logs() {
        try (Stream<Path> files = Files.list(folder)) {
            return files.filter(f -> f.toString().endsWith(".log")).toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
