// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import io.lockkeeper.ConflictingUseException;
import io.lockkeeper.LockkeeperException;
import io.lockkeeper.Mode;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.Renewal;

/**
 * One step of a driver of a {@link LocalQueue}, made on the driver's own thread: it claims, confirms a grant, or asks what
 * became of the pending claim, as its {@link Role} says, and then tells the queue what came of it. The store is asked without
 * the queue's monitor; what follows from its answer is decided under it.
 *
 * <p>Whatever is thrown, the step ends in {@link #failed}, and a claim that was made is ended.
 */
final class DriverStep {
    /** How long a waiter rests before it asks again during an outage. */
    private static final long DURING_OUTAGE = 250_000_000;

    private final LocalQueue queue;
    private final Keeper keeper;
    private final LockRequest request;
    private final Waiter w;
    private final Role role;

    /** The waiters up to this place had entered before the step began. */
    private final long begunAt;

    /** Whether the claim must not queue. */
    private final boolean tries;

    DriverStep(LocalQueue queue, Waiter w, Role role, long begunAt, boolean tries) {
        this.queue = queue;
        this.keeper = queue.keeper;
        this.request = queue.request;
        this.w = w;
        this.role = role;
        this.begunAt = begunAt;
        this.tries = tries;
    }

    /** Makes the step, for which the driver has waited since {@code asked}. */
    void make(long asked) {
        OpenClaim made = role instanceof Role.Confirm confirm ? confirm.hold().claim : null;
        try {
            keeper.calls().refuseIfDown(queue.lane, asked);
            if (role instanceof Role.Confirm confirm) {
                confirm(confirm.hold());
            } else if (role instanceof Role.Ask ask) {
                ask(ask);
            } else {
                Claims.Answered answered =
                        keeper.claims().claim(queue, tries ? request.trying() : request.waiting(), queue.lane);
                made = answered.claim();
                take(made, answered.answer());
            }
        } catch (Throwable e) {
            try {
                if (made != null) {
                    keeper.claims().endInBackground(made);
                }
            } finally {
                failed(e);
            }
        }
    }

    private void take(OpenClaim c, Answer answer) {
        if (answer instanceof Answer.Granted granted) {
            Hold hold = queue.newHold(c, granted, c.sent);
            if (!granted.confirmed() && request.settings().mustConfirm()) {
                confirm(hold);
            } else {
                arrived(hold, c.sent);
            }
        } else if (answer instanceof Answer.Queued queued) {
            queued(c, queued);
        } else {
            keeper.claims().forget(c);
            refused((Answer.Refused) answer);
        }
    }

    // ---- Granted ----

    /** Confirms, with a renewal, what was granted with a short first lease. */
    private void confirm(Hold hold) {
        StoreCalls.Renewed renewed =
                keeper.calls().renew(hold, request.settings().lease());
        if (renewed.outcome() instanceof Renewal.Kept kept) {
            hold.extend(renewed.sent(), kept.remaining());
            arrived(hold, renewed.sent());
            return;
        }
        keeper.claims().forget(hold.claim);
        claimAgain();
    }

    /**
     * The claim was granted, as the answer to a request sent at that time says: it goes to the driver, or, if that has left,
     * to the next who waits. It is confirmed first if a signal came meanwhile that may have been about its loss.
     */
    private void arrived(Hold hold, long sent) {
        keeper.renewer().keep(hold);
        if (hold.claim.isDoubtedSince(sent)) {
            confirm(hold);
            return;
        }
        synchronized (queue) {
            if (!queue.isShut() && hold.isValid(queue.now()) && !(w.isAnswered() && queue.line.isEmpty())) {
                w.late = false; // what it waited for has come
                queue.isContended &= request.mode() != Mode.PERMITS || !queue.line.isEmpty();
                queue.backInLine(w);
                queue.holds.distribute(hold, queue.now());
                queue.line.answerAll(v -> v.late, Result.NOT_ACQUIRED);
                queue.ensureProgress();
                return;
            }
        }
        // Its time was up before it came here, or nobody wants it: those who wait longer than that ask again.
        keeper.claims().giveBack(hold.claim);
        claimAgain();
    }

    /** What was granted is gone: the next driver claims again, for those who still wait. */
    private void claimAgain() {
        synchronized (queue) {
            queue.backInLine(w);
            queue.line.answerAll(Waiter::waitsNoLonger, Result.NOT_ACQUIRED);
            queue.ensureProgress();
        }
    }

    // ---- Queued ----

