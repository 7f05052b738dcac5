// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.spi;

import java.time.Duration;
import java.util.List;

/**
 * What a client keeps alive in one lane: holds, and places in queues.
 *
 * @param holds the holds to renew
 * @param queued the queued claims to refresh
 */
public record Renewals(List<Hold> holds, List<Claim> queued) {
    /** Copies the lists. */
    public Renewals {
        holds = List.copyOf(holds);
        queued = List.copyOf(queued);
    }

    /**
     * A hold to renew.
     *
     * @param grant which
     * @param lease the lease lasts at least that long from now; a renewal never shortens it
     * @param raiseTo the name's later tokens are to be greater than this, and the grant's token and block are the hold's from
     *     now on; 0 to leave both alone. A quorum gives its members the tokens that it has chosen in this way. A store that does
     *     not promise {@link io.lockkeeper.Guarantee#RAISES_TOKENS} throws {@link UnsupportedOperationException}
     */
    public record Hold(Grant grant, Duration lease, long raiseTo) {}
}
