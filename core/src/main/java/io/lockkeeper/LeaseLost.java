// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper;

import java.time.Duration;
import java.util.Objects;

/**
 * Reports that a hold is lost. It is reported once, if time allows at least {@code min(lease / 10, 2 s)} before the
 * store may grant the lock to others; on ZooKeeper, when the session may end, a tenth of the session (at most 2 s)
 * before. From then on {@link Lease#isValid()} is false, {@link Lease#renew} and {@link Lease#release} return false,
 * and the hold cannot be recovered.
 *
 * @param name the name that was held; of a lease on several locks, the part that was lost
 * @param token the fencing token of the hold
 * @param reason why it is lost
 * @param remaining the time left to stop: until then the store grants the lock to nobody else; zero if there is none
 */
public record LeaseLost(String name, long token, Reason reason, Duration remaining) {
    public LeaseLost {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(reason, "reason");
        Objects.requireNonNull(remaining, "remaining");
    }

    /** For messages and logs: the name without control characters. */
    @Override
    public String toString() {
        return "LeaseLost[name=" + LockkeeperException.printable(name) + ", token=" + token + ", reason=" + reason
                + ", remaining=" + remaining + "]";
    }

    /** Why a hold was lost. */
    public enum Reason {
        /**
         * The lease ended: a fixed lease ran out, or this process stood still for too long to renew; or the store no longer
         * knew the hold, for instance because it has lost its data.
         */
        EXPIRED,
        /** An operator broke the hold. */
        BROKEN,
        /** The client's session at the store ended. */
        SESSION_LOST,
        /** The store could not be reached to renew the lease. */
        STORE_UNREACHABLE,
        /** The hold reached its {@link LockOptions#maxHold(Duration) longest time}. */
        MAX_HOLD,
        /** The thread that locked has died, or the lease became unreachable without having been closed. */
        OWNER_DIED,
        /** The {@link Lockkeeper} was closed. */
        CLOSED
    }
}
