// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.StoreTime;
import org.jspecify.annotations.Nullable;

/**
 * A claim that has been, or is being, sent to the store and is not settled yet. It keeps what is needed to say how long a
 * grant that comes by signal is valid: when the last answer's request was sent, and the store's time in that answer.
 */
final class Pending {
    /** How much slower than ours a store's clock may run, in parts of the time measured: a hundredth. */
    private static final int DRIFT = 100;

    /**
     * We look again after so long at the latest, however patient we are: whoever is before us in the queue may die
     * unnoticed, and nobody would look for the end of its lease.
     */
    private static final long SLOWEST_LOOK = 5_000_000_000L;

    final LocalQueue queue;
    final Object lane;

    /** As it was last sent. */
    volatile Claim claim;

    /** Our time just before the request was sent that the store answered last. */
    volatile long sent;

    /** When the claim is to be refreshed. */
    volatile long refreshAt = Long.MAX_VALUE;

    /** Our time when the store was last heard of this claim. */
    volatile long lastContact;

    /** Whether a refresh is under way. */
    volatile boolean refreshing;

    // Guarded by the queue.
    boolean inStep = true;
    boolean isRefreshed;
    Answer.@Nullable Granted early;

    private @Nullable StoreTime answeredAt;

    Pending(LocalQueue queue, Object lane, Claim claim, long now) {
        this.queue = queue;
        this.lane = lane;
        this.claim = claim;
        this.sent = now;
        this.lastContact = now;
    }

    /** The store has said that the claim is queued, in answer to a request sent at {@code sentAt}. */
    synchronized void queued(Answer.Queued answer, long sentAt, long now) {
        sent = sentAt;
        answeredAt = answer.at();
        lastContact = now;
        // A millisecond on top, so that the store finds the lease before us ended and not about to end.
        refreshAt = sentAt + Math.min(answer.retryAfter().toNanos(), SLOWEST_LOOK) + 1_000_000;
    }

    /**
     * The latest moment, on our clock, that is certain to be no later than that of a grant told by signal; negative when
     * nothing is certain because the store's clock is another one now.
     */
    synchronized long startOf(Answer.Granted grant, long receivedAt) {
        if (answeredAt == null) {
            return sent;
        }
        if (answeredAt.incarnation() != grant.at().incarnation()) {
            return -1;
        }
        long elapsed = Math.max(0, grant.at().micros() - answeredAt.micros()) * 1_000;
        return Math.min(sent + elapsed - elapsed / DRIFT, receivedAt);
    }
}