    private void queued(OpenClaim c, Answer.Queued answer) {
        Answer.Granted early = null;
        boolean isDuplicate;
        boolean isWanted;
        c.queued(answer, c.sent, queue.now());
        keeper.renewer().refresh(c);
        synchronized (queue) {
            c.inStep = false;
            queue.backInLine(w);
            queue.news.toldToWait(queue.entered(), c.lastContact);
            queue.isContended = true;
            queue.line.answerAll(Waiter::waitsNoLonger, Result.NOT_ACQUIRED);
            isDuplicate = queue.pending.isThere();
            isWanted = !queue.isShut() && !queue.line.isEmpty() && !isDuplicate;
            if (isWanted) {
                queue.pending.set(c);
                early = c.early;
            }
            queue.ensureProgress();
        }
        if (isDuplicate) {
            keeper.claims().endInBackground(c); // its thread has a place in line, and may be needed there
        } else if (!isWanted) {
            keeper.claims().giveBack(c);
        } else if (early != null) {
            queue.pending.granted(c, early, c.startOf(early, queue.now()));
        } else {
            queue.pending.askIfChanged(c);
        }
    }

    /** Asks what became of the pending claim, because a signal said that something did. */
    private void ask(Role.Ask ask) {
        OpenClaim c = ask.claim();
        StoreCalls.Refreshed refreshed = keeper.calls().refresh(c);
        synchronized (queue) {
            endAsking(ask);
            queue.pending.refreshed(c, refreshed.answer(), refreshed.sent());
            if (c.changed) {
                queue.pending.changed(c); // the answer may be older than what that signal was about
            }
            queue.ensureProgress();
        }
    }

    /** The question was answered, or could not be; the waiter may have been given something else to do meanwhile. */
    private void endAsking(Role.Ask ask) {
        if (w.role() == ask) {
            queue.drivers.resign(w);
        }
    }

    // ---- Refused ----

    private void refused(Answer.Refused answer) {
        synchronized (queue) {
            if (answer.why() == Answer.Why.CONFLICT) {
                throw new ConflictingUseException(
                        Printable.quoted(request.name()) + " is in use as " + Printable.text(answer.detail()));
            }
            if (answer.why() == Answer.Why.UNDECIDED) {
                undecided(answer);
                return;
            }
            queue.news.answered();
            if (w.waitsNoLonger() || w.isAnswered()) {
                queue.drivers.resign(w);
                w.answer(Result.NOT_ACQUIRED);
                queue.line.answerAll(this::isAnsweredToo, Result.NOT_ACQUIRED);
                queue.ensureProgress();
            } else {
                queue.line.answerAll(Waiter::waitsNoLonger, Result.NOT_ACQUIRED);
                restFor(answer);
            }
        }
    }

    /** An outage that ends by itself: those who wait ask again, for as long as they wait; the others fail. */
    private void undecided(Answer.Refused answer) {
        StoreUnavailableException why = new StoreUnavailableException(Printable.text(answer.detail()), null);
        Result failed = new Result.Failed(why);
        queue.line.answerAll(this::isAnsweredToo, failed);
        if (w.waitsNoLonger() || w.isAnswered()) {
            queue.drivers.resign(w);
            w.answer(failed);
            queue.ensureProgress();
        } else {
            queue.news.failed(why);
            restFor(answer);
        }
    }

    /** The step lay within the attempts of those who were here when it began: it answers theirs, too. */
    private boolean isAnsweredToo(Waiter v) {
        return v.waitsNoLonger() && (v.late || v.place <= begunAt);
    }

    private void restFor(Answer.Refused answer) {
        long now = queue.now();
        queue.news.toldToWait(queue.entered(), now);
        queue.drivers.rest(w, now + answer.retryAfter().toNanos());
    }

    // ---- Failed ----

    /** A step failed. What the store, or its absence, has said concerns all who had entered before it began. */
    private void failed(Throwable e) {
        synchronized (queue) {
            if (role instanceof Role.Ask ask) {
                askingFailed(ask, e);
                return;
            }
            if (e instanceof LockkeeperException) {
                long patientUpTo = queue.news.patientUpTo(
                        e, queue.now(), keeper.config().patience().toNanos());
                queue.line.answerAll(
                        v -> v.late || (v.place <= begunAt && v.place > patientUpTo), new Result.Failed(e));
                if (w.place <= patientUpTo && !w.isAnswered() && !w.waitsNoLonger()) {
                    queue.news.failed((StoreUnavailableException) e);
                    queue.drivers.rest(w, queue.now() + DURING_OUTAGE);
                    return;
                }
            }
            if (w.role() != null) {
                queue.drivers.resign(w);
            }
            queue.line.answer(w, new Result.Failed(e)); // it may have been put back in line before something was thrown
            queue.ensureProgress();
        }
    }

    private void askingFailed(Role.Ask ask, Throwable e) {
        endAsking(ask);
        if (e instanceof StoreUnavailableException) {
            queue.pending.askLater(ask.claim());
        } else {
            queue.line.answer(w, new Result.Failed(e));
        }
        queue.ensureProgress();
    }
}
