// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.spi;

import io.lockkeeper.LeaseLost;

/**
 * What a store tells a client without being asked. Signals are hints: each comes at most once, may be late and may be
 * lost. The methods return quickly, throw nothing, and may be called from any thread.
 */
public interface Signals {
    /** A queued claim was granted. */
    void granted(ClaimId claim, Answer.Granted grant);

    /** The hold is being broken: stop, then release it to acknowledge. */
    void recalled(ClaimId claim);

    /** The hold has ended without a release. */
    void lost(ClaimId claim, LeaseLost.Reason reason);

    /** The latch of this name has reached zero. */
    void opened(String latch);

    /** The client's session has ended, and with it all its holds and queued claims. */
    void sessionLost(String why);

    /** Signals may have been lost, as after a reconnect: look again at everything that is queued. */
    void missed();
}
