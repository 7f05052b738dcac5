// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql.file;

import io.lockkeeper.sql.base.Daemons;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Waits in the kernel for the locks of a {@link FileGate}, on its own thread: the kernel knows no deadline, and an
 * interrupt would close the file. The threads that have the turn wait for it, one after the other; a lock that arrives
 * when none waits is released.
 */
final class GateRequest implements Runnable {
    private final FileChannel channel;
    private final long nextByte;
    private final long writerByte;

    // Guarded by this.
    private @Nullable FileLock next;
    private @Nullable FileLock writer;
    private @Nullable Throwable failure;
    private boolean isWanted = true;
    private boolean done;

    /**
     * Waits for both locks, or for the second one only.
     *
     * @param next the first lock, if we have it
     * @param nextByte the same as the other to wait for that one only
     */
    GateRequest(FileChannel channel, @Nullable FileLock next, long nextByte, long writerByte) {
        this.channel = channel;
        this.next = next;
        this.nextByte = nextByte;
        this.writerByte = writerByte;
    }

    /**
     * Begins.
     *
     * @return false when there is no thread for it; then it has not begun, and what it was given is the caller's again
     */
    boolean start(ThreadFactory threads) {
        return Daemons.start(threads, this) != null;
    }

    @Override
    public void run() {
        try {
            FileLock first = next;
            if (first == null && nextByte != writerByte) {
                first = channel.lock(nextByte, 1, false);
            }
            FileLock second = channel.lock(writerByte, 1, false);
            if (first != null) {
                first.release();
            }
            end(second, null);
        } catch (Throwable e) { // the threads that wait for it must be notified, whatever it is
            end(null, e);
        }
    }

    private synchronized void end(@Nullable FileLock lock, @Nullable Throwable why) {
        done = true;
        next = null;
        failure = why;
        if (isWanted || lock == null) {
            writer = lock;
        } else {
            try {
                lock.release();
            } catch (IOException e) {
                failure = e; // the channel was closed, and all is released
            }
        }
        notifyAll();
    }

    synchronized boolean isDone() {
        return done;
    }

    /** Whether it is done by then. */
    synchronized boolean await(long until) {
        boolean interrupted = false;
        isWanted = true;
        for (long left = until - System.nanoTime(); !done && left > 0; left = until - System.nanoTime()) {
            try {
                TimeUnit.NANOSECONDS.timedWait(this, left);
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        isWanted = done;
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return done;
    }

    /** The lock; null when it cannot be acquired. */
    synchronized @Nullable FileLock take() {
        return writer;
    }

    synchronized @Nullable Throwable failure() {
        return failure;
    }
}
