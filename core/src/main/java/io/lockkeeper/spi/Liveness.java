// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.spi;

/**
 * How long the session lives for sure in which something is held, on a store that has sessions. A hold is valid no longer than
 * its lease <em>and</em> no longer than its session, whichever ends first; the store itself keeps the session alive, and these
 * moments move on while it does. All are by {@link LockStore#ticker}; asking costs nothing.
 */
public interface Liveness {
    /** Of a store without sessions: the lease alone counts. */
    Liveness FOREVER = new Liveness() {
        @Override
        public long expectedBy() {
            return Long.MAX_VALUE;
        }

        @Override
        public long tellBy() {
            return Long.MAX_VALUE;
        }

        @Override
        public long endsAt() {
            return Long.MAX_VALUE;
        }
    };

    /** When the next sign of life is overdue: the hold is at risk. */
    long expectedBy();

    /** When the holder must be told, in time to stop. */
    long tellBy();

    /** Until when the store certainly grants nothing to others; in the past if the session is known to have ended. */
    long endsAt();
}
