// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.spi;

import io.lockkeeper.Mode;
import java.time.Duration;

/**
 * What a claim asks for.
 *
 * @param mode how the name is to be held
 * @param permits how many permits; 1 for a lock
 * @param limit the limit of the semaphore; 0 for a lock
 * @param lease how long a grant lasts without renewal
 * @param lockDelay how long the name stays closed when a confirmed hold ends by expiry or session death
 * @param patience how long a queued claim lives without being refreshed
 * @param block how many tokens a grant should carry; a store may give fewer, never none
 * @param queue whether to queue when the name is taken
 * @param client the client's name, for people
 * @param label what the client says of the hold, for people
 */
public record Terms(
        Mode mode,
        int permits,
        int limit,
        Duration lease,
        Duration lockDelay,
        Duration patience,
        int block,
        boolean queue,
        String client,
        String label) {
    /** The longest first lease of a grant that was handed over and has not been confirmed by a renewal yet. */
    public static final Duration FIRST_LEASE = Duration.ofSeconds(3);

    /** The lease that a handed-over grant starts with: the smaller of the lease and {@link #FIRST_LEASE}. */
    public Duration firstLease() {
        return lease.compareTo(FIRST_LEASE) < 0 ? lease : FIRST_LEASE;
    }

    /** Whether a claim of these terms and one of {@code other} use a name in the same way. */
    public boolean agreesWith(Terms other) {
        return limit == other.limit && (mode == Mode.PERMITS) == (other.mode == Mode.PERMITS);
    }
}
