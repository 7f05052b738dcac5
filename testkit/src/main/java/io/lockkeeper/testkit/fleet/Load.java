// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testkit.fleet;

import io.lockkeeper.Guarantees;
import io.lockkeeper.testkit.history.History;
import io.lockkeeper.testkit.history.HistoryMode;
import java.time.Duration;

/** What {@link RandomUser}s have in common: the names they use, the storage that these protect, and when to stop. */
public interface Load {
    /** Where they are recorded. */
    History history();

    /** What the store promises. */
    Guarantees guarantees();

    /** Whether two never hold at once, whatever is done to the store. */
    default boolean isExclusive() {
        return true;
    }

    /** A lock that is used alone. */
    String lock();

    /** A lock that is read and written under. */
    String readWriteLock();

    /** A semaphore, which is declared in the history. */
    String semaphore();

    /** The permits of the semaphore. */
    int permits();

    /** A wait without limit has ended by then, if it ever does. */
    Duration patient();

    /** Whether to go on with another operation, which is thereby counted. */
    boolean next();

    /** Writes to the storage that this lock protects; false when the token is stale. */
    boolean write(String lock, HistoryMode mode, long token);

    /** Notes what no rule of the checker covers. */
    void complain(String what);
}
