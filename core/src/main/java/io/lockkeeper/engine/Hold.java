// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import io.lockkeeper.LeaseLost.Reason;
import io.lockkeeper.Mode;
import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.Grant;
import io.lockkeeper.spi.Liveness;
import io.lockkeeper.spi.Renewal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What this keeper holds in the store: a grant that is renewed until it is released or lost. One or more
 * {@link Possession}s share it: one after the other when it is exclusive and passed on between threads, together when it
 * is shared.
 *
 * <p><b>Validity</b> is pessimistic and on our own monotonic clock. {@link #endsAt} is the moment until which the store
 * lets nobody else in for sure: the time before the answering request was sent, plus what the store said remains, minus
 * a margin. {@link #tellAt} lies before it by the time that the user gets to stop; validity ends there, and whatever is
 * not renewed by then is lost, whatever the store says later.
 *
 * <p>All state changes happen under the monitor of {@link #queue}: passing on, release and loss exclude each other.
 */
final class Hold {
    enum State {
        HELD,
        LOST,
        RELEASED
    }

    /** How long a hold may be passed on, or joined by readers, inside this process while others wait outside. */
    static final long HAND_ON_NANOS = 50_000_000;

    private static final long LONGEST_NOTICE = 2_000_000_000L;
    private static final long FIXED_MARGIN = 2_000_000;
    private static final int MARGIN_PARTS = 100;

    final LocalQueue queue;
    final Object lane;
    final Settings settings;
    final long since;

    volatile Grant grant;
    volatile long endsAt;
    volatile long tellAt;
    volatile long renewAt;
    volatile boolean renewing;
    volatile boolean failing;
    volatile State state = State.HELD;

    private final Liveness liveness;
    private final long skew;
    private final long hardEnd;
    private volatile boolean capped;
    private volatile boolean cutOff;
    private volatile boolean late;

    // Guarded by the queue.
    private final List<Possession> possessions = new ArrayList<>(1);
    private int issued;
    private boolean sequencerRead;
    private boolean tidying;

    /** The hold that {@code answer} grants; {@code start} is our time no later than the store's decision. */
    Hold(
            LocalQueue queue,
            Object lane,
            Grant grant,
            Answer.Granted answer,
            long start,
            long now,
            long skew,
            Liveness liveness) {
        this.liveness = liveness;
        this.queue = queue;
        this.lane = lane;
        this.settings = queue.want().settings();
        this.grant = grant;
        this.since = now;
        this.skew = skew;
        long maxHold = settings.maxHold();
        this.hardEnd = Checks.after(now, maxHold);
        extend(start, answer.remaining());
    }

    /** Sets the end of validity from an answer to a request sent at {@code sent}; it never comes nearer. */
    void extend(long sent, Duration remaining) {
        long lasts = remaining.toNanos();
        long ends = Math.min(hardEnd, sent + lasts - lasts / MARGIN_PARTS - FIXED_MARGIN - skew);
        if (ends > endsAt) {
            endsAt = ends;
            tellAt = ends - notice(lasts);
        }
        // The store itself lets go at about the longest hold then: there is nothing more to renew.
        capped = hardEnd != Long.MAX_VALUE && sent + lasts + lasts / 50 + 10_000_000 >= hardEnd;
        // Two more tries fit in before validity ends.
        renewAt = settings.renewed() && !capped ? sent + lasts / 3 : Long.MAX_VALUE;
    }

    /** The time to stop in that a lease of so many nanoseconds has at its end. */
    private static long notice(long lease) {
        return Math.min(lease / 10, LONGEST_NOTICE);
    }

    /** The lease that a renewal may ask for: never beyond the longest hold. */
    Duration cap(Duration lease, long now) {
        return hardEnd == Long.MAX_VALUE || hardEnd - now >= lease.toNanos()
                ? lease
                : Duration.ofNanos(Math.max(1_000_000, hardEnd - now));
    }

    boolean isValid(long now) {
        return state == State.HELD && now < tellAt && !isCutOff(now);
    }

    /** When it is lost unless the store is heard of before: its lease ends, or its session may. */
    long tellsAt() {
        return Math.min(tellAt, liveness.tellBy());
    }

    /** Whether its session may have ended; once somebody has been told so, that stays. */
    boolean isCutOff(long now) {
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

    /** Why a hold that has reached {@link #tellAt} is lost. */
    Reason reasonAtEnd() {
        if (cutOff) {
            return liveness.endsAt() < since ? Reason.SESSION_LOST : Reason.STORE_UNREACHABLE;
        }
        if (capped) {
            return Reason.MAX_HOLD;
        }
        return failing || renewing ? Reason.STORE_UNREACHABLE : Reason.EXPIRED;
    }

    Mode mode() {
        return grant.mode();
    }

    // ---- Its life after it was granted. Store steps are made without the queue's monitor. ----

    /** Ends it because its validity has run out, or is left to run out; the store keeps it until {@link #endsAt}. */
    void runOut(Reason reason) {
        lose(reason, Math.max(0, Math.min(endsAt, liveness.endsAt()) - now()));
    }

    /** Ends it because the store has given it up, or is about to. */
    void lose(Reason reason) {
        lose(reason, 0);
    }

    /**
     * Ends it because the store wants it back. Whoever listens gets its time to stop before the store is told that the
     * holder knows, unless it says earlier, by releasing, that it is done.
     */
    void recall() {
        long now = now();
        long notice = 0;
        synchronized (queue) {
            if (possessions.stream().anyMatch(Possession::isListenedTo)) {
                notice = Math.max(
                        0, Math.min(endsAt - now, notice(settings.lease().toNanos())));
            }
        }
        if (lose(Reason.BROKEN, notice)) {
            if (notice == 0) {
                acknowledge();
            } else {
                keeper().acknowledgeLater(this, now + notice);
            }
        }
    }

    /** Tells the store that the holder knows, or that it is done. */
    void acknowledge() {
        boolean first;
        synchronized (queue) {
            first = startTidying();
        }
        if (first) {
            keeper().releaseBehind(this);
        }
    }

    /** False when it had been lost or released before. */
    private boolean lose(Reason reason, long remaining) {
        List<Possession> told;
        synchronized (queue) {
            if (state != State.HELD) {
                return false;
            }
            state = State.LOST;
            told = new ArrayList<>(possessions);
            for (Possession possession : told) {
                possession.markLost(reason, remaining);
            }
            queue.detach(this);
            queue.goOn();
        }
        keeper().renewer().remove(this);
        told.forEach(Possession::tell);
        return true;
    }

    /** See {@link io.lockkeeper.Lease#release()}. */
    boolean release(Possession p) {
        boolean last;
        synchronized (queue) {
            if (p.state == State.RELEASED) {
                return true;
            }
            if (p.state == State.LOST) {
                keeper().tidyUpAfterLoss(p);
                return false;
            }
            if (isValid(now())) {
                p.state = State.RELEASED;
                possessions.remove(p);
                last = possessions.isEmpty() && !queue.passOn(this);
                if (last) {
                    state = State.RELEASED;
                    queue.detach(this);
                }
            } else {
                last = false;
            }
        }
        if (p.state == State.HELD) {
            runOut(reasonAtEnd());
            return release(p);
        }
        return last ? giveBack(p) : told(p);
    }

    private boolean told(Possession p) {
        keeper().released(p);
        return true;
    }

    private boolean giveBack(Possession p) {
        keeper().renewer().remove(this);
        boolean released = true; // also when the store cannot be told: it is repeated behind
        try {
            released = keeper().steps().release(this);
        } finally {
            if (released) {
                told(p);
            }
            synchronized (queue) {
                queue.goOn();
            }
        }
        if (!released) {
            synchronized (queue) {
                p.markLostAtRelease();
            }
            p.tell();
        }
        return released;
    }

    /** It ran out before the waiter it was meant for could take it. */
    void discard() {
        runOut(reasonAtEnd());
        keeper().releaseBehind(this);
    }

    /** See {@link io.lockkeeper.Lease#renew}. */
    boolean renew(Possession p, Duration lease) {
        if (p.state == State.RELEASED || p.lossIfAny() != null) {
            return false;
        }
        return renewed(keeper().steps().renew(this, cap(lease, now())));
    }

    /** What a renewal said. Validity that has ended meanwhile stays ended. */
    boolean renewed(Steps.Renewed renewed) {
        synchronized (queue) {
            if (state != State.HELD) {
                return false;
            }
            if (isValid(now()) && renewed.outcome() instanceof Renewal.Kept kept) {
                extend(renewed.sent(), kept.remaining());
                return true;
            }
        }
        if (renewed.outcome() instanceof Renewal.Lost lost) {
            if (lost.reason() == Reason.BROKEN) {
                recall();
            } else {
                lose(lost.reason());
            }
        } else {
            runOut(reasonAtEnd());
        }
        return false;
    }

    /** Turns an exclusive possession into a shared one, with no gap; null when it was lost. */
    @Nullable
    Possession downgrade(Possession p) {
        Grant asIs;
        synchronized (queue) {
            if (!p.isValid()) {
                return null;
            }
            Grant g = grant;
            asIs = new Grant(g.claim(), g.mode(), p.token, (int) (g.token() + g.block() - p.token));
        }
        Optional<Grant> shared = keeper().steps().downgrade(asIs, lane);
        if (shared.isEmpty()) {
            lose(Reason.EXPIRED);
            return null;
        }
        synchronized (queue) {
            if (!p.isValid()) {
                return null;
            }
            p.state = State.RELEASED;
            grant = shared.get();
            issued = 1;
            sequencerRead = true; // no more joining: later readers queue behind a writer that waits
            possessions.clear();
            Possession reader = new Possession(this, grant.token(), p.owner(), p.trace(), now());
            possessions.add(reader);
            reader.accept();
            queue.detach(this);
            queue.goOn();
            return reader;
        }
    }

    private Keeper keeper() {
        return queue.keeper();
    }

    private long now() {
        return keeper().ticker().nanos();
    }

    // ---- The rest is called with the queue's monitor held. ----

    /** Makes a possession with the next token of the block. */
    Possession issue(Waiter waiter, long now) {
        Possession possession = new Possession(this, grant.token() + issued++, waiter.owner(), waiter.trace(), now);
        possessions.add(possession);
        return possession;
    }

    /** Whether the hold may pass to another thread: in bounds, and nobody may be checking who has it. */
    boolean mayPassOn(long now) {
        // The last token of the block is kept for a downgrade.
        return issued < grant.block() - 1 && isFresh(now);
    }

    /** Whether another reader may join. */
    boolean mayJoin(long now) {
        return grant.mode() == Mode.SHARED && issued < grant.block() && isFresh(now);
    }

    private boolean isFresh(long now) {
        long needed = Math.min(1_000_000_000L, settings.lease().toNanos() / 4);
        return state == State.HELD && !sequencerRead && now - since < HAND_ON_NANOS && tellsAt() - now > needed;
    }

    void sequencerRead() {
        sequencerRead = true;
    }

    /** True the first time: a lost hold is released once, when its user has said that it is done. */
    boolean startTidying() {
        boolean first = !tidying;
        tidying = true;
        return first;
    }

    List<Possession> possessions() {
        return possessions;
    }
}
