// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.model;

import io.lockkeeper.spi.Claim;

/** One who waits. */
public final class Waiting {
    Claim claim;
    long until;

    /** A queued claim, and when it vanishes unless it is refreshed, in µs of store time. */
    public Waiting(Claim claim, long until) {
        this.claim = claim;
        this.until = until;
    }

    /** The claim. */
    public Claim claim() {
        return claim;
    }

    /** When it vanishes unless it is refreshed. */
    public long until() {
        return until;
    }

    /**
     * Whether it was not refreshed after a hand-over, and has been silent at {@code now} for longer than a live client is.
     */
    boolean isSilent(long handedOver, long now) {
        long refreshed = until - NameState.micros(claim.terms().patience());
        return refreshed <= handedOver
                && now - refreshed >= NameState.micros(claim.terms().allowedSilence());
    }
}
