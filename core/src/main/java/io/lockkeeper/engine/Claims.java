// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import io.lockkeeper.LeaseLost.Reason;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.ClaimId;
import io.lockkeeper.spi.Liveness;
import io.lockkeeper.spi.LockStore;
import io.lockkeeper.spi.StoreTime;
import io.lockkeeper.spi.Terms;
import io.lockkeeper.spi.Ticker;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * All claims that this keeper has, or may have, in the store: made, found, and ended. An
 * {@link OpenClaim} is here from before it is sent until it has ended in the store or is left to expire; so what is here
 * when the keeper is closed is all that could be left behind.
 *
 * <p><b>Ending.</b> A claim ends once, however many ask for it: by {@link #release}, whose caller hears what the
 * store said; by {@link #giveBack}, one attempt on this thread; or by {@link #endInBackground}. What the store could not be
 * told is repeated in the background until it is known or any grant must have expired.
 */
final class Claims {
    private static final long FIRST_PAUSE = 250_000_000;
    private static final long LONGEST_PAUSE = 2_000_000_000;

    /** How long an attempt that the store could not decide rests before it is made again. */
    private static final long BETWEEN_ATTEMPTS = 50_000_000;

    private static final StoreTime NOT_YET = new StoreTime(0, 0);

    private final LockStore store;
    private final StoreCalls calls;
    private final Timer timer;
    private final Ticker ticker;
    private final String clientId;
    private final Map<ClaimId, OpenClaim> open = new ConcurrentHashMap<>();
    private final Set<OpenClaim> recalled = ConcurrentHashMap.newKeySet();
    private final AtomicLong count = new AtomicLong();
    private final AtomicLong leftBehind = new AtomicLong();
    private volatile boolean awaited;
    private volatile boolean closed;

    Claims(LockStore store, StoreCalls calls, Timer timer, String clientId) {
        this.store = store;
        this.calls = calls;
        this.timer = timer;
        this.ticker = store.ticker();
        this.clientId = clientId;
    }

    Collection<OpenClaim> all() {
        return open.values();
    }

    /** The claim with this id; null if it is not here any more. */
    @Nullable
    OpenClaim find(ClaimId id) {
        return open.get(id);
    }

    boolean isHeldIn(Lane lane) {
        for (OpenClaim c : open.values()) {
            if (c.lane == lane && c.hold != null) {
                return true;
            }
        }
        return false;
    }

    ClaimId newId() {
        return new ClaimId(clientId, count.incrementAndGet());
    }

    Liveness liveness(OpenClaim c) {
        return store.liveness(c.claim);
    }

    // ---- Making ----

    /** A claim that was answered. */
    record Answered(OpenClaim claim, Answer answer) {}

    /**
     * Claims, until it is answered; a claim that came late, or whose id was used up, is made again with another id. When this
     * throws, nothing is left that is not being ended.
     */
    Answered claim(LocalQueue queue, Terms terms, Lane lane) {
        long until = 0;
        for (; ; ) {
            OpenClaim c = begin(queue, terms, lane);
            Answer answer;
            try {
                answer = calls.claim(c);
            } catch (Throwable e) {
                c.claim = c.claim.asStray();
                endInBackground(c);
                throw e;
            }
            boolean isVoid = answer instanceof Answer.Refused refused
                    && (refused.why() == Answer.Why.LATE || refused.why() == Answer.Why.GONE);
            boolean isUndecided = isUndecided(answer) && !terms.queue(); // one that waits is made again by its driver
            until = until == 0 ? c.sent + calls.timeout() : until;
            if (!isVoid && !(isUndecided && ticker.nanos() < until)) {
                return new Answered(c, answer);
            }
            forget(c);
            if (isUndecided) {
                calls.rest(Math.min(until, ticker.nanos() + BETWEEN_ATTEMPTS));
            } else if (ticker.nanos() >= until) {
                if (c.failure != null) {
                    throw c.failure; // that the claim's id is used up says nothing; this does
                }
                throw new StoreUnavailableException(
                        "the store refused a claim of " + Printable.quoted(c.claim.name()) + " as late for "
                                + Duration.ofNanos(calls.timeout()) + ": it is too slow, or its clock runs away",
                        null);
            }
        }
    }

    static boolean isUndecided(Answer answer) {
        return answer instanceof Answer.Refused refused && refused.why() == Answer.Why.UNDECIDED;
    }

    private OpenClaim begin(LocalQueue queue, Terms terms, Lane lane) {
        Claim claim = new Claim(queue.request().name(), newId(), terms, NOT_YET, false);
        boolean ownLiveness = store.liveness(claim) != Liveness.FOREVER; // then the session is watched instead
        // A client that is silent for longer may be skipped: a live one is heard of three times as often.
        long refreshWithin =
                ownLiveness ? Long.MAX_VALUE : terms.allowedSilence().toNanos() / 3;
        OpenClaim c = new OpenClaim(queue, lane, claim, refreshWithin);
        open.put(claim.id(), c);
        return c;
    }

    // ---- Ending ----

    /** Nothing is left of it in the store. */
    void forget(OpenClaim c) {
        c.startEnding();
        leaveToExpire(c);
    }

    /** It is not kept alive any longer; it may still be ended before it expires. */
    void leaveToExpire(OpenClaim c) {
        open.remove(c.claim.id(), c);
        if (awaited) {
            synchronized (this) {
                notifyAll();
            }
        }
    }

    /**
     * Releases a hold that was valid when this was asked for.
     *
     * @return false when the store knew of no such hold
     */
    boolean release(Hold hold, long asked) {
        OpenClaim c = hold.claim;
        if (!c.startEnding()) {
            return true;
        }
        boolean found;
        try {
            calls.refuseIfDown(c.lane, asked);
            found = calls.release(hold);
        } catch (Throwable e) {
            repeat(c, endOf(c), FIRST_PAUSE);
            throw e;
        }
        forget(c);
        return found;
    }

    /** Ends a claim that nobody wants; in the background, when the store cannot be told now. */
    void giveBack(OpenClaim c) {
        if (c.startEnding()) {
            open.put(c.claim.id(), c);
            if (!ended(c)) {
                repeat(c, endOf(c), FIRST_PAUSE);
            }
        }
    }

    /** Ends a claim without waiting for it. */
    void endInBackground(OpenClaim c) {
        endInBackground(c, () -> {});
    }

    /** Ends a claim without waiting for it; {@code afterwards} runs when that was tried once. */
    void endInBackground(OpenClaim c, Runnable afterwards) {
        if (c.startEnding()) {
            open.put(c.claim.id(), c);
            attempt(c, endOf(c), FIRST_PAUSE, afterwards);
        } else {
            afterwards.run();
        }
    }

    /** Ends a claim that was recalled when its user has had its time, or when the keeper is closed before. */
    void endLater(OpenClaim c, long at) {
        recalled.add(c);
        timer.schedule(at, () -> {
            recalled.remove(c);
            endInBackground(c);
        });
    }

    /** When nothing of it can be left in the store. */
    private long endOf(OpenClaim c) {
        Hold hold = c.hold;
        return hold != null
                ? hold.endsAt()
                : Checks.after(
                        ticker.nanos(),
                        calls.timeout() + c.claim.terms().lease().toNanos());
    }

    private void attempt(OpenClaim c, long until, long pause, Runnable afterwards) {
        Ending ending = new Ending(c, until, pause, afterwards);
        if (!c.lane.endings.execute(ending)) {
            ending.abort();
        }
    }

    /** One attempt to end a claim in the background, which somebody may wait for. */
    private final class Ending implements Workers.Task {
        private final OpenClaim c;
        private final long until;
        private final long pause;
        private final long asked = ticker.nanos();
        private final AtomicReference<@Nullable Runnable> afterwards;

        Ending(OpenClaim c, long until, long pause, Runnable afterwards) {
            this.c = c;
            this.until = until;
            this.pause = pause;
            this.afterwards = new AtomicReference<>(afterwards);
        }

        @Override
        public void run() {
            // Where many end during an outage, those that have waited for the others do not wait for themselves, too.
            if (calls.isDown(c.lane, asked) || !ended(c)) {
                repeat(c, until, pause);
            }
            done();
        }

        /** The keeper is closed: the lease ends by itself. */
        @Override
        public void abort() {
            forget(c);
            done();
        }

        private void done() {
            Runnable then = afterwards.getAndSet(null);
            if (then != null) {
                then.run();
            }
        }
    }

    private boolean ended(OpenClaim c) {
        try {
            calls.end(c);
        } catch (StoreUnavailableException e) {
            if (awaited && !e.worthRepeating()) { // close() has nothing to wait for
                leftBehind.incrementAndGet();
                forget(c);
                return true;
            }
            return false;
        } catch (Throwable e) {
            Log.warning("could not end a claim of " + Printable.quoted(c.claim.name()) + "; it is tried again", e);
            return false;
        }
        forget(c);
        return true;
    }

    private void repeat(OpenClaim c, long until, long pause) {
        long next = ticker.nanos() + pause;
        if (next < until && !closed) {
            if (c.hold == null) {
                c.claim = c.claim.asStray();
            }
            timer.schedule(next, () -> attempt(c, until, Math.min(2 * pause, LONGEST_PAUSE), () -> {}));
        } else {
            forget(c);
        }
    }

    /** The keeper is being closed: all that is held is lost, and ended, except what these requests have brought. */
    void endAll(Set<LockRequest> except) {
        for (OpenClaim c : List.copyOf(open.values())) {
            Hold hold = c.hold;
            if (hold != null && !except.contains(c.queue.request()) && hold.lose(Reason.CLOSED)) {
                endInBackground(c);
            }
        }
        recalled.forEach(this::endInBackground);
    }

    /** Waits until every claim has ended, by {@code deadline} of {@link System#nanoTime}. */
    void awaitEnd(long deadline) {
        boolean interrupted = false;
        awaited = true;
        synchronized (this) {
            long nanos = deadline - System.nanoTime();
            while (!open.isEmpty() && nanos > 0) {
                try {
                    wait(Math.max(1, nanos / 1_000_000));
                } catch (InterruptedException e) {
                    interrupted = true;
                }
                nanos = deadline - System.nanoTime();
            }
        }
        closed = true;
        long left = leftBehind.get() + open.size();
        if (left > 0) {
            Log.warning(
                    left
                            + " claims could not be ended before the keeper was closed, because the store did not answer or refused;"
                            + " they end by themselves with their leases",
                    null);
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
