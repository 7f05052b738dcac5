// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import io.lockkeeper.LeaseLost.Reason;
import io.lockkeeper.spi.Liveness;
import java.time.Duration;

/**
 * How long a hold is valid: pessimistic, and on our own monotonic clock. {@link #endsAt} is the moment until which the store
 * certainly grants nothing to others: the time before the answering request was sent, plus what the store said remains, minus a
 * margin. The {@link #deadline} lies before it by the time that the user gets to stop; validity ends there, and a hold that
 * is not renewed by then is lost, whatever the store says later. On a store with sessions the session bounds both.
 *
 * <p>Read without a lock; changed by one renewal at a time.
 */
final class Validity {
    private static final long LONGEST_NOTICE = 2_000_000_000L;
    private static final long FIXED_MARGIN = 2_000_000;
    private static final int MARGIN_PARTS = 100;

    /** A renewal never shortens a lease, so this changes nothing. */
    private static final Duration SHORTEST = Duration.ofMillis(1);

    private final Settings settings;
    private final Liveness liveness;
    private final long since;
    private final long skew;
    private final long hardEnd;

    /** When the last lease ends that the store has given, as far as we know, and the warning time before that. */
    private volatile long storeEnd = Long.MIN_VALUE / 2;

    private volatile long warning;

    private volatile long leaseEnd;
    private volatile long leaseDeadline;
    private volatile long renewAt;
    private volatile long askedAt = Long.MIN_VALUE;
    private volatile boolean capped;
    private volatile boolean cutOff;
    private volatile boolean late;

    Validity(Settings settings, Liveness liveness, long now, long skew) {
        this.settings = settings;
        this.liveness = liveness;
        this.since = now;
        this.skew = skew;
        this.hardEnd = Checks.after(now, settings.maxHold());
    }

    /** See {@link Hold#extend}. */
    void extend(long sent, Duration remaining) {
        long lasts = remaining.toNanos();
        long ends = Math.min(hardEnd, sent + lasts - lasts / MARGIN_PARTS - FIXED_MARGIN - skew);
        // An answer that only says what is left of a lease does not shorten the warning time at its end.
        if (sent + lasts - storeEnd > lasts / 10) {
            warning = notice(lasts);
        }
        storeEnd = Math.max(storeEnd, sent + lasts);
        if (ends > leaseEnd) {
            leaseEnd = ends;
            leaseDeadline = ends - warning;
        }
        // The store itself lets go at about the longest hold then: there is nothing more to renew.
        capped = hardEnd != Long.MAX_VALUE && sent + lasts + lasts / 50 + 10_000_000 >= hardEnd;
        if (sent < askedAt) {
            renewAt = 0; // an answer to what was sent before is no answer to that
        } else {
            // Two more tries fit in before validity ends.
            renewAt = isRenewed() ? sent + lasts / 3 : Long.MAX_VALUE;
        }
    }

    private boolean isRenewed() {
        return settings.renewed() && !capped;
    }

    /** The store may have forgotten it: it is to be asked, even about a lease that is never renewed. */
    void ask(long now) {
        askedAt = now;
        renewAt = 0;
    }

    /** Warning time before a lease of that length ends. */
    private static long notice(long lease) {
        return Math.min(lease / 10, LONGEST_NOTICE);
    }

    /** The warning time that is left now for those who are asked to give it back. */
    long noticeAt(long now) {
        return Math.max(0, Math.min(leaseEnd - now, notice(settings.lease().toNanos())));
    }

    /** What a renewal asks for: the lease, or as good as nothing where the hold is only asked about. */
    Duration leaseToAsk(long now) {
        return isRenewed() ? cap(settings.lease(), now) : SHORTEST;
    }

    /** The lease that a renewal may ask for: never beyond the longest hold. */
    Duration cap(Duration lease, long now) {
        return hardEnd == Long.MAX_VALUE || hardEnd - now >= lease.toNanos()
                ? lease
                : Duration.ofNanos(Math.max(SHORTEST.toNanos(), hardEnd - now));
    }

    boolean lasts(long now) {
        return now < leaseDeadline && !isCutOff(now);
    }

    /** When it ends unless the store is heard of before: with its lease, or with its session. */
    long deadline() {
        return Math.min(leaseDeadline, liveness.tellBy());
    }

    /** Until when the store certainly grants nothing to others, by the lease. */
    long endsAt() {
        return leaseEnd;
    }

    /** How long those who are notified of the loss now have to stop. */
    long timeToStop(long now) {
        return Math.max(0, Math.min(leaseEnd, liveness.endsAt()) - now);
    }

    /** Whether its session may have ended; once somebody was told so, that stays. */
    private boolean isCutOff(long now) {
        if (!cutOff && now >= liveness.tellBy()) {
            cutOff = true;
        }
        return cutOff;
    }

    /** Whether its session has just come to be without the sign of life that was due. */
    boolean becomesLate(long now) {
        boolean was = late;
        late = now >= liveness.expectedBy();
        return late && !was;
    }

    /** When a sign of life of its session is due, if it is not overdue. */
    long expectedBy(long now) {
        long by = liveness.expectedBy();
        return by > now ? by : Long.MAX_VALUE;
    }

    /** When to renew; {@link Long#MAX_VALUE} for never. */
    long renewAt() {
        return renewAt;
    }

    /** Renews at that time instead. */
    void renewAt(long at) {
        renewAt = at;
    }

    /** Why it has ended; {@code isAsking} says whether the store has been asked in vain. */
    Reason reasonAtEnd(boolean isAsking) {
        if (cutOff) {
            return liveness.endsAt() < since ? Reason.SESSION_LOST : Reason.STORE_UNREACHABLE;
        }
        if (capped) {
            return Reason.MAX_HOLD;
        }
        return isAsking ? Reason.STORE_UNREACHABLE : Reason.EXPIRED;
    }
}
