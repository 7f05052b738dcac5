// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck;

import java.time.Duration;

/**
 * The real time of a script. Nothing short ends while the steps between two pauses are played, everything short has
 * ended after a pause, and nothing long ever ends; a run that was too slow for that proves nothing.
 *
 * <p>Short patience and a segment together are shorter than a short lease and than a short lock-delay, so that nobody with short
 * patience is still there when a lease or a lock-delay ends:
 * a store that hands over at that very moment and one that does so when it is next asked must not be told apart.
 *
 * @param lease short
 * @param patience short, and less than the lease
 * @param lockDelay short
 * @param segment the longest time from one pause to the next
 * @param pause how long a pause is
 * @param whole the longest time of a whole script: less than {@link io.lockkeeper.spi.Terms#FIRST_LEASE}, with which a
 *     handed-over grant of a long lease begins
 * @param pauses how many there are in a script
 */
record Pace(
        Duration lease,
        Duration patience,
        Duration lockDelay,
        Duration segment,
        Duration pause,
        Duration whole,
        int pauses) {
    /** Stands for ever, here. */
    static final Duration LONG = Duration.ofHours(1);

    private static final Duration WHOLE = Duration.ofMillis(2_700);

    /** Nothing ends by itself. */
    static Pace still() {
        return new Pace(LONG, LONG, LONG, WHOLE, Duration.ZERO, WHOLE, 0);
    }

    /** What is short ends in a pause, on a store that has leases not shorter than so. */
    static Pace pausing(Duration shortestLease) {
        Duration least = Duration.ofMillis(900);
        Duration lease = shortestLease.compareTo(least) > 0 ? shortestLease : least;
        Duration patience = Duration.ofMillis(450);
        Duration lockDelay = Duration.ofMillis(800);
        Duration segment = Duration.ofMillis(300);
        Duration pause = lease.plus(lockDelay).plusMillis(100);
        return new Pace(lease, patience, lockDelay, segment, pause, lease.equals(least) ? WHOLE : LONG, 1);
    }

    /**
     * How long scripts that share a pause may be played up to it, so that the last is not too late for the first; and that a
     * long lease of the first is still about as long as it was.
     */
    Duration batch() {
        return longLeasesQueue() ? Duration.ofMillis(250) : Duration.ofSeconds(10);
    }

    /** Whether a long lease may wait in a queue: its first lease is to outlive the script. */
    boolean longLeasesQueue() {
        return whole.equals(WHOLE);
    }
}
