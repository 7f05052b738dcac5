// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql.file;

import io.lockkeeper.sql.base.Daemons;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Path;
import java.util.Objects;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Where the processes of a host that want to write to a file of locks wait for each other: in the kernel, without using
 * the processor, roughly in the order in which they came. SQLite alone would let them try again and again, in no order,
 * and a hundred of them keep a machine so busy that the writer hardly makes progress.
 *
 * <p>The gate is a small file beside the other one. The process that is next has a lock on its first byte, the process
 * that writes has one on its second, so that a process that comes back immediately does not overtake the next. A
 * renewal asks for the second one alone. The kernel takes both locks from a process that ends, however it ends. The
 * file says which process entered last, and when: a gate that others pass is crowded, one that nobody passes is stuck,
 * as when a process was stopped inside.
 *
 * <p><b>The gate protects nothing</b>; SQLite does that. A step that has waited at the gate for long may go on without
 * it, and one that cannot use the gate's file does.
 *
 * <p>Locks of this kind belong to a process, not to a thread: a process has one gate for a file, and its threads take
 * turns at it.
 */
public final class FileGate implements AutoCloseable {
    private static final long NEXT = 0;
    private static final long WRITER = 1;
    /** How often to try where there is no thread that could wait in the kernel. */
    private static final long TRY_NANOS = 5_000_000;

    private final GateFile file;
    private final ThreadFactory threads;

    /**
     * The turn of a thread of this process, and, as in the file, which thread is next: a renewal asks for the turn
     * alone.
     */
    private final Semaphore turn = new Semaphore(1, true);

    private final Semaphore nextTurn = new Semaphore(1, true);

    // Changed only by the thread that has the turn.
    private @Nullable FileLock next;
    private @Nullable FileLock writer;
    private @Nullable GateRequest pending;

    /** Which process was inside when a thread of this process waited in vain; null when that is not known. */
    private volatile @Nullable Note stuck;

    /** Where to wait. */
    public enum Order {
        /** After all that came before. */
        IN_TURN,
        /** Together with the next one: for a renewal, which a crowd must not delay until its lease has ended. */
        AT_THE_HEAD
    }

    /** How waiting ended. */
    public enum Entry {
        /** It is our turn. */
        ENTERED,
        /** Others entered all the time, or the process inside is slow. */
        CROWDED,
        /** Nobody entered or left, and nobody will, as far as we know. */
        STUCK
    }

    /**
     * The process that entered last.
     *
     * @param at in ms since 1970
     */
    public record Note(long count, long pid, long at) {}

    /** The gate of this file, made with the file's own mode and group if it is missing. */
    public FileGate(Path like) {
        this(like, Daemons.named("lockkeeper-file-gate"));
    }

    /** The same, with threads from here. */
    public FileGate(Path like, ThreadFactory threads) {
        this.threads = threads;
        this.file = new GateFile(of(like), like);
    }

    /** Where the gate of a file is. */
    public static Path of(Path file) {
        return file.resolveSibling(file.getFileName() + ".gate");
    }

    /** As {@link #enter(long, Order)}, in turn. */
    public Entry enter(long nanos) {
        return enter(nanos, Order.IN_TURN);
    }

    /** Waits for that long at most; after {@link Entry#ENTERED} the caller must {@link #leave}. An interrupt is kept for later. */
    public Entry enter(long nanos, Order order) {
        long until = System.nanoTime() + nanos;
        boolean isOurs = takeTurn(0, order);
        Note before = null;
        boolean entered = false;
        try {
            entered = isOurs && enterNow(order);
            if (!entered) {
                before = note();
                if (isKnownToBeStuck(before)) {
                    return Entry.STUCK;
                }
                isOurs = isOurs || takeTurn(until - System.nanoTime(), order);
                entered = isOurs && enterBy(until, order);
            }
        } finally {
            if (isOurs && !entered) {
                turn.release();
            }
        }
        if (entered) {
            return Entry.ENTERED;
        }
        Note now = note();
        boolean isSlow = now != null && SlowProcess.is(now);
        boolean isStuck = Objects.equals(before, now) && !isSlow;
        stuck = isStuck ? now : null;
        return isStuck ? Entry.STUCK : Entry.CROWDED;
    }

