// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.spi;

import io.lockkeeper.LeaseLost;

/**
 * What a store tells a client without being asked. Signals are hints: each comes at most once, may be late and may be
 * lost. The methods return quickly, throw nothing, and may be called from any thread.
 */
public interface Signals {
    /** A queued claim was granted, as the store itself says: the engine believes it. */
    void granted(ClaimId claim, Answer.Granted grant);

    /** The hold is being broken: stop, then release it to acknowledge. */
    void recalled(ClaimId claim);

    /** The hold has ended without a release. */
    void lost(ClaimId claim, LeaseLost.Reason reason);

    /**
     * Something may have happened to this claim, queued or held: the engine asks the store. A message that others could have
     * sent, as on a channel that they may write to, is passed on in this way, so that a forged one does no harm.
     */
    void changed(ClaimId claim);

    /** The latch of this name has reached zero. */
    void opened(String latch);

    /** The client's session has ended, and with it all its holds and queued claims. */
    void sessionLost(String why);

    /**
     * Signals may have been lost, as after a reconnect, and the store may have lost its data: look again at everything that is
     * queued or held.
     */
    void missed();
}
