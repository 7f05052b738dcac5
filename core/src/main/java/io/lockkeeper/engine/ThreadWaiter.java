// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import io.lockkeeper.spi.Ticker;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** A thread that waits, and does its store steps itself. */
final class ThreadWaiter extends Waiter {
    private final Thread thread = Thread.currentThread();
    private final boolean interruptible;

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

    /**
     * Waits in {@code queue}, which it has entered, for a possession; null when it was not acquired.
     *
     * @throws Stale when what it got had run out before it could take it, so that it has to enter again
     */
    @Nullable
    Possession await(LocalQueue queue, Ticker ticker) throws InterruptedException, Stale {
        boolean interrupted = false;
        boolean driven = false;
        try {
            for (; ; ) {
                Object o = outcome;
                if (o == DRIVE && !(driven && isLate(ticker))) {
                    driven = true;
                    queue.drive(this);
                } else if (o == CONFIRM) {
                    queue.confirm(this);
                } else if (o instanceof Possession possession) {
                    if (possession.accept()) {
                        return possession;
                    }
                    possession.hold.discard();
                    if (once || isLate(ticker)) {
                        return null;
                    }
                    throw new Stale();
                } else if (o == NOT_ACQUIRED) {
                    return null;
                } else if (o instanceof RuntimeException e) {
                    throw e;
                } else if (o instanceof Error e) {
                    throw e;
                } else if (isLate(ticker)) {
                    if (queue.leave(this)) {
                        return null;
                    }
                } else if (interruptible && Thread.interrupted()) {
                    if (queue.leave(this)) {
                        throw new InterruptedException();
                    }
                    interrupted = true; // it was settled at that instant: take what there is, and keep the flag
                } else if (o == REST && ticker.nanos() >= restUntil) {
                    queue.drive(this);
                } else {
                    ticker.parkUntil(o == REST ? Math.min(deadline, restUntil) : deadline);
                    interrupted |= !interruptible && Thread.interrupted();
                }
            }
        } finally {
            if (interrupted) {
                thread.interrupt();
            }
        }
    }

    private boolean isLate(Ticker ticker) {
        return deadline != Long.MAX_VALUE && ticker.nanos() >= deadline;
    }

    /** See {@link #await}. */
    static final class Stale extends Exception {
        private static final long serialVersionUID = 1L;

        Stale() {
            super("", null, false, false);
        }
    }
}
