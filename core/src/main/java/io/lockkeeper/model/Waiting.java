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
}
