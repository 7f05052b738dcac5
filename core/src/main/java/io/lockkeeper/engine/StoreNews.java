// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import io.lockkeeper.StoreUnavailableException;
import org.jspecify.annotations.Nullable;

/**
 * What the store has last said to the waiters of a {@link LocalQueue}, and which of them it concerns: those whom it has told
 * to wait are patient during an outage. Guarded by the queue.
 */
final class StoreNews {
    /** The waiters up to this place have been told to wait. */
    private long toldUpTo;

    /** When the store last said so. */
    private long toldAt;

    private @Nullable StoreUnavailableException outage;

    /** Why the store cannot be asked, while those who wait are patient; null if it can, as far as is known. */
    @Nullable
    StoreUnavailableException outage() {
        return outage;
    }

    /** The waiters up to that place have been told to wait. */
    void toldToWait(long place, long at) {
        toldUpTo = place;
        toldAt = at;
    }

    /** A waiter has come to a claim that is queued already. */
    void toldToWait(long place) {
        toldUpTo = place;
    }

    /** The store was heard of. */
    void heardOf(long at) {
        toldAt = at;
    }

    boolean isRecent(long now, long timeout) {
        return outage != null || now - toldAt <= timeout;
    }

    /** The waiters up to this place bear a failure that comes now; 0 for none. */
    long patientUpTo(Throwable failure, long now, long patience) {
        boolean isPatient = failure instanceof StoreUnavailableException e
                && e.worthRepeating()
                && toldUpTo > 0
                && now - toldAt < patience;
        return isPatient ? toldUpTo : 0;
    }

    void failed(StoreUnavailableException why) {
        outage = why;
    }

    void answered() {
        outage = null;
    }
}
