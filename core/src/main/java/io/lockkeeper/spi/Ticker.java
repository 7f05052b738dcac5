// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.spi;

import java.util.concurrent.locks.LockSupport;

/**
 * The monotonic clock that a keeper measures by. It begins near zero, so that sums of a reading and a duration can be
 * compared with {@code <}. A store for tests may bring its own; all others use {@link #SYSTEM}.
 */
public interface Ticker {
    /** The machine's monotonic clock. */
    Ticker SYSTEM = new Ticker() {
        private final long start = System.nanoTime();

        @Override
        public long nanos() {
            return System.nanoTime() - start;
        }

        @Override
        public void parkUntil(long deadline) {
            if (deadline == Long.MAX_VALUE) {
                LockSupport.park(this);
            } else {
                LockSupport.parkNanos(this, deadline - nanos());
            }
        }
    };

    /** The time in nanoseconds. */
    long nanos();

    /** Parks this thread until it is unparked, interrupted or, at about {@code deadline}, on its own; or for no reason. */
    void parkUntil(long deadline);
}
