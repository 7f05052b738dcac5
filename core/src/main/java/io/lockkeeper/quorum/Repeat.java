// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.quorum;

import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.Grant;
import io.lockkeeper.spi.Renewal;
import io.lockkeeper.spi.Renewals;
import io.lockkeeper.spi.StoreTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** Says where a claim stands that may have been granted before, without ever granting it again. */
final class Repeat {
    private final Ensemble all;

    Repeat(Ensemble all) {
        this.all = all;
    }

    /** The same grant again, with what remains of it, if a majority of members still knows it. */
    Answer standing(Claim claim) {
        QuorumHold quorumHold = all.quorumHolds().get(claim.id());
        if (quorumHold == null || quorumHold.isOver()) {
            return gone();
        }
        Round<Duration> left = all.askEveryone(
                "where a claim of '" + claim.name() + "' stands", member -> leftAt(member, quorumHold, claim.stray()));
        List<Duration> each = new ArrayList<>();
        StoreTime at = all.time();
        long now = all.now(); // not before that
        for (Member member : all.members()) {
            Duration said = left.answer(member.number());
            each.add(said != null ? said : quorumHold.leftAt(member.number(), now)); // or what it last gave
        }
        each.removeIf(Duration::isZero);
        if (each.size() < all.majority()) {
            return gone();
        }
        each.sort(Comparator.reverseOrder());
        // A member may have begun the lease again, with the tokens, after the hold was reported.
        long most = Math.min(each.get(all.majority() - 1).toNanos(), quorumHold.reportedAfter(now));
        if (most <= 0) {
            return gone();
        }
        Grant grant = quorumHold.grant();
        return new Answer.Granted(grant.token(), grant.block(), Duration.ofNanos(most), true, at);
    }

    private static Duration leftAt(Member member, QuorumHold quorumHold, boolean stray) {
        Claim sent = quorumHold.sent(member.number());
        if (sent == null) {
            return Duration.ZERO;
        }
        Renewals refresh = new Renewals(List.of(), List.of(stray ? sent.asStray() : sent));
        Renewal answer = member.step(sent.name(), store -> store.renew(refresh), Renewal::at);
        // One that granted it after it was reported does not have its tokens, and shows another hold to those who look.
        boolean has = quorumHold.isWritten(member.number());
        return has && answer.queued().get(0) instanceof Answer.Granted granted ? granted.remaining() : Duration.ZERO;
    }

    private Answer gone() {
        return new Answer.Refused(Answer.Why.GONE, "", Duration.ZERO, all.time());
    }
}
