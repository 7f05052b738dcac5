// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.cli;

import io.lockkeeper.Lease;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.LockkeeperException;
import io.lockkeeper.Sequencer;
import io.lockkeeper.StoreUnavailableException;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/**
 * The release at the end. When the release does not reach the store, because it is away or too many write to its file, the
 * library repeats the release in the background for as long as the lease lasts. The next waiter waits for just that; so we stay
 * until it has succeeded.
 */
final class Releasing {
    /** How it ended. */
    enum Outcome {
        RELEASED,
        /** The lease had ended before. */
        LOST,
        /** It did not reach the store: the lease ends by itself. */
        LEFT
    }

    /** Seldom enough to be no burden to a store that is slow because it is crowded. */
    private static final long LOOK_EVERY = 500_000_000;

    private final Lockkeeper keeper;
    private final Request request;
    private final Lease held;

    Releasing(Lockkeeper keeper, Request request, Lease held) {
        this.keeper = keeper;
        this.request = request;
        this.held = held;
    }

    /** Releases; {@code late} runs when that takes longer. */
    Outcome release(Runnable late) {
        Sequencer sequencer = held.sequencer();
        Duration left = held.remaining();
        try {
            return held.release() ? Outcome.RELEASED : Outcome.LOST;
        } catch (StoreUnavailableException e) {
            if (!e.worthRepeating()) {
                Terminal.complain(
                        "the lock " + request.name() + " could not be released, and is free when its lease of "
                                + Text.brief(request.lease()) + " has ended: " + Text.withDurations(e.getMessage()));
                return Outcome.LEFT;
            }
            late.run();
            Terminal.complain("the lock " + request.name()
                    + " could not be released yet, which is tried again until its lease of "
                    + Text.brief(request.lease()) + " has ended: " + Text.withDurations(e.getMessage()));
            // A session's hold may have no end that is known.
            return await(sequencer, left.compareTo(request.lease()) < 0 ? left : request.lease());
        }
    }

    private Outcome await(Sequencer sequencer, Duration left) {
        long end = System.nanoTime() + left.toNanos();
        while (System.nanoTime() - end < 0) {
            LockSupport.parkNanos(LOOK_EVERY);
            try {
                if (!keeper.inspector().check(sequencer)) {
                    return Outcome.RELEASED;
                }
            } catch (LockkeeperException e) {
                // It still cannot be asked.
            }
        }
        return Outcome.LEFT;
    }
}
