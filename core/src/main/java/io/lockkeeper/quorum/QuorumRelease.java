// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.quorum;

import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.Grant;

/** Ends holds and claims, everywhere. */
final class QuorumRelease {
    private final Ensemble all;

    QuorumRelease(Ensemble all) {
        this.all = all;
    }

    /**
     * Releases at all members. It was held if a majority found it, or was not reached and surely has it: such a member is
     * told when it is next heard of.
     */
    boolean release(QuorumHold quorumHold, boolean stray) {
        quorumHold.finish();
        Round<Boolean> found = all.askAll(Member.Kind.STEP, member -> releaseAt(member, quorumHold, stray));
        found.awaitMost(all.patience(), all.size(), () -> found.answered() >= all.majority());
        long now = all.now();
        int held = 0;
        for (Member member : all.members()) {
            Boolean was = found.answer(member.number());
            boolean isHeld = was != null ? was : quorumHold.isHeldAt(member.number(), now);
            held += isHeld ? 1 : 0;
        }
        all.requireMajority(found, "a release of '" + quorumHold.claim().name() + "'");
        all.quorumHolds().remove(quorumHold.claim().id(), quorumHold);
        all.standby().changed(quorumHold.claim().name());
        return held >= all.majority();
    }

    private boolean releaseAt(Member member, QuorumHold quorumHold, boolean stray) {
        int number = member.number();
        if (quorumHold.wasReleased(number)) {
            return true; // by an earlier copy of this step
        }
        Grant held = all.grantAt(member, quorumHold);
        if (held == null) {
            return false;
        }
        Claim claim = stray ? held.claim().asStray() : held.claim();
        Grant grant = new Grant(claim, held.mode(), held.token(), held.block());
        try {
            boolean found = member.step(store -> store.release(grant));
            if (found) {
                quorumHold.released(number);
            }
            return found;
        } catch (StoreUnavailableException e) {
            member.leave(grant.claim());
            throw e;
        }
    }

    /** Withdraws at all members; those that cannot be reached now are sent it later. */
    void withdraw(Claim claim) {
        QuorumHold known = all.quorumHolds().remove(claim.id());
        QuorumHold quorumHold = known != null ? known : new QuorumHold(claim, all.size());
        quorumHold.finish();
        Round<Boolean> told = all.askAll(Member.Kind.STEP, member -> withdrawAt(member, quorumHold, claim));
        told.awaitMost(all.patience(), all.size(), () -> told.answered() >= all.majority());
        all.requireMajority(told, "a withdrawal from '" + claim.name() + "'");
    }

    private boolean withdrawAt(Member member, QuorumHold quorumHold, Claim claim) {
        Claim sent = quorumHold.sent(member.number());
        Claim addressed = sent == null ? member.address(claim) : claim.stray() ? sent.asStray() : sent;
        try {
            return member.step(store -> {
                store.withdraw(addressed);
                return true;
            });
        } catch (StoreUnavailableException e) {
            member.leave(addressed);
            throw e;
        }
    }
}
