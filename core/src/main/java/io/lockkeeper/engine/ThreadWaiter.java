// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import io.lockkeeper.spi.Ticker;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A thread that waits, and makes its store steps itself; those of a virtual thread are made on a thread of the lane, because an
 * interrupt would close the socket under them. So the thread that makes a step also clears up after it, even if nobody waits any more.
 */
final class ThreadWaiter extends Waiter {
    private final Thread thread = Thread.currentThread();
    private final boolean interruptible;
    private @Nullable Role handedOver;

    ThreadWaiter(
            boolean once, long deadline, boolean interruptible, @Nullable Thread owner, @Nullable Throwable trace) {
        super(once, deadline, owner, trace);
        this.interruptible = interruptible;
    }

    @Override
    void wake() {
        if (thread != Thread.currentThread()) {
            LockSupport.unpark(thread);
        }
    }

    @Override
    void remind() {
        wake();
    }

    /**
     * Waits in {@code queue}, which it has entered, for its result.
     *
     * @throws InterruptedException when it was interrupted before it was answered
     */
    Result await(LocalQueue queue, Claims claims, Ticker ticker) throws InterruptedException {
        boolean interrupted = false;
        boolean timedOut = false;
        try {
            for (; ; ) {
                Result r = result();
                if (r != null) {
                    return r;
                }
                Role role = role();
                if (!timedOut && deadline != Long.MAX_VALUE && ticker.nanos() >= deadline) {
                    timedOut = true;
                    queue.timeOut(this, claims::giveBack);
                } else if (interruptible && Thread.interrupted()) {
                    if (queue.abandon(this, claims::giveBack)) {
                        throw new InterruptedException();
                    }
                    interrupted = true; // it was answered at that instant: take what there is, and keep the flag
                } else if (role != null
                        && role != handedOver
                        && !(role instanceof Role.Rest rest && ticker.nanos() < rest.until())) {
                    perform(queue, role, ticker.nanos());
                } else {
                    long wakeAt = timedOut ? Long.MAX_VALUE : deadline;
                    boolean rests = role instanceof Role.Rest && role != handedOver;
                    ticker.parkUntil(rests && role instanceof Role.Rest rest ? Math.min(wakeAt, rest.until()) : wakeAt);
                    interrupted |= !interruptible && Thread.interrupted();
                }
            }
        } finally {
            if (interrupted) {
                thread.interrupt();
            }
        }
    }

    private void perform(LocalQueue queue, Role role, long now) {
        if (!VirtualThreads.isCurrent()) {
            queue.perform(this, now);
        } else {
            handedOver = role;
            // When the lane is closed, so is the queue, and all in it are answered.
            queue.lane().steps.execute(() -> queue.perform(this, now));
        }
    }
}
