// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.quorum;

import io.lockkeeper.StoreUnavailableException;
import java.time.Duration;

/**
 * The record that a member keeps of the quorum it belongs to. A member that has it remembers what it has granted; one that
 * has not has lost its memory, or never had one.
 *
 * <p>It is the count of a latch: latches live apart from locks, never expire, are set by one atomic step if they are not
 * set, and counted down by another. While a member sits out, its marker is <em>provisional</em>; counting it down by one
 * makes it final. Several who do so at the same time do no harm: there is room below. The count stays under 2⁵³, so that
 * no store that counts in doubles spoils it:
 *
 * <pre>
 * quorum 16 bits · nonce 4 bits · longest lease in seconds 17 bits · members 3 bits · number 3 bits · state 10 bits
 * </pre>
 *
 * @param quorum a random number, the same in all members
 * @param nonce tells two provisional markers apart, as the latch's generation does
 * @param longestLease see {@link QuorumOptions#longestLease}
 * @param members how many there are
 * @param number which of them this is, counted from 0
 * @param isFinal false while the member sits out
 */
record Marker(int quorum, int nonce, Duration longestLease, int members, int number, boolean isFinal) {
    /** The latch. */
    static final String NAME = "lockkeeper-quorum";

    static final int QUORUMS = 1 << 16;
    static final int NONCES = 1 << 4;

    private static final int PROVISIONAL = 1023;

    long count() {
        return ((long) quorum << 37)
                | ((long) nonce << 33)
                | (longestLease.toSeconds() << 16)
                | ((long) members << 13)
                | ((long) number << 10)
                | (isFinal ? PROVISIONAL - 1 : PROVISIONAL);
    }

    static Marker of(long count) {
        if ((count & PROVISIONAL) == 0 || count >>> 53 != 0) {
            throw StoreUnavailableException.lasting(
                    "the latch '" + NAME + "' has the count " + count
                            + ", which is no marker of a quorum that this version knows",
                    null);
        }
        return new Marker(
                (int) (count >>> 37),
                (int) (count >>> 33) & 15,
                Duration.ofSeconds((count >>> 16) & 0x1ffff),
                (int) (count >>> 13) & 7,
                (int) (count >>> 10) & 7,
                (count & PROVISIONAL) != PROVISIONAL);
    }

    /** Refuses a member that is marked otherwise than it is listed. */
    void mustAgreeWith(Marker listed) {
        if (!longestLease.equals(listed.longestLease) || members != listed.members || number != listed.number) {
            throw StoreUnavailableException.lasting(
                    "the store listed here as " + listed + " is marked as " + this
                            + ": all clients of a quorum must list the same members in the same order, with the same"
                            + " longest lease",
                    null);
        }
    }

    @Override
    public String toString() {
        return "member " + (number + 1) + " of " + members + " with leases of up to " + longestLease;
    }
}
