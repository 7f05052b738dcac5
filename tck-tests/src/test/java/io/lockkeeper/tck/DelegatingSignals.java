// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck;

import io.lockkeeper.LeaseLost;
import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.ClaimId;
import io.lockkeeper.spi.Signals;

/** Tells what another listener is told: to be broken in one place. */
class DelegatingSignals implements Signals {
    private final Signals signals;

    DelegatingSignals(Signals signals) {
        this.signals = signals;
    }

    @Override
    public void granted(ClaimId claim, Answer.Granted grant) {
        signals.granted(claim, grant);
    }

    @Override
    public void recalled(ClaimId claim) {
        signals.recalled(claim);
    }

    @Override
    public void changed(ClaimId claim) {
        signals.changed(claim);
    }

    @Override
    public void lost(ClaimId claim, LeaseLost.Reason reason) {
        signals.lost(claim, reason);
    }

    @Override
    public void opened(String latch) {
        signals.opened(latch);
    }

    @Override
    public void sessionLost(String why) {
        signals.sessionLost(why);
    }

    @Override
    public void missed() {
        signals.missed();
    }
}
