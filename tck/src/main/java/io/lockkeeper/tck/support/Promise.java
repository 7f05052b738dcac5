// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.support;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.lockkeeper.Guarantee;
import io.lockkeeper.Guarantees;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.ClaimId;
import io.lockkeeper.spi.Liveness;
import io.lockkeeper.spi.LockStore;
import io.lockkeeper.spi.StoreTime;

/** What a test requires: it is not run on a store that does not promise this. */
public final class Promise {
    private Promise() {}

    /** Ends the test when the store does not promise this. {@code ./check} knows such tests by these words. */
    public static void needed(Guarantees guarantees, Guarantee guarantee) {
        assumeTrue(guarantees.has(guarantee), () -> "the store does not promise " + guarantee);
    }

    /** Ends the test when all that a dead client has in the store ends with its session, and nothing by the lease alone. */
    public static void neededWithoutSessions(LockStore store) {
        assumeTrue(
                !hasSessions(store), "the store does not promise to skip silent claims: they end with their session");
    }

    /** Whether a client has a session with this store. */
    public static boolean hasSessions(LockStore store) {
        StoreTime never = new StoreTime(0, 0);
        Claim any = new Claim("any", new ClaimId("nobody", 1), StepContract.exclusive(), never, false);
        return store.liveness(any) != Liveness.FOREVER;
    }
}
