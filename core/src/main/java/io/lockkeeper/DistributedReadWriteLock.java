// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper;

import java.util.concurrent.locks.ReadWriteLock;

/**
 * Many readers or one writer. {@link #writeLock()} is {@link Lockkeeper#lock(String)} of the same name. First come, first
 * served between processes, on stores that promise {@link Guarantee#FAIR}: a queued writer is not overtaken by later readers.
 *
 * <p>Within a process, holds are passed on between threads without asking the store, for a short time (at most 50 ms after the
 * hold was granted). So readers of a process may join readers of the same process ahead of a writer that waits in another, and
 * a writer may be followed by writers of its own process. {@link LockOptions#fair fair(true)} gives each thread its place in the
 * store's queue, at the price of speed.
 *
 * <p>In the thread style a writer may take the read lock, too, and keep it when it unlocks the write lock: the hold is
 * downgraded, with no gap in between. A reader cannot become a writer: {@code tryLock} on the write lock, with a time limit
 * or without, returns false at once, and {@code lock()} throws {@link DeadlockException}, because it would wait for itself.
 */
public interface DistributedReadWriteLock extends ReadWriteLock {
    /** The lock for readers. */
    @Override
    DistributedLock readLock();

    /** The lock for a writer. */
    @Override
    DistributedLock writeLock();
}
