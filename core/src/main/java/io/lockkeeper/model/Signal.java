// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.model;

import io.lockkeeper.LeaseLost;
import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.ClaimId;
import io.lockkeeper.spi.Signals;

/** A signal that a command gave rise to. */
public sealed interface Signal {
    /** The client to be told. */
    String client();

    /** Tells it. */
    void deliver(Signals signals);

    /** A queued claim was granted. */
    record Granted(ClaimId claim, Answer.Granted grant) implements Signal {
        @Override
        public String client() {
            return claim.client();
        }

        @Override
        public void deliver(Signals signals) {
            signals.granted(claim, grant);
        }
    }

    /** A hold is being broken. */
    record Recalled(ClaimId claim) implements Signal {
        @Override
        public String client() {
            return claim.client();
        }

        @Override
        public void deliver(Signals signals) {
            signals.recalled(claim);
        }
    }

    /** A hold has ended without a release. */
    record Lost(ClaimId claim, LeaseLost.Reason reason) implements Signal {
        @Override
        public String client() {
            return claim.client();
        }

        @Override
        public void deliver(Signals signals) {
            signals.lost(claim, reason);
        }
    }

    /** A latch has reached zero. */
    record Opened(String client, String latch) implements Signal {
        @Override
        public void deliver(Signals signals) {
            signals.opened(latch);
        }
    }
}
