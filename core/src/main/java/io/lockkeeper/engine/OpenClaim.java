// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.StoreTime;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * One claim of this keeper, from before it is sent until it has ended in the store: in flight, queued, held, or of unknown
 * outcome. It is the owner of the duty to end it there, which {@link Claims} does once. While it is queued it keeps what is
 * needed to say how long a grant that comes by signal is valid: when the last answer's request was sent, and the store's
 * time in that answer.
 */
final class OpenClaim {
    /** {@link #startOf}: nothing is certain, because the store's clock is another one now. */
    static final long UNKNOWN = -1;

    /** {@link #startOf}: the store has said since then that the claim is queued, so the grant has ended. */
    static final long STALE = -2;

    /** How much slower than ours a store's clock may run, in parts of the time measured: a hundredth. */
    private static final int DRIFT = 100;

    /**
     * The longest time until we look again, however patient we are: those before us in the queue may die unnoticed, and
     * nobody would look for the end of their lease.
     */
    private static final long SLOWEST_LOOK = 5_000_000_000L;

    final LocalQueue queue;
    final Lane lane;

    /** As it was last sent. */
    volatile Claim claim;

    /** Our time just before the request was sent that the store answered last. */
    volatile long sent;

    /** What this keeper has of it once it is granted. */
    volatile @Nullable Hold hold;

    /** When the claim is to be refreshed; {@link Long#MAX_VALUE} while it is not queued. */
    volatile long refreshAt = Long.MAX_VALUE;

    /** Our time when the store last answered about this claim. */
    volatile long lastContact;

    /** Whether a refresh is under way. */
    volatile boolean refreshing;

    /** Our time when a signal last said that something may have become of it, or of everything. */
    private volatile long doubtedAt = Long.MIN_VALUE;

    /** Why the store could not be asked about it the last time; null when it could. */
    volatile @Nullable StoreUnavailableException failure;

    // Guarded by the queue.
    boolean inStep = true;
    Answer.@Nullable Granted early;

    /** Whether a signal came since it was last asked about. */
    boolean changed;

    private final AtomicBoolean ending = new AtomicBoolean();
    private final long refreshWithin;
    private @Nullable StoreTime answeredAt;
    private long askedAt = Long.MIN_VALUE;

    /** A claim that is refreshed at that interval at least while it is queued. */
    OpenClaim(LocalQueue queue, Lane lane, Claim claim, long refreshWithin) {
        this.queue = queue;
        this.lane = lane;
        this.claim = claim;
        this.refreshWithin = refreshWithin;
    }

    /** True the first time: somebody has taken the duty to end it. */
    boolean startEnding() {
        return ending.compareAndSet(false, true);
    }

    boolean isEnding() {
        return ending.get();
    }

    /** The store has said that the claim is queued, in answer to a request sent at {@code sentAt}. */
    synchronized void queued(Answer.Queued answer, long sentAt, long now) {
        sent = sentAt;
        answeredAt = answer.at();
        lastContact = now;
        failure = null;
        // A millisecond on top, so that the store finds the lease before us ended and not about to end.
        long look = Math.min(Math.min(answer.retryAfter().toNanos(), SLOWEST_LOOK) + 1_000_000, refreshWithin);
        // An answer to what was sent before we were to ask is no answer to that.
        refreshAt = sentAt < askedAt ? 0 : sentAt + look;
    }

    /**
     * A signal says that it may have been lost. One that comes before its grant is known here must not be missed: look for the
     * hold after this, as those who grant it look for doubts after they have made the hold known.
     */
    void doubt(long now) {
        doubtedAt = now;
    }

    /** Whether a grant is to be confirmed, because such a signal came after that time. */
    boolean isDoubtedSince(long sentOrGranted) {
        return doubtedAt > sentOrGranted; // at the same time only where time stands still, as in tests
    }

    /** Signals may have been lost: the store is to be asked about it, if it is queued. */
    synchronized void ask(long now) {
        if (refreshAt != Long.MAX_VALUE) {
            askedAt = now;
            refreshAt = 0;
        }
    }

    /**
     * The latest moment, on our clock, that is certain to be no later than that of a grant reported by a signal; or
     * {@link #UNKNOWN}, or {@link #STALE}.
     */
    synchronized long startOf(Answer.Granted grant, long receivedAt) {
        StoreTime last = answeredAt;
        if (last == null) {
            return sent;
        }
        if (last.incarnation() != grant.at().incarnation()) {
            return UNKNOWN;
        }
        long elapsed = (grant.at().micros() - last.micros()) * 1_000;
        return elapsed < 0 ? STALE : Math.min(sent + elapsed - elapsed / DRIFT, receivedAt);
    }
}
