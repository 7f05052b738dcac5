// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import org.jspecify.annotations.Nullable;

/**
 * One attempt to get into possession, in a {@link LocalQueue}. It waits until it has an outcome: a possession, an error,
 * "not acquired", or a <b>role</b>: something that it must do itself, on its own thread, before it can go on.
 */
abstract class Waiter {
    /** A role: make a claim in the store for all who wait here. */
    static final Object DRIVE = role("drive");

    /** A role: confirm {@link #toConfirm} with a renewal. */
    static final Object CONFIRM = role("confirm");

    /** A role: drive again at {@link #restUntil}. */
    static final Object REST = role("rest");

    /** An outcome: the lock is taken. */
    static final Object NOT_ACQUIRED = role("not acquired");

    /** An outcome: it has left the queue. */
    static final Object GONE = role("gone");

    /** Whether one attempt is all it makes. */
    final boolean once;

    /** When it gives up; {@link Long#MAX_VALUE} for never. */
    final long deadline;

    private final @Nullable Thread owner;
    private final @Nullable Throwable trace;

    /** Null while it waits. Changed only under the queue's monitor. */
    volatile @Nullable Object outcome;

    /** The queue it has entered last. */
    volatile @Nullable LocalQueue in;

    // Guarded by the queue.
    @Nullable
    Hold toConfirm;

    long restUntil;

    /** When the store last answered those who wait here that they have to; 0 when it has not. */
    long toldToWaitAt;

    boolean working;
    boolean inLine;
    long enteredBefore;

    Waiter(boolean once, long deadline, @Nullable Thread owner, @Nullable Throwable trace) {
        this.once = once;
        this.deadline = deadline;
        this.owner = owner;
        this.trace = trace;
    }

    /** The thread that is to own what is acquired; null for a handle. */
    @Nullable
    Thread owner() {
        return owner;
    }

    /** Where it was asked for, if that was noted. */
    @Nullable
    Throwable trace() {
        return trace;
    }

    /** Gives it an outcome; called under the queue's monitor. */
    final void settle(Object settled) {
        outcome = settled;
        wake();
    }

    /** Called under the queue's monitor after the outcome was set: must not block, do I/O or run user code. */
    abstract void wake();

    private static Object role(String name) {
        return new Object() {
            @Override
            public String toString() {
                return name;
            }
        };
    }
}
