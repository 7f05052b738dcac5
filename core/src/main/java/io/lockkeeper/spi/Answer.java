// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.spi;

import java.time.Duration;

/** What the store says to a claim, or of a queued claim that is refreshed. */
public sealed interface Answer {
    /** When the store decided it. */
    StoreTime at();

    /**
     * The claim holds the name.
     *
     * @param token the first token
     * @param block how many tokens belong to the grant, at least 1
     * @param remaining what remains of the lease
     * @param confirmed false while a handed-over grant still has its short first lease
     * @param at when the store decided it
     */
    record Granted(long token, int block, Duration remaining, boolean confirmed, StoreTime at) implements Answer {}

    /**
     * The claim is in the queue.
     *
     * @param ahead how many claims are before it in the queue
     * @param retryAfter when to look again at the latest, should no signal come
     * @param at when the store decided it
     */
    record Queued(int ahead, Duration retryAfter, StoreTime at) implements Answer {}

    /**
     * The claim neither holds the name nor is in the queue.
     *
     * @param why why
     * @param detail for people: how the name is used (CONFLICT), or why that is undecided; otherwise empty, or a hint
     * @param retryAfter when a claim that would wait should be made again, by a store that cannot queue it
     * @param at when the store decided it
     */
    record Refused(Why why, String detail, Duration retryAfter, StoreTime at) implements Answer {}

    /** Why a claim was refused. */
    enum Why {
        /** The name is taken, and the claim would not queue. */
        BUSY,
        /** The claim came after its deadline. */
        LATE,
        /** The id was used up: withdrawn or ended, or, for a refresh, no longer in the queue. */
        GONE,
        /** The name is in use in another way. */
        CONFLICT,
        /**
         * The store answers, but cannot tell yet who may have the name, such as after a loss of data: that is an outage that
         * ends by itself. A claim that waits is made again; for one that does not, it is a failure.
         */
        UNDECIDED
    }
}
