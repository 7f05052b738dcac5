// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.process;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** A storage that several JVMs write to, and that rejects tokens lower than one it has seen. */
final class GuardedFile {
    private final Path path;

    GuardedFile(Path path) {
        this.path = path;
    }

    /** Writes a value, unless the token is stale; answers whether it has. Check and write are one step. */
    synchronized boolean write(long token, long value) throws IOException {
        try (FileChannel channel = open();
                FileLock lock = channel.lock()) {
            if (!lock.isValid() || token < read(channel, 0)) {
                return false;
            }
            ByteBuffer bytes = ByteBuffer.allocate(2 * Long.BYTES);
            bytes.putLong(token).putLong(value).flip();
            while (bytes.hasRemaining()) {
                channel.write(bytes, bytes.position());
            }
            return true;
        }
    }

    /** The value that was written last; 0 when there was none. */
    synchronized long value() throws IOException {
        try (FileChannel channel = open()) {
            return read(channel, Long.BYTES);
        }
    }

    private FileChannel open() throws IOException {
        return FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
    }

    private static long read(FileChannel channel, long position) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(Long.BYTES);
        while (bytes.hasRemaining()) {
            if (channel.read(bytes, position + bytes.position()) < 0) {
                return 0;
            }
        }
        return bytes.flip().getLong();
    }
}