    /**
     * Whether a thread waited for this process in vain: then the next one does not wait as long for it again, with many
     * others in line.
     */
    private boolean isKnownToBeStuck(@Nullable Note inside) {
        return inside != null && inside.equals(stuck) && !SlowProcess.is(inside);
    }

    /** After {@link #enter}. */
    public void leave() {
        FileLock lock = writer;
        writer = null;
        try {
            GateFile.release(lock);
        } finally {
            turn.release();
        }
    }

    /** The process that entered last; null when none has, or it cannot be read. */
    public @Nullable Note note() {
        return file.note();
    }

    private boolean takeTurn(long nanos, Order order) {
        if (order == Order.AT_THE_HEAD) {
            return take(turn, nanos);
        }
        long until = System.nanoTime() + nanos;
        if (!take(nextTurn, nanos)) {
            return false;
        }
        try {
            return take(turn, until - System.nanoTime());
        } finally {
            nextTurn.release();
        }
    }

    private static boolean take(Semaphore one, long nanos) {
        boolean interrupted = false;
        long until = System.nanoTime() + nanos;
        try {
            while (true) {
                try {
                    return one.tryAcquire(Math.max(0, until - System.nanoTime()), TimeUnit.NANOSECONDS);
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    // ---- With the turn ----

    private boolean enterNow(Order order) {
        GateRequest request = pending;
        if (request != null && !request.isDone()) {
            return false;
        }
        pending = null;
        try {
            FileChannel open = file.open();
            if (order == Order.IN_TURN) {
                next = next != null ? next : open.tryLock(NEXT, 1, false);
                if (next == null) {
                    return false;
                }
            }
            FileLock lock = open.tryLock(WRITER, 1, false);
            if (lock == null) {
                return false; // but we are next
            }
            entered(lock);
            GateFile.release(next);
            next = null;
        } catch (IOException | OverlappingFileLockException e) {
            goWithout(e);
        }
        return true;
    }

    private boolean enterBy(long until, Order order) {
        while (!enterNow(order)) {
            GateRequest request = pending;
            if (request == null) {
                request = new GateRequest(file.channel(), next, order == Order.IN_TURN ? NEXT : WRITER, WRITER);
                if (!request.start(threads)) {
                    return tryUntil(until, order);
                }
                next = null;
                pending = request;
            }
            if (!request.await(until)) {
                return false; // it goes on, for the next one here
            }
            FileLock lock = request.take();
            if (lock != null) {
                pending = null;
                entered(lock);
                return true;
            }
            if (request.failure() != null) {
                pending = null;
                goWithout(request.failure());
                return true;
            } // otherwise it came while nobody wanted it, and was given back
        }
        return true;
    }

    /** Without a thread that could wait for it: tries again and again, and leaves nothing locked if that is in vain. */
    private boolean tryUntil(long until, Order order) {
        boolean interrupted = false;
        boolean entered = false;
        while (!entered && System.nanoTime() - until < 0) {
            LockSupport.parkNanos(TRY_NANOS);
            interrupted |= Thread.interrupted();
            entered = enterNow(order);
        }
        if (!entered) {
            GateFile.release(next);
            next = null;
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return entered;
    }

    private void entered(FileLock lock) {
        writer = lock;
        file.writeNote();
    }

    /** The gate cannot be used: SQLite serializes writers, too, only less well. */
    private void goWithout(@Nullable Throwable why) {
        GateFile.release(next);
        next = null;
        writer = null;
        file.fail(why);
    }

    /** Nobody uses it any more in this process. */
    @Override
    public void close() {
        file.close();
    }
}
