// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import org.jspecify.annotations.Nullable;

/**
 * One attempt to get into possession, in a {@link LocalQueue}. It waits until it is {@link #answer answered}, which happens
 * exactly once; meanwhile it may be given a {@link Role}. Everything but reading the two is the queue's, under its monitor.
 */
abstract class Waiter {
    /** Whether one attempt is all it makes. */
    final boolean once;

    /** When it gives up; {@link Long#MAX_VALUE} for never. */
    final long deadline;

    /** The thread that is to own what is acquired; null for a handle. */
    final @Nullable Thread owner;

    /** Where it was asked for, if that was noted. */
    final @Nullable Throwable trace;

    private volatile @Nullable Result result;
    private volatile @Nullable Role role;

    // Guarded by the queue.

    /** Its number among those who have entered. */
    long place;

    /** Whether its step is under way. */
    boolean working;

    /** Whether its time is up, and it waits only for what becomes of the step that is under way. */
    boolean late;

    boolean inLine;

    /** The next of the queue's drivers, while it is one. */
    @Nullable
    Waiter nextDriver;

    Waiter(boolean once, long deadline, @Nullable Thread owner, @Nullable Throwable trace) {
        this.once = once;
        this.deadline = deadline;
        this.owner = owner;
        this.trace = trace;
    }

    final @Nullable Result result() {
        return result;
    }

    final @Nullable Role role() {
        return role;
    }

    final boolean isAnswered() {
        return result != null;
    }

    /** Whether it ends with the step that is under way, whatever that brings. */
    final boolean waitsNoLonger() {
        return once || late;
    }

    /** Gives it its result, unless it has one. */
    final void answer(Result given) {
        if (result == null) {
            result = given;
            wake();
        }
    }

    /** Gives it something to do. */
    final void assign(Role given) {
        role = given;
        if (result == null) {
            wake();
        }
    }

    /** Its role is done, or was taken from it. */
    final void resign() {
        role = null;
        working = false;
        nextDriver = null;
    }

    /** It was answered, and may not have been woken. */
    abstract void remind();

    /** Called under the queue's monitor after it was given a role or a result: must not block, do I/O or run user code. */
    abstract void wake();
}
