// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.model;

import java.time.Duration;

/**
 * The real time of a script. Nothing short ends while the steps between two pauses are played, everything short has
 * ended after a pause, and nothing long ever ends; a run that was too slow for that proves nothing.
 *
 * <p>Short patience and a segment together are shorter than a short lease and than a short lock-delay, so that nobody with short
 * patience is still there when a lease or a lock-delay ends: a store that hands over at that very moment and one that does so
 * when it is next asked must not be told apart.
 *
 * <p>A short lease is not shorter than the shortest {@linkplain io.lockkeeper.spi.Terms#allowedSilence silence}, and ends in a
 * pause: so after a pause all claims of a short lease have been silent.
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
    /** Means forever, here. */
    static final Duration LONG = Duration.ofHours(1);

    private static final Duration WHOLE = Duration.ofMillis(2_700);

    /** Nothing ends by itself. */
    static Pace still() {
        return new Pace(LONG, LONG, LONG, WHOLE, Duration.ZERO, WHOLE, 0);
    }

    /**
     * What is short ends in a pause.
     *
     * @param shortestLease of the store
     * @param hasSessions whether clients have sessions with the store
     */
    static Pace pausing(Duration shortestLease, boolean hasSessions) {
        Duration least = Duration.ofSeconds(1);
        Duration lease = shortestLease.compareTo(least) > 0 ? shortestLease : least;
        Duration patience = Duration.ofMillis(350);
        Duration lockDelay = Duration.ofMillis(700);
        Duration segment = Duration.ofMillis(300);
        Duration pause = lease.plus(lockDelay).plusMillis(100);
        Duration whole = lease.equals(least) && !hasSessions ? WHOLE : LONG;
        return new Pace(lease, patience, lockDelay, segment, pause, whole, 1);
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

    /**
     * Whether claims of a short lease may have long patience, so that they are in the queue when a grant that nobody took up
     * expires, and are skipped if they have been silent. Not on stores with sessions, which skip nobody and may hand over at the
     * very moment a lease ends.
     */
    boolean skipsSilentClaims() {
        return pauses > 0 && longLeasesQueue();
    }
}
