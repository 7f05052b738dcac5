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
 * {@link Possession}s share it: one after the other when it is passed on between threads, together when it is shared.
 *
 * <p>All state changes happen under the monitor of {@link #queue}: passing on, release and loss exclude each other. The thread that
 * decides there that the hold has ended also acts on it; store steps are made without the monitor.
 *
 * <p>A hold that is lost stays closed to others in the store until {@link Validity#endsAt}, which those who have it were
 * told is their time to stop. It is given back earlier only when all of them have said, by releasing, that they are done.
 */
final class Hold {
    enum State {
        HELD,
        LOST,
        RELEASED
    }

    /** How long a hold may be passed on, or joined by readers, inside this process while others wait outside. */
    static final long HAND_ON_NANOS = 50_000_000;

    final LocalQueue queue;
    final OpenClaim claim;
    final Lane lane;
    final Settings settings;
    final Validity validity;
    final long since;

    volatile Grant grant;
    volatile boolean renewing;
    volatile boolean failing;

    /** Whether it is renewed in a separate request, because one with others has failed and it was the cause. */
    volatile boolean alone;

    volatile State state = State.HELD;

    // Guarded by the queue.
    private final List<Possession> possessions = new ArrayList<>(1);
    private int issued;
    private boolean sequencerRead;

    /** Whether its queue counts it among the permits that it may pass on. */
    boolean attached;

    /** The hold that {@code answer} grants; {@code start} is our time no later than the store's decision. */
    Hold(LocalQueue queue, OpenClaim claim, Answer.Granted answer, long start, long now, long skew, Liveness liveness) {
        this.queue = queue;
        this.claim = claim;
        this.lane = claim.lane;
        this.settings = queue.request().settings();
        this.grant = Grant.of(claim.claim, answer);
        this.since = now;
        this.validity = new Validity(settings, liveness, now, skew);
        // A signal may say anything: no more is believed than was asked for.
        Duration lease = claim.claim.terms().lease();
        extend(start, answer.remaining().compareTo(lease) < 0 ? answer.remaining() : lease);
    }

    /** Sets the end of validity from an answer to a request sent at {@code sent}; it never comes nearer. */
    void extend(long sent, Duration remaining) {
        validity.extend(sent, remaining);
    }

    boolean isValid(long now) {
        return state == State.HELD && validity.lasts(now);
    }

    /** When nothing of it can be left in the store. */
    long endsAt() {
        return validity.endsAt();
    }

    /** Why a hold whose validity has ended is lost. */
    Reason reasonAtEnd() {
        return validity.reasonAtEnd(failing || renewing);
    }

    Mode mode() {
        return grant.mode();
    }

    // ---- Loss ----

    /** Ends it because its validity has ended, or is left to end; the store keeps it until {@link Validity#endsAt}. */
    void runOut(Reason reason) {
        lose(reason, validity.timeToStop(now()));
    }

    /** Ends it because the store has given it up, or is about to; false when it had been lost or released before. */
    boolean lose(Reason reason) {
        return lose(reason, 0);
    }

    /**
     * Ends it because the store wants it back. Those who listen get their time to stop before the store learns that the
     * holder knows, unless they say earlier, by releasing, that they are done.
     */
    void recall() {
        long now = now();
        long notice = 0;
        synchronized (queue) {
            if (possessions.stream().anyMatch(Possession::isListenedTo)) {
                notice = validity.noticeAt(now);
            }
        }
        if (lose(Reason.BROKEN, notice)) {
            if (notice == 0) {
                keeper().claims().endInBackground(claim);
            } else {
                keeper().claims().endLater(claim, now() + notice); // from now on: until now it was valid
            }
        }
    }

    private boolean lose(Reason reason, long remaining) {
        List<Possession> told;
        synchronized (queue) {
            if (state != State.HELD) {
                return false;
            }
            told = markLost(reason, remaining);
        }
        told.forEach(Possession::reportLoss);
        return true;
    }

    /** Marks the loss, with the monitor held; {@link Possession#reportLoss} follows without it for all of these. */
    private List<Possession> markLost(Reason reason, long remaining) {
        state = State.LOST;
        keeper().claims().leaveToExpire(claim);
        List<Possession> told = List.copyOf(possessions);
        told.forEach(p -> p.markLost(reason, remaining));
        queue.detach(this);
        queue.ensureProgress();
        return told;
    }

    // ---- The end ----

    /**
     * See {@link io.lockkeeper.Lease#release()}. Also gives back a possession that came too late to be accepted.
     */
    boolean release(Possession p) {
        return startRelease(p).finish();
    }

    /** What is left to do of a release that has been decided. */
    interface Release {
        /** Tells the store, if that is necessary; answers what the release does. */
        boolean finish();
    }

    /** Decides a release: from here on nothing is valid or renewed that is not passed on. No I/O. */
    Release startRelease(Possession p) {
        List<Possession> lost = List.of();
        boolean wasHeld = false;
        boolean isLast = false;
        long now = now();
        synchronized (queue) {
            if (p.state == State.RELEASED) {
                return () -> true;
            }
            if (p.state == State.HELD && isValid(now)) {
                wasHeld = true;
                p.state = State.RELEASED;
                possessions.remove(p);
                isLast = possessions.isEmpty() && !queue.passOn(this);
                if (isLast) {
                    state = State.RELEASED;
                    queue.ending(this);
                }
            } else {
                if (state == State.HELD) {
                    lost = markLost(reasonAtEnd(), validity.timeToStop(now));
                }
                done(p, now);
            }
        }
        lost.forEach(Possession::reportLoss);
        if (!wasHeld) {
            return () -> false;
        }
        return isLast ? () -> giveBack(p, now) : () -> reported(p);
    }

    /** One who had a lost hold is done with it: when all are, it need not be left to expire. Monitor held. */
    private void done(Possession p, long now) {
        p.isDone = true;
        if (possessions.remove(p) && possessions.isEmpty() && now < endsAt()) {
            keeper().claims().endInBackground(claim);
        }
    }

    private boolean reported(Possession p) {
        keeper().events().released(p);
        return true;
    }

    private boolean giveBack(Possession p, long asked) {
        boolean released = true; // also when the store cannot be told: it is repeated in the background
        try {
            released = keeper().claims().release(this, asked);
        } finally {
            if (released) {
                reported(p);
            }
            synchronized (queue) {
                queue.ended();
            }
        }
        if (!released) {
            synchronized (queue) {
                p.markLostAtRelease();
            }
            p.reportLoss();
        }
        return released;
    }

    // ---- Renewal ----

    /** See {@link io.lockkeeper.Lease#renew}. */
    boolean renew(Possession p, Duration lease) {
        if (p.state == State.RELEASED || p.lossIfAny() != null) {
            return false;
        }
        return renewed(keeper().calls().renew(this, validity.cap(lease, now())));
    }

    /** What a renewal said. Validity that has ended meanwhile stays ended. */
    boolean renewed(StoreCalls.Renewed renewed) {
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
            lose(lost.reason());
        } else if (renewed.outcome() instanceof Renewal.Recalled) {
            recall();
        } else {
            runOut(reasonAtEnd());
        }
        return false;
    }

    // ---- Downgrade ----

    /**
     * Turns an exclusive possession into a shared one, with no gap; null when it was lost. When it is not known what the store
     * has made of it, it is lost: neither a writer nor the readers beside it could rely on it.
     */
    @Nullable
    Possession downgrade(Possession p) {
        Grant asIs;
        synchronized (queue) {
            if (!p.isValid()) {
                return null;
            }
            queue.ending(this); // from here on it is nobody's to pass on as it was
            Grant g = grant;
            asIs = new Grant(g.claim(), g.mode(), p.token, (int) (g.token() + g.block() - p.token));
        }
        Optional<Grant> shared;
        try {
            shared = keeper().calls().downgrade(asIs, lane);
        } catch (Throwable e) {
            runOut(Reason.STORE_UNREACHABLE);
            throw e;
        } finally {
            synchronized (queue) {
                queue.ended();
            }
        }
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
            Possession reader = new Possession(this, grant.token(), p, now());
            possessions.add(reader);
            reader.accept();
            queue.ensureProgress();
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
        Possession possession = new Possession(this, grant.token() + issued++, waiter, now);
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
        return state == State.HELD
                && !sequencerRead
                && now - since < HAND_ON_NANOS
                && validity.deadline() - now > needed;
    }

    void sequencerRead() {
        sequencerRead = true;
    }

    /** Whether nobody is left who could release it; reminds those who were given it and have not come for it. */
    boolean isAbandoned(long now) {
        synchronized (queue) {
            for (Possession possession : possessions) {
                possession.remind(now);
                if (!possession.isAbandoned()) {
                    return false;
                }
            }
            return issued > 0; // with none left: a stack has overflowed while it was released
        }
    }
}
