// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import io.lockkeeper.ConflictingUseException;
import io.lockkeeper.KeeperClosedException;
import io.lockkeeper.LockkeeperException;
import io.lockkeeper.Mode;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.Renewal;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The threads of this process that want one name in one mode on the same terms. At most one claim of theirs is in the
 * store's queue; the hold that it brings passes from thread to thread.
 *
 * <p><b>Drivers.</b> A waiter that enters an idle queue becomes its <em>driver</em>: it makes the claim, on its own thread. The
 * claim is granted, refused, or queued in the store; then the queue has a {@link #pending} claim and the driver waits at the
 * head of the others. A grant reported by a signal or found by a refresh goes to the head; when a signal only hints that
 * something has happened, the head asks what it is, on its own thread. A driver that fails or leaves makes
 * the next waiter the driver. So each step is made by somebody who waits for it, and no thread is ever owned by a queue.
 * Permits may be free though others of this process have some, so a semaphore's queue has several drivers until a claim
 * is queued.
 *
 * <p><b>Passing on.</b> A release gives the hold to the next waiter, with the next token of its block and no I/O, as long as
 * {@link Hold#mayPassOn} allows it; otherwise it goes back to the store, whose next in line may be another process, and the
 * next waiter here claims again. Readers join the hold of their process, for a bounded time. {@code fair(true)} and fixed
 * leases use a queue of their own for each attempt, so that nothing is ever passed on.
 *
 * <p><b>Failures.</b> What a failed step says of the store it says to all who had entered before it began: they fail with it.
 * Those whom the store had told to wait, as it tells a queued claim, are patient for longer. A waiter whose time is up before
 * the store was heard of waits for the step under way, so that an outage never looks like a taken lock.
 *
 * <p><b>Invariants</b>, under the monitor: if somebody waits, there is a driver, a pending claim or, unless it is about permits,
 * a current hold; a dead queue has none, holds no permits, and is in no map. Nothing here does I/O or runs user code under the monitor.
 */
final class LocalQueue {
    /** How long a waiter rests before it asks again during an outage. */
    private static final long DURING_OUTAGE = 250_000_000;

    /** Permits: more claims at a time than this would only queue in the store's connection pool. */
    private static final int MOST_DRIVERS = 8;

    private final Keeper keeper;
    private final LockRequest request;
    private final Lane lane;
    private final Object key;

    private final WaitingLine line = new WaitingLine();
    private @Nullable Waiter firstDriver;
    private int drivers;
    private @Nullable OpenClaim pending;

    /** The hold that the next waiter may be given: exclusive, or one that readers may join. */
    private @Nullable Hold current;

    /** Whether a second claim would only be told to wait: always, but for permits that nobody is known to wait for. */
    private boolean isContended;

    /** How many holds are being given back or downgraded, so that nobody knows yet whether the name is taken. */
    private int endings;

    /** How many holds of permits may be passed on. */
    private int permitHolds;

    /** Why the store cannot be asked, while those who wait are patient. */
    private @Nullable StoreUnavailableException outage;

    private boolean dead;
    private boolean shut;

    /** How many have entered; a waiter's place is its number. */
    private long entered;

    /** Those up to this place have been told to wait by the store, the last time at {@link #toldAt}. */
    private long toldUpTo;

    private long toldAt;

    /** Whether the next step of a driver that rested is made for somebody who waits no longer: then it only tries. */
    private boolean hurried;

    LocalQueue(Keeper keeper, LockRequest request, @Nullable Object key) {
        this.keeper = keeper;
        this.request = request;
        this.lane = keeper.calls().lane(request.name());
        this.key = key == null ? this : key;
        this.isContended = request.mode() != Mode.PERMITS;
    }

    Keeper keeper() {
        return keeper;
    }

    LockRequest request() {
        return request;
    }

    Lane lane() {
        return lane;
    }

    Object key() {
        return key;
    }

    // ---- Coming and going ----

    /** Takes a waiter in and gives it a result, a role or a place; false when this queue is dead and another must be found. */
    synchronized boolean enter(Waiter w) {
        if (dead) {
            return false;
        }
        if (w.isAnswered()) { // nobody wants it any more
            ensureProgress();
            return true;
        }
        w.place = ++entered;
        if (shut) {
            w.answer(closed());
            return true;
        }
        Hold joinable = current;
        if (joinable != null && request.mode() == Mode.SHARED) {
            long now = now();
            if (joinable.mayJoin(now)) {
                w.answer(new Result.Acquired(joinable.issue(w, now)));
                return true;
            }
            current = null; // it goes on for those who have it; later readers need a claim of their own
        }
        if (line.isEmpty() && mayDrive()) {
            appoint(w, new Role.Drive());
        } else if (w.once && (pending != null || current != null || drivers + endings == 0)) {
            tryOnce(w);
        } else {
            // Also one with a single attempt: what becomes of the claim being made tells what becomes of it.
            if (pending != null) {
                toldUpTo = entered;
            }
            line.addLast(w);
            if (w.once) {
                hurry();
            }
        }
        return true;
    }

    /** Answers one that makes a single attempt behind others: from what is known, or with the next answer of the store. */
    private void tryOnce(Waiter w) {
        OpenClaim p = pending;
        if (p == null || p.failure == null) {
            w.answer(taken());
            return;
        }
        w.late = true; // that the store did not answer a while ago says nothing about now
        line.addLast(w);
        askLater(p);
    }

    /** Somebody cannot wait until the driver has rested: it asks now; false when none rests. */
    private boolean hurry() {
        for (Waiter d = firstDriver; d != null; d = d.nextDriver) {
            if (!d.working && d.role() instanceof Role.Rest) {
                hurried = true;
                d.assign(new Role.Rest(now()));
                return true;
            }
        }
        return false;
    }

    private boolean mayDrive() {
        return pending == null && current == null && drivers < (isContended ? 1 : MOST_DRIVERS);
    }

    /**
     * A waiter's time is up: it is answered now, or, if the store has not been heard of yet, with the step under way. A claim
     * that nobody waits for any more is ended by {@code end}.
     */
    void timeOut(Waiter w, Consumer<OpenClaim> end) {
        List<OpenClaim> unwanted;
        synchronized (this) {
            if (w.isAnswered()) {
                return;
            }
            if (!isStoreHeardOf()) {
                w.late = true;
                return;
            }
            unwanted = leaving(w, taken());
        }
        unwanted.forEach(end);
    }

    /** Whether it is known that the name is taken: it is held here, or the store has said so not long ago. */
    private boolean isStoreHeardOf() {
        OpenClaim p = pending;
        if (p == null) {
            if (current == null && endings > 0) {
                return false; // what becomes of that tells
            }
            boolean isRecent =
                    outage != null || now() - toldAt <= keeper.calls().timeout();
            return current != null || !(isStepUnderWay() || (!isRecent && hurry()));
        }
        if (p.failure != null || now() - p.lastContact <= keeper.calls().timeout()) {
            return true;
        }
        askLater(p); // the answer, or that there is none, is what those who are late wait for
        return false;
    }

    /** What a waiter is answered that does not wait: that the name is taken, or why that is not known. */
    private Result taken() {
        StoreUnavailableException why = current != null ? null : pending == null ? outage : pending.failure;
        return why == null ? Result.NOT_ACQUIRED : gaveUp(why);
    }

    private boolean isStepUnderWay() {
        for (Waiter d = firstDriver; d != null; d = d.nextDriver) {
            if (d.working || !(d.role() instanceof Role.Rest)) {
                return true;
            }
        }
        return false;
    }

    /** Nobody wants to know any more what becomes of a waiter; false when it has been answered. */
    boolean abandon(Waiter w, Consumer<OpenClaim> end) {
        List<OpenClaim> unwanted;
        synchronized (this) {
            if (w.isAnswered()) {
                return false;
            }
            unwanted = leaving(w, Result.LEFT);
        }
        unwanted.forEach(end);
        return true;
    }

    /**
     * Something was thrown on a waiter's own thread where nothing should be, such as a stack that overflows: it ends at once,
     * whatever it was doing.
     */
    void expel(Waiter w) {
        List<OpenClaim> unwanted;
        synchronized (this) {
            w.working = false;
            unwanted = leaving(w, Result.LEFT);
        }
        unwanted.forEach(keeper.claims()::endInBackground);
    }

    /** Answers a waiter that does not wait any longer; gives the claims that nobody waits for any more. */
    private List<OpenClaim> leaving(Waiter w, Result result) {
        line.answer(w, result);
        Role role = w.role();
        List<OpenClaim> unwanted = new ArrayList<>(1);
        if (role != null && !w.working) { // otherwise its step is under way, and its thread clears up after it
            endRole(w);
            if (role instanceof Role.Confirm confirm) {
                unwanted.add(confirm.hold().claim);
            } else if (role instanceof Role.Ask ask) {
                ask.claim().changed = true;
            }
        }
        OpenClaim p = pending;
        if (p != null && line.isEmpty()) {
            unwanted.add(p);
            pending = null;
        }
        ensureProgress();
        return unwanted;
    }

    // ---- The driver's steps, on its own thread ----

    /**
     * Does what the waiter's role asks for, unless that is not due or not its own to do any more.
     *
     * @param asked since when it has waited for a thread to do it on
     */
    void perform(Waiter w, long asked) {
        Role role;
        long step;
        boolean tries;
        synchronized (this) {
            role = w.role();
            if (role == null
                    || w.working
                    || w.isAnswered()
                    || (role instanceof Role.Rest rest && now() < rest.until())) {
                return;
            }
            w.working = true;
            step = entered;
            tries = w.once || hurried;
            hurried = false;
        }
        OpenClaim made = role instanceof Role.Confirm confirm ? confirm.hold().claim : null;
        try {
            keeper.calls().refuseIfDown(lane, asked);
            if (role instanceof Role.Confirm confirm) {
                confirm(w, confirm.hold());
            } else if (role instanceof Role.Ask ask) {
                ask(w, ask);
            } else {
                Claims.Answered answered =
                        keeper.claims().claim(this, tries ? request.trying() : request.waiting(), lane);
                made = answered.claim();
                take(w, answered, step);
            }
        } catch (Throwable e) {
            try {
                if (made != null) {
                    keeper.claims().endInBackground(made);
                }
            } finally {
                failed(w, role, step, e);
            }
        }
    }

    private void take(Waiter w, Claims.Answered answered, long step) {
        OpenClaim c = answered.claim();
        if (answered.answer() instanceof Answer.Granted granted) {
            Hold hold = newHold(c, granted, c.sent);
            if (!granted.confirmed() && request.settings().mustConfirm()) {
                confirm(w, hold);
            } else {
                arrived(w, hold, c.sent);
            }
        } else if (answered.answer() instanceof Answer.Queued queued) {
            queued(w, c, queued);
        } else {
            keeper.claims().forget(c);
            refused(w, (Answer.Refused) answered.answer(), step);
        }
    }

    /** Confirms, with a renewal, what was granted with a short first lease. */
    private void confirm(Waiter w, Hold hold) {
        StoreCalls.Renewed renewed =
                keeper.calls().renew(hold, request.settings().lease());
        if (renewed.outcome() instanceof Renewal.Kept kept) {
            hold.extend(renewed.sent(), kept.remaining());
            arrived(w, hold, renewed.sent());
            return;
        }
        keeper.claims().forget(hold.claim);
        synchronized (this) {
            backInLine(w);
            line.answerAll(Waiter::waitsNoLonger, Result.NOT_ACQUIRED);
            ensureProgress();
        }
    }

    /** Asks what became of the pending claim, because a signal said that something did. */
    private void ask(Waiter w, Role.Ask role) {
        OpenClaim c = role.claim();
        StoreCalls.Refreshed refreshed = keeper.calls().refresh(c);
        synchronized (this) {
            endAsking(w, role);
            refreshed(c, refreshed.answer(), refreshed.sent());
            if (c.changed) {
                changed(c); // the answer may be older than what that signal was about
            }
            ensureProgress();
        }
    }

    /**
     * The driver's claim was granted, as the answer to a request sent at that time says: it goes to the driver, or, if that has left,
     * to the next who waits. It is confirmed first if a signal came meanwhile that may have been about its loss.
     */
    private void arrived(Waiter w, Hold hold, long sent) {
        keeper.renewer().keep(hold);
        if (hold.claim.isDoubtedSince(sent)) {
            confirm(w, hold);
            return;
        }
        synchronized (this) {
            if (!shut && hold.isValid(now()) && !(w.isAnswered() && line.isEmpty())) {
                w.late = false; // what it waited for has come
                isContended &= request.mode() != Mode.PERMITS || !line.isEmpty();
                backInLine(w);
                distribute(hold);
                line.answerAll(v -> v.late, Result.NOT_ACQUIRED);
                ensureProgress();
                return;
            }
        }
        // Its time was up before it came here, or nobody wants it: those who wait longer than that ask again.
        keeper.claims().giveBack(hold.claim);
        synchronized (this) {
            backInLine(w);
            line.answerAll(Waiter::waitsNoLonger, Result.NOT_ACQUIRED);
            ensureProgress();
        }
    }

    private void queued(Waiter w, OpenClaim c, Answer.Queued answer) {
        Answer.Granted early = null;
        boolean isDuplicate;
        boolean isWanted;
        c.queued(answer, c.sent, now());
        keeper.renewer().refresh(c);
        synchronized (this) {
            c.inStep = false;
            backInLine(w);
            toldUpTo = entered;
            toldAt = c.lastContact;
            isContended = true;
            line.answerAll(Waiter::waitsNoLonger, Result.NOT_ACQUIRED);
            isDuplicate = pending != null;
            isWanted = !shut && !line.isEmpty() && !isDuplicate;
            if (isWanted) {
                pending = c;
                early = c.early;
            }
            ensureProgress();
        }
        if (isDuplicate) {
            keeper.claims().endInBackground(c); // its thread has a place in line, and may be needed there
        } else if (!isWanted) {
            keeper.claims().giveBack(c);
        } else if (early != null) {
            granted(c, early, c.startOf(early, now()));
        } else {
            askIfChanged(c);
        }
    }

    private synchronized void refused(Waiter w, Answer.Refused answer, long step) {
        if (answer.why() == Answer.Why.CONFLICT) {
            throw new ConflictingUseException(
                    Printable.quoted(request.name()) + " is in use as " + Printable.text(answer.detail()));
        }
        if (answer.why() == Answer.Why.UNDECIDED) {
            undecided(w, answer, step);
            return;
        }
        outage = null;
        if (w.waitsNoLonger() || w.isAnswered()) {
            endRole(w);
            w.answer(Result.NOT_ACQUIRED);
            // The step lay within the attempts of those who were here when it began: it answers theirs, too.
            line.answerAll(v -> v.waitsNoLonger() && (v.late || v.place <= step), Result.NOT_ACQUIRED);
            ensureProgress();
        } else {
            line.answerAll(Waiter::waitsNoLonger, Result.NOT_ACQUIRED);
            toldUpTo = entered;
            toldAt = now();
            w.working = false;
            w.assign(new Role.Rest(toldAt + answer.retryAfter().toNanos()));
        }
    }

    /** An outage that ends by itself: those who wait ask again, for as long as they wait; the others fail. */
    private void undecided(Waiter w, Answer.Refused answer, long step) {
        StoreUnavailableException why = new StoreUnavailableException(Printable.text(answer.detail()), null);
        Result failed = new Result.Failed(why);
        line.answerAll(v -> v.waitsNoLonger() && (v.late || v.place <= step), failed);
        if (w.waitsNoLonger() || w.isAnswered()) {
            endRole(w);
            w.answer(failed);
            ensureProgress();
            return;
        }
        outage = why;
        toldUpTo = entered;
        toldAt = now();
        w.working = false;
        w.assign(new Role.Rest(toldAt + answer.retryAfter().toNanos()));
    }

    /** A step failed. What the store, or its absence, has said concerns all who had entered before it began. */
    private synchronized void failed(Waiter w, Role role, long step, Throwable e) {
        if (role instanceof Role.Ask ask) {
            endAsking(w, ask);
            if (e instanceof StoreUnavailableException) {
                askLater(ask.claim());
            } else {
                line.answer(w, new Result.Failed(e));
            }
            ensureProgress();
            return;
        }
        if (e instanceof LockkeeperException) {
            boolean isPatient = e instanceof StoreUnavailableException outage
                    && outage.worthRepeating()
                    && toldUpTo > 0
                    && now() - toldAt < keeper.config().patience().toNanos();
            long patientUpTo = isPatient ? toldUpTo : 0;
            Result failed = new Result.Failed(e);
            line.answerAll(v -> v.late || (v.place <= step && v.place > patientUpTo), failed);
            if (w.place <= patientUpTo && !w.isAnswered() && !w.waitsNoLonger()) {
                outage = (StoreUnavailableException) e;
                w.working = false;
                w.assign(new Role.Rest(now() + DURING_OUTAGE));
                return;
            }
        }
        if (w.role() != null) {
            endRole(w);
        }
        line.answer(w, new Result.Failed(e)); // it may have been put back in line before something was thrown
        ensureProgress();
    }

    // ---- What comes from outside: signals, refreshes, the renewer ----

    /** A pending claim was granted, no earlier than {@code start} on our clock; see {@link OpenClaim#startOf}. */
    synchronized void granted(OpenClaim c, Answer.Granted answer, long start) {
        if (c.inStep) {
            c.early = answer; // the driver will look at it when its step is done
            return;
        }
        if (pending != c || start == OpenClaim.STALE) {
            return; // withdrawn meanwhile, and so given back; or not granted any more
        }
        pending = null;
        c.refreshAt = Long.MAX_VALUE;
        Hold hold = newHold(c, answer, Math.max(start, 0));
        boolean isUnsure = start == OpenClaim.UNKNOWN || !hold.isValid(now());
        if (isUnsure || (!answer.confirmed() && request.settings().mustConfirm())) {
            if (!appointToConfirm(hold)) {
                keeper.claims().endInBackground(c);
            }
        } else {
            keeper.renewer().keep(hold);
            if (c.isDoubtedSince(start) ? !appointToConfirm(hold) : !distribute(hold)) {
                keeper.claims().endInBackground(c);
            }
        }
        ensureProgress();
    }

    /** The first who waits confirms a grant, on its own thread; false when nobody waits. */
    private boolean appointToConfirm(Hold hold) {
        Waiter w = line.poll();
        if (w == null) {
            return false;
        }
        toldAt = now();
        appoint(w, new Role.Confirm(hold));
        return true;
    }

    /**
     * Something may have happened to a claim: the first who waits asks, on its own thread. It stays in line: what the renewer
     * finds meanwhile is for it, too.
     */
    synchronized void changed(OpenClaim c) {
        c.changed = true; // looked at when the step is done that is under way
        Waiter w = c.inStep || pending != c || isAsking() ? null : line.peek();
        if (w != null) {
            c.changed = false;
            appoint(w, new Role.Ask(c));
        }
    }

    private synchronized void askIfChanged(OpenClaim c) {
        if (c.changed) {
            changed(c);
        }
    }

    /** The question was answered, or could not be; the waiter may have been given something else to do meanwhile. */
    private void endAsking(Waiter w, Role.Ask role) {
        if (w.role() == role) {
            endRole(w);
        }
    }

    private boolean isAsking() {
        for (Waiter d = firstDriver; d != null; d = d.nextDriver) {
            if (d.role() instanceof Role.Ask && !d.isAnswered()) {
                return true;
            }
        }
        return false;
    }

    /** The store could not be asked now: the renewer asks, and gives up when it is time. */
    private void askLater(OpenClaim c) {
        c.ask(now());
        keeper.timer().wakeBy(0);
    }

    /** What the store has said of a claim that was queued, in answer to a request sent at {@code sent}. */
    void refreshed(OpenClaim c, Answer answer, long sent) {
        if (answer instanceof Answer.Queued queued) {
            c.queued(queued, sent, now());
            stillQueued(c);
        } else if (answer instanceof Answer.Granted granted) {
            granted(c, granted, sent);
        } else {
            evicted(c);
        }
    }

    /** The store has said again that the pending claim is queued: the name is taken for those whose time was up. */
    private synchronized void stillQueued(OpenClaim c) {
        if (pending == c) {
            endLate(Result.NOT_ACQUIRED);
        }
    }

    /** The store could not be asked about the pending claim: those whose time was up do not know. */
    synchronized void couldNotAsk(OpenClaim c, StoreUnavailableException cause) {
        if (pending == c) {
            endLate(gaveUp(cause));
        }
    }

    private void endLate(Result result) {
        line.answerAll(w -> w.late, result);
        ensureProgress();
    }

    /** The store does not know the pending claim: the head claims again. */
    synchronized void evicted(OpenClaim c) {
        if (pending == c) {
            pending = null;
            keeper.claims().forget(c);
            toldAt = c.lastContact;
            ensureProgress();
        }
    }

    /** The store could not be asked about the pending claim for longer than we are patient. */
    synchronized void giveUp(OpenClaim c, StoreUnavailableException cause) {
        if (pending == c) {
            pending = null;
            c.claim = c.claim.asStray();
            keeper.claims().endInBackground(c);
            line.answerAll(w -> true, gaveUp(cause));
            ensureProgress();
        }
    }

    /** The keeper is being closed: all who wait end. A driver whose step is under way clears up after it. */
    synchronized void shut() {
        shut = true;
        line.answerAll(w -> true, closed());
        for (Waiter d = firstDriver, next; d != null; d = next) {
            next = d.nextDriver;
            leaving(d, closed()).forEach(keeper.claims()::endInBackground);
        }
        ensureProgress();
    }

    // ---- The rest is called with the monitor held, by a hold as well ----

    /** Gives a hold to those who wait: to the first, or to all readers; false when nobody wants it. */
    private boolean distribute(Hold hold) {
        long now = now();
        Waiter w = line.poll();
        if (w == null) {
            return false;
        }
        attach(hold);
        w.answer(new Result.Acquired(hold.issue(w, now)));
        while (request.mode() == Mode.SHARED && hold.mayJoin(now) && (w = line.poll()) != null) {
            w.answer(new Result.Acquired(hold.issue(w, now)));
        }
        if (request.mode() == Mode.EXCLUSIVE) {
            line.answerAll(Waiter::waitsNoLonger, Result.NOT_ACQUIRED);
        } else if (request.mode() == Mode.SHARED && !line.isEmpty()) {
            current = null; // its block is used up: the rest needs another claim
        }
        return true;
    }

    /** Gives a hold that was released to the next waiter; false when it must go back to the store. */
    boolean passOn(Hold hold) {
        boolean passes = hold == current || hold.attached;
        if (!passes || request.mode() == Mode.SHARED || line.isEmpty()) {
            return false;
        }
        long now = now();
        Waiter next = hold.mayPassOn(now) ? line.poll() : null;
        if (next == null) {
            return false;
        }
        next.answer(new Result.Acquired(hold.issue(next, now)));
        ensureProgress(); // a claim for permits may have been queued for what was passed on
        return true;
    }

    /** A hold that nobody may be given any more is being ended in the store, or changed: {@link #ended} follows. */
    void ending(Hold hold) {
        detach(hold);
        endings++;
    }

    /** The store was told, or could not be. */
    void ended() {
        endings--;
        if (current != null) {
            line.answerAll(Waiter::waitsNoLonger, Result.NOT_ACQUIRED); // another has brought a hold meanwhile
        }
        ensureProgress();
    }

    private void attach(Hold hold) {
        if (!request.isShareable()) {
            return;
        }
        if (request.mode() == Mode.PERMITS) {
            hold.attached = true;
            permitHolds++;
        } else {
            current = hold;
        }
    }

    /** Forgets a hold that ends, or that nobody may be given any more. */
    void detach(Hold hold) {
        if (current == hold) {
            current = null;
        } else if (hold.attached) {
            hold.attached = false;
            permitHolds--;
        }
    }

    /** The driver's step was answered: it waits at the head, unless it has left. */
    private void backInLine(Waiter w) {
        outage = null;
        endRole(w);
        if (!w.isAnswered()) {
            line.addFirst(w);
        }
    }

    private void endRole(Waiter w) {
        drivers--;
        if (firstDriver == w) {
            firstDriver = w.nextDriver;
        } else {
            for (Waiter d = firstDriver; d != null; d = d.nextDriver) {
                if (d.nextDriver == w) {
                    d.nextDriver = w.nextDriver;
                }
            }
        }
        w.resign();
    }

    /**
     * Restores the invariants: somebody who waits waits for something, no claim is queued that nobody waits for, and a queue
     * that has nothing left is done.
     */
    void ensureProgress() {
        endNeedlessQuestions();
        OpenClaim p = pending;
        if (p != null && line.isEmpty()) {
            pending = null;
            keeper.claims().endInBackground(p);
        } else if (p != null && p.changed) {
            changed(p); // the one who was to ask has left, or was given something else
        }
        while (mayDrive()) {
            Waiter next = line.poll();
            if (next == null) {
                break;
            }
            appoint(next, new Role.Drive());
        }
        if (drivers + permitHolds + endings == 0 && pending == null && current == null && line.isEmpty() && !dead) {
            dead = true;
            keeper.forget(this);
        }
    }

    /** Those who were to ask, and were answered before they began, have nothing to do any more: the next in line asks. */
    private void endNeedlessQuestions() {
        for (Waiter d = firstDriver, next; d != null; d = next) {
            next = d.nextDriver;
            if (d.isAnswered() && !d.working && d.role() instanceof Role.Ask ask) {
                ask.claim().changed = true;
                endRole(d);
            }
        }
    }

    private void appoint(Waiter w, Role role) {
        if (w.role() != null) {
            endRole(w); // it asks something that nobody needs to know any more
        }
        drivers++;
        w.nextDriver = firstDriver;
        firstDriver = w;
        w.assign(role);
    }

    private Hold newHold(OpenClaim c, Answer.Granted answer, long start) {
        return new Hold(
                this, c, answer, start, now(), keeper.skew(), keeper.claims().liveness(c));
    }

    private Result gaveUp(StoreUnavailableException cause) {
        return new Result.Failed(cause.because("gave up waiting for " + Printable.quoted(request.name())));
    }

    private Result closed() {
        return new Result.Failed(new KeeperClosedException(
                "stopped waiting for " + Printable.quoted(request.name()) + ": the keeper was closed"));
    }

    private long now() {
        return keeper.ticker().nanos();
    }
}
