// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql.file;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The small file of a {@link FileGate}, whose first two bytes the kernel locks, and in which stands which process
 * entered last. It is made with the mode and group of the file of locks, and made again when somebody has removed it.
 *
 * <p>Changed only by the thread that has the turn at the gate; any thread may read the note.
 */
final class GateFile {
    private static final System.Logger LOG = System.getLogger("io.lockkeeper.sql");
    private static final long LOOK_NANOS = 1_000_000_000;

    private final Path file;
    private final Path like;
    private volatile @Nullable FileChannel channel;
    private @Nullable Object key;
    private long lookedAt;
    private boolean warned;
    private volatile boolean closed;

    GateFile(Path file, Path like) {
        this.file = file;
        this.like = like;
    }

    /** The channel, to the file that is there now: the one that we had may have been removed. */
    FileChannel open() throws IOException {
        FileChannel open = channel;
        long now = System.nanoTime();
        if (open != null && open.isOpen() && now - lookedAt < LOOK_NANOS) {
            return open;
        }
        if (closed) {
            throw new IOException("the gate is closed"); // what is still under way does not make its file again
        }
        lookedAt = now;
        if (open == null || !open.isOpen() || !Objects.equals(key, key())) {
            close(open);
            try {
                Files.createFile(file, FileModes.OWNER_ONLY);
            } catch (FileAlreadyExistsException e) {
                // It usually is there.
            }
            open = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS);
            key = key();
            channel = open;
        }
        try {
            FileModes.share(file, like);
        } catch (IOException e) {
            // It belongs to another user, whose process does that; or the file itself is still to be made.
        }
        return open;
    }

    /** The channel that is open. */
    FileChannel channel() {
        return Objects.requireNonNull(channel);
    }

    private @Nullable Object key() {
        try {
            return Files.readAttributes(file, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS)
                    .fileKey();
        } catch (IOException e) {
            return null;
        }
    }

    // ---- The note ----

    /** The process that entered last; null when none has, or it cannot be read. */
    FileGate.@Nullable Note note() {
        FileChannel open = channel;
        ByteBuffer bytes = ByteBuffer.allocate(3 * Long.BYTES);
        boolean interrupted = Thread.interrupted(); // it would close the channel
        try {
            if (open == null || open.read(bytes, 0) < bytes.capacity()) {
                return null;
            }
        } catch (IOException e) {
            return null;
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
        bytes.flip();
        return new FileGate.Note(bytes.getLong(), bytes.getLong(), bytes.getLong());
    }

    /** Notes that this process has entered. */
    void writeNote() {
        FileGate.Note last = note();
        ByteBuffer bytes = ByteBuffer.allocate(3 * Long.BYTES)
                .putLong(last == null ? 1 : last.count() + 1)
                .putLong(ProcessHandle.current().pid())
                .putLong(System.currentTimeMillis())
                .flip();
        boolean interrupted = Thread.interrupted(); // it would close the channel
        try {
            channel().write(bytes, 0);
        } catch (IOException e) {
            warn(e); // a full disk: waiters may take us for stuck
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    // ---- Failing and closing ----

    /** It cannot be used now; says so once. */
    void fail(@Nullable Throwable why) {
        close(channel);
        warn(why);
    }

    private void warn(@Nullable Throwable why) {
        if (!warned && !closed && Files.exists(like)) { // otherwise making it fails, and says why
            warned = true;
            LOG.log(
                    System.Logger.Level.WARNING,
                    "the file " + file + " cannot be used: processes that write to " + like
                            + " at the same time wait for each other longer than they need to",
                    why);
        }
    }

    static void release(@Nullable FileLock lock) {
        try {
            if (lock != null && lock.acquiredBy().isOpen()) {
                lock.release();
            }
        } catch (IOException e) {
            close((FileChannel) lock.acquiredBy()); // the kernel releases it with that
        }
    }

    private static void close(@Nullable FileChannel channel) {
        try {
            if (channel != null) {
                channel.close();
            }
        } catch (IOException e) {
            // It is closed all the same.
        }
    }

    /** Nobody uses it any more in this process. */
    void close() {
        closed = true;
        close(channel);
    }
}
