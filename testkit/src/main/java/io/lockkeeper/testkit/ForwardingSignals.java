// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testkit;

import io.lockkeeper.LeaseLost;
import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.ClaimId;
import io.lockkeeper.spi.Signals;

/** A listener that passes on everything to another one: extend it to change single signals. */
public class ForwardingSignals implements Signals {
    private final Signals target;

    /** Passes on everything to {@code target}. */
    public ForwardingSignals(Signals target) {
        this.target = target;
    }

    @Override
    public void granted(ClaimId claim, Answer.Granted grant) {
        target.granted(claim, grant);
    }

    @Override
    public void recalled(ClaimId claim) {
        target.recalled(claim);
    }

    @Override
    public void changed(ClaimId claim) {
        target.changed(claim);
    }

    @Override
    public void lost(ClaimId claim, LeaseLost.Reason reason) {
        target.lost(claim, reason);
    }

    @Override
    public void opened(String latch) {
        target.opened(latch);
    }

    @Override
    public void sessionLost(String why) {
        target.sessionLost(why);
    }

    @Override
    public void missed() {
        target.missed();
    }
}
