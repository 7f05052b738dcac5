// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper;

import java.time.Duration;

/**
 * Is notified of what happens in a {@link Lockkeeper}: for metrics, logs and alarms. Calls come in order, one at a time, on the
 * keeper's executor; what a method throws is logged and harms nothing. A listener so slow that ten thousand events wait
 * for it loses the newest, and that is logged.
 */
public interface KeeperListener {
    /** A lease was acquired after having waited that long. */
    default void acquired(Lease lease, Duration waited) {}

    /** An attempt ended without the lock, by its time limit, an interrupt or a cancellation. */
    default void notAcquired(String name, Duration waited) {}

    /** A lease was released after having been held that long. */
    default void released(String name, long token, Duration held) {}

    /** A renewal failed; the hold is still valid for {@code remaining}, and renewal goes on. */
    default void atRisk(String name, long token, Duration remaining) {}

    /** A hold is lost. */
    default void lost(LeaseLost loss) {}

    /** The store stopped answering, or cannot decide claims; reported once until {@link #storeUp}. */
    default void storeDown(StoreUnavailableException cause) {}

    /** The store answers again, and can decide claims. */
    default void storeUp() {}
}
