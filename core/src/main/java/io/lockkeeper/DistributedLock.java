// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper;

import io.lockkeeper.engine.MultiLock;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;

/**
 * A lock that all who use the same store and name share. Safe for use by any number of threads; an instance costs
 * nothing and need not be kept.
 *
 * <p>Two styles. <b>Handles</b> (recommended): {@link #acquire()} and the similar methods return a {@link Lease} that
 * belongs to the object, and never re-enter. <b>{@code java.util.concurrent}</b>: {@link #lock()}, {@link #tryLock()}
 * and {@link #unlock()} are owned by the thread and reentrant; {@link #lease()} gives the current thread's lease.
 * Re-entry costs no I/O. Re-entry after the hold was lost throws {@link LeaseLostException}; it never silently acquires
 * again. Fixed leases are an exception: see {@link LockOptions#fixedLease}.
 *
 * <p>Not acquired is a value; failure is an exception. All methods that ask the store throw
 * {@link StoreUnavailableException} when it cannot be asked: a new claim after the operation timeout, a queued one after
 * {@linkplain Lockkeeper.Builder#patience(Duration) patience}, authentication and configuration errors at once; and
 * {@link KeeperClosedException} when the keeper is closed, also while they wait.
 */
public interface DistributedLock extends Lock {
    /** What is locked. */
    String name();

    /**
     * Acquires the lock, waiting as long as it takes.
     *
     * @throws InterruptedException when the thread is interrupted before or while it waits; nothing is left in the store
     * @throws DeadlockException when this thread holds the name in a conflicting way by {@code lock()}
     */
    Lease acquire() throws InterruptedException;

    /** Acquires the lock if nobody holds or awaits it: one attempt, no waiting. */
    Optional<Lease> tryAcquire();

    /**
     * Acquires the lock, waiting no longer than {@code wait}; not longer than any {@code Duration}, so that a huge one
     * means forever, and a zero or negative one a single attempt.
     *
     * @throws InterruptedException when the thread is interrupted before or while it waits; nothing is left in the store
     * @throws StoreUnavailableException when it could not be found out whether the lock is taken. A store that does not answer
     *     may make this take up to two operation timeouts longer than {@code wait}
     */
    Optional<Lease> tryAcquire(Duration wait) throws InterruptedException;

    /**
     * Acquires the lock without occupying a thread. However the returned future is completed, by us, by {@code cancel} or by a
     * timeout of your own, the wait ends with it. That is true of this future alone: cancelling one that depends on it, such
     * as {@code acquireAsync().thenApply(…)}, does not cancel this one. When {@code cancel} returns false, the lock was
     * acquired before, and the lease is yours to close.
     */
    CompletableFuture<Lease> acquireAsync();

    /** {@link #tryAcquire(Duration)} without occupying a thread. Cancelling the future really leaves the queue. */
    CompletableFuture<Optional<Lease>> tryAcquireAsync(Duration wait);

    /**
     * Runs {@code body} under the lock, if it can be acquired within {@code wait}, and releases it afterwards.
     *
     * @return what {@code body} gave; empty when the lock was not acquired
     * @throws NullPointerException when {@code body} gave null; the lock has been released
     * @throws LeaseLostException when {@code body} ended normally but the hold had been lost meanwhile
     * @throws Exception what {@code body} threw
     */
    <T> Optional<T> tryCall(Duration wait, LeaseFunction<T> body) throws Exception;

    /**
     * Acquires the lock for this thread, or re-enters. An interrupt does not end the wait; the flag is kept.
     *
     * @throws LeaseLostException when this thread held the lock and has lost it; unlock first. After a
     *     {@linkplain LockOptions#fixedLease fixed lease} that is not necessary: this exception is thrown once, if the
     *     thread still remembers the lease
     * @throws DeadlockException when this thread holds the read lock of the same name
     */
    @Override
    void lock();

    /**
     * {@link #lock()}, ended by an interrupt.
     *
     * @throws LeaseLostException as {@link #lock()} does
     */
    @Override
    void lockInterruptibly() throws InterruptedException;

    /**
     * Acquires the lock for this thread if nobody else holds or awaits it, or re-enters. False at once for the write lock of
     * a name that this thread reads.
     *
     * @throws LeaseLostException as {@link #lock()} does
     */
    @Override
    boolean tryLock();

    /**
     * Acquires the lock for this thread within this time, or re-enters. False at once for the write lock of a name that this
     * thread reads.
     *
     * @throws LeaseLostException as {@link #lock()} does
     */
    @Override
    boolean tryLock(long time, TimeUnit unit) throws InterruptedException;

    /**
     * Undoes one {@code lock()} of this thread; the last one releases. Completes also when the thread is interrupted.
     *
     * @throws IllegalMonitorStateException when this thread does not hold the lock; caused by a
     *     {@link LeaseLostException} when it had lost it
     * @throws StoreUnavailableException as {@link Lease#release()} does; the thread holds it no more
     */
    @Override
    void unlock();

    /** Not supported. */
    @Override
    default Condition newCondition() {
        throw new UnsupportedOperationException("a distributed lock has no conditions");
    }

    /** Whether this thread holds the lock by {@code lock()}, and has not lost it. No I/O. */
    boolean isHeldByCurrentThread();

    /** How many times this thread holds the lock by {@code lock()}; 0 when it has lost it. No I/O. */
    int holdCount();

    /** Whether anybody holds it in this mode. Asks the store. */
    boolean isLocked();

    /**
     * The lease of this thread's hold by {@code lock()}.
     *
     * @throws IllegalMonitorStateException when it has none
     */
    Lease lease();

    /**
     * All of these locks as one: all or none, one deadline for the whole, any mix of stores. They are taken in one
     * global order (name, then an id kept in the store), so that two such locks cannot deadlock. Locks made by this
     * method are flattened. If a part is lost while the others are awaited, all parts are released and the wait begins
     * again, within the deadline. The lease is lost when any part is; {@link LeaseLost} names the part.
     *
     * @throws IllegalArgumentException when there is none, when two are of the same store and name in whatever mode, or
     *     when one is not a Lockkeeper lock
     */
    static DistributedLock all(DistributedLock... locks) {
        return MultiLock.of(locks);
    }
}
