// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.quorum;

import io.lockkeeper.Mode;
import io.lockkeeper.spi.Terms;
import java.util.List;
import java.util.Optional;

/**
 * The tokens of a hold, chosen from those that a majority of members have given.
 *
 * <p><b>They rise.</b> An earlier, conflicting hold had its tokens written back to a majority before it was reported;
 * one of ours is among them, and gave us a greater one. So the greatest of ours is greater than all of its.
 *
 * <p><b>They are unique</b>, also among readers that come at the same time and know nothing of each other. Two blocks of one
 * member never meet, but a block of one member may meet that of another. So numbers are dealt out in stripes, in turn, one
 * stripe to each member, and readers use only what lies in a stripe of the member that gave it. Where blocks have shrunk to
 * single tokens there may be none; then the attempt fails, and the next one draws again.
 *
 * @param token the first token
 * @param block how many
 */
record TokenChoice(long token, int block) {
    /** Any 64 numbers in a row have a whole stripe of each of up to seven members. */
    static final int STRIPE = 8;

    /** What a reader asks each member for, so that there is a stripe in it. */
    static final int SHARED_BLOCK = 64;

    /** A block that a member has given. */
    record Offer(int member, long token, int block) {}

    /** What is to be asked of a member. */
    static int blockOf(Terms terms) {
        return terms.mode() == Mode.SHARED ? Math.max(SHARED_BLOCK, terms.block()) : terms.block();
    }

    static Optional<TokenChoice> of(List<Offer> offers, int members, Terms terms) {
        Offer greatest = offers.get(0);
        for (Offer offer : offers) {
            greatest = offer.token > greatest.token ? offer : greatest;
        }
        if (terms.mode() != Mode.SHARED) {
            return Optional.of(new TokenChoice(greatest.token, Math.max(1, Math.min(terms.block(), greatest.block))));
        }
        Optional<TokenChoice> best = Optional.empty();
        for (Offer offer : offers) {
            Optional<TokenChoice> own = own(offer, greatest.token, members, Math.max(1, terms.block()));
            if (own.isPresent() && (best.isEmpty() || own.get().block > best.get().block)) {
                best = own;
            }
        }
        return best;
    }

    /** The longest run in one of the member's own stripes that is not below {@code least}. */
    private static Optional<TokenChoice> own(Offer offer, long least, int members, int most) {
        Optional<TokenChoice> best = Optional.empty();
        long end = offer.token + offer.block;
        for (long first = Math.max(offer.token, least); first < end; ) {
            long next = (first / STRIPE + 1) * STRIPE;
            int length = (int) Math.min(Math.min(next, end) - first, most);
            boolean isOwn = first / STRIPE % members == offer.member;
            if (isOwn && (best.isEmpty() || length > best.get().block)) {
                best = Optional.of(new TokenChoice(first, length));
            }
            first = next;
        }
        return best;
    }
}
