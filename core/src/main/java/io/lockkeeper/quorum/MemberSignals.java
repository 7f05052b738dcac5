// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.quorum;

import io.lockkeeper.LeaseLost;
import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.ClaimId;
import io.lockkeeper.spi.Signals;

/**
 * What a member's signals mean to a client of the quorum. Only one does: that a hold is being, or was, broken, which all
 * members are asked for; the client is notified when a majority has said so. A member that can only say that something has
 * changed makes the client ask all of them. That one member has lost a hold, or its clients, is for the next renewal to
 * find out.
 */
final class MemberSignals implements Signals {
    private final Ensemble all;
    private final int member;
    private final Signals client;

    MemberSignals(Ensemble all, int member, Signals client) {
        this.all = all;
        this.member = member;
        this.client = client;
    }

    @Override
    public void recalled(ClaimId claim) {
        QuorumHold quorumHold = all.quorumHolds().get(claim);
        if (quorumHold != null && quorumHold.recalledBy(member)) {
            client.recalled(claim);
        }
    }

    @Override
    public void lost(ClaimId claim, LeaseLost.Reason reason) {
        QuorumHold quorumHold =
                reason == LeaseLost.Reason.BROKEN ? all.quorumHolds().get(claim) : null;
        if (quorumHold != null && quorumHold.brokenBy(member)) {
            client.lost(claim, reason);
        }
    }

    @Override
    public void changed(ClaimId claim) {
        if (all.quorumHolds().get(claim) != null) {
            client.changed(claim);
        }
    }

    @Override
    public void granted(ClaimId claim, Answer.Granted grant) {}

    @Override
    public void opened(String latch) {}

    @Override
    public void sessionLost(String why) {}

    @Override
    public void missed() {}
}
