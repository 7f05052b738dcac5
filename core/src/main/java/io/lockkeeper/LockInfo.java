// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper;

import java.time.Duration;
import java.time.Instant;
import java.util.List;

/**
 * What the store knows of a name in use, at the moment it was asked.
 *
 * @param name the name
 * @param mode how it is held, or, while nobody holds it, how the first waiter wants it
 * @param limit the number of permits of a semaphore; 0 for a lock
 * @param holders who holds it; the order means nothing
 * @param waiters how many claims are queued (threads of one process may share one)
 * @param closedFor how long the name stays closed by a lock-delay; zero when it is open
 */
public record LockInfo(String name, Mode mode, int limit, List<Hold> holders, int waiters, Duration closedFor) {
    /** Copies the holders. */
    public LockInfo {
        holders = List.copyOf(holders);
    }

    /** For messages and logs: without control characters. */
    @Override
    public String toString() {
        return "LockInfo[name=" + LockkeeperException.printable(name) + ", mode=" + mode + ", limit=" + limit
                + ", holders=" + holders + ", waiters=" + waiters + ", closedFor=" + closedFor + "]";
    }

    /**
     * One hold of the name.
     *
     * @param client the name of the client that holds it
     * @param label what the client says of the hold
     * @param token the first of the hold's fencing tokens; threads of one process that pass the hold on count up
     * @param permits how many permits it has; 1 for a lock
     * @param since since when, by the store's clock
     * @param expiresIn when the lease ends unless it is renewed
     */
    public record Hold(String client, String label, long token, int permits, Instant since, Duration expiresIn) {
        /** For messages and logs: without control characters. */
        @Override
        public String toString() {
            return "Hold[client=" + LockkeeperException.printable(client) + ", label="
                    + LockkeeperException.printable(label) + ", token=" + token + ", permits=" + permits + ", since="
                    + since + ", expiresIn=" + expiresIn + "]";
        }
    }
}
