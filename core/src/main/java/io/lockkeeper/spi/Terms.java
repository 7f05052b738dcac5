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

    private static final Duration SHORTEST_SILENCE = Duration.ofSeconds(1);

    /** The lease that a handed-over grant starts with: the smaller of the lease and {@link #FIRST_LEASE}. */
    public Duration firstLease() {
        return lease.compareTo(FIRST_LEASE) < 0 ? lease : FIRST_LEASE;
    }

    /**
     * How long a queued claim may go without a refresh before it counts as silent: the first lease, but not less than
     * one second. A live client refreshes its queued claims three times within it. So when a handed-over grant was not
     * taken up, a store drops, with the grant, each claim that has been silent that long and was not refreshed after the
     * hand-over: its client is most likely dead, too, and trying such claims one by one would stall the queue for one first
     * lease each. A live claim that is dropped all the same is refused as gone at its next refresh, and can be made again.
     *
     * <p>It is never less than one second because a fixed lease can be as short as 100 ms, and no client could refresh that
     * often.
     */
    public Duration allowedSilence() {
        Duration first = firstLease();
        return first.compareTo(SHORTEST_SILENCE) < 0 ? SHORTEST_SILENCE : first;
    }

    /** Whether a claim of these terms and one of {@code other} use a name in the same way. */
    public boolean agreesWith(Terms other) {
        return limit == other.limit && (mode == Mode.PERMITS) == (other.mode == Mode.PERMITS);
    }
}
