// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.model;

import io.lockkeeper.spi.ClaimId;
import io.lockkeeper.spi.StoreTime;

/** What a name's rules need from the store around it. */
public interface Ledger {
    /** The store's time, at which the command is carried out. */
    StoreTime time();

    /**
     * Fresh tokens, each greater than all that the name has had.
     *
     * @param atMost how many are wanted; there may be fewer, but one
     */
    Tokens draw(int atMost);

    /**
     * A block of tokens.
     *
     * @param first the first
     * @param count how many
     */
    record Tokens(long first, int count) {}

    /** Refuses this id until the deadline has passed, after which it would be refused as late. */
    void remember(ClaimId id, StoreTime deadline);

    /** Whether this id is to be refused. */
    boolean remembers(ClaimId id);

    /**
     * Remembers that the hold with this id was broken at once, until its lease would have ended, in µs: so that its client, when it
     * asks, hears why it is gone.
     */
    void rememberBroken(ClaimId id, long until);

    /** Whether the hold with this id was broken at once. */
    boolean remembersBroken(ClaimId id);

    /** Tells a client something. */
    void tell(Signal signal);
}
