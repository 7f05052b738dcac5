// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import io.lockkeeper.KeeperClosedException;
import io.lockkeeper.Mode;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.spi.Answer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The threads of this process that want one name in one mode on the same terms. At most one claim of theirs is in the
 * store's queue; the hold that it brings passes from thread to thread.
 *
 * <p><b>Drivers.</b> A waiter that enters an idle queue becomes its <em>driver</em>: it makes the claim, on its own thread. The
 * claim is granted, refused, or queued in the store; then the queue has a {@link PendingClaim} and the driver waits at the
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
 *
 * <p><b>Parts</b>, all guarded by the monitor of the queue: {@link WaitingLine}, {@link Drivers} (those with something to do),
 * {@link PendingClaim} (what is queued in the store), {@link LocalHolds} (what may be passed on) and {@link StoreNews}. A
 * {@link DriverStep} is what a driver does on its own thread. Here is how waiters come and go, and what keeps the invariants.
 */
final class LocalQueue {
    /** Permits: more claims at a time than this would only queue in the store's connection pool. */
    private static final int MOST_DRIVERS = 8;

    final Keeper keeper;
    final LockRequest request;
    final Lane lane;
    private final Object key;

    final WaitingLine line = new WaitingLine();
    final Drivers drivers = new Drivers();
    final PendingClaim pending = new PendingClaim(this);
    final LocalHolds holds;
    final StoreNews news = new StoreNews();

    /** Whether a second claim would only be told to wait: always, but for permits that nobody is known to wait for. */
    boolean isContended;

    private boolean dead;
    private boolean shut;

    /** How many have entered; a waiter's place is its number. */
    private long entered;

    /** Whether the next step of a driver that rested is made for somebody who waits no longer: then it only tries. */
    private boolean hurried;

    LocalQueue(Keeper keeper, LockRequest request, @Nullable Object key) {
        this.keeper = keeper;
        this.request = request;
        this.lane = keeper.calls().lane(request.name());
        this.key = key == null ? this : key;
        this.holds = new LocalHolds(request, line);
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

    PendingClaim pending() {
        return pending;
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
        Possession shared = holds.join(w, now());
        if (shared != null) {
            w.answer(new Result.Acquired(shared));
            return true;
        }
        if (line.isEmpty() && mayDrive()) {
            drivers.appoint(w, new Role.Drive());
        } else if (w.once && isKnownWithoutStep()) {
            tryOnce(w);
        } else {
            // Also one with a single attempt: what becomes of the claim being made tells what becomes of it.
            if (pending.isThere()) {
                news.toldToWait(entered);
            }
            line.addLast(w);
            if (w.once) {
                hurry();
            }
        }
        return true;
    }

    private boolean isKnownWithoutStep() {
        return pending.isThere() || holds.isTaken() || (drivers.count() == 0 && !holds.isAnyEnding());
    }

    /** Answers one that makes a single attempt behind others: from what is known, or with the next answer of the store. */
    private void tryOnce(Waiter w) {
        OpenClaim p = pending.claim();
        if (p == null || p.failure == null) {
            w.answer(taken());
            return;
        }
        w.late = true; // that the store did not answer a while ago says nothing about now
        line.addLast(w);
        pending.askLater(p);
    }

    /** Somebody cannot wait until the driver has rested: it asks now; false if none rests. */
    private boolean hurry() {
        boolean isAsked = drivers.hurry(now());
        hurried |= isAsked;
        return isAsked;
    }

    private boolean mayDrive() {
        return !pending.isThere() && !holds.isTaken() && drivers.count() < (isContended ? 1 : MOST_DRIVERS);
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
        OpenClaim p = pending.claim();
        if (p != null) {
            if (p.failure != null || now() - p.lastContact <= keeper.calls().timeout()) {
                return true;
            }
            pending.askLater(p); // the answer, or that there is none, is what those who are late wait for
            return false;
        }
        if (holds.isTaken()) {
            return true;
        }
        if (holds.isAnyEnding() || drivers.isStepUnderWay()) {
            return false; // what becomes of that tells
        }
        return news.isRecent(now(), keeper.calls().timeout()) || !hurry();
    }

    /** What a waiter is answered that does not wait: that the name is taken, or why that is not known. */
    private Result taken() {
        OpenClaim p = pending.claim();
        StoreUnavailableException why = holds.isTaken() ? null : p == null ? news.outage() : p.failure;
        return why == null ? Result.NOT_ACQUIRED : gaveUp(why);
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
            drivers.resign(w);
            if (role instanceof Role.Confirm confirm) {
                unwanted.add(confirm.hold().claim);
            } else if (role instanceof Role.Ask ask) {
                ask.claim().changed = true;
            }
        }
        OpenClaim p = pending.takeIfUnwanted();
        if (p != null) {
            unwanted.add(p);
        }
        ensureProgress();
        return unwanted;
    }

    /** The keeper is being closed: all who wait end. A driver whose step is under way clears up after it. */
    synchronized void shut() {
        shut = true;
        line.answerAll(w -> true, closed());
        for (Waiter d : drivers.all()) {
            leaving(d, closed()).forEach(keeper.claims()::endInBackground);
        }
        ensureProgress();
    }

    boolean isShut() {
        return shut;
    }

    /** How many have entered, and so the place of the last of them. */
    long entered() {
        return entered;
    }

    // ---- The driver's steps, on its own thread ----

    /**
     * Does what the waiter's role asks for, unless that is not due or not its own to do any more.
     *
     * @param asked since when it has waited for a thread to do it on
     */
    void perform(Waiter w, long asked) {
        DriverStep step;
        synchronized (this) {
            Role role = w.role();
            if (role == null
                    || w.working
                    || w.isAnswered()
                    || (role instanceof Role.Rest rest && now() < rest.until())) {
                return;
            }
            step = new DriverStep(this, w, role, entered, w.once || hurried);
            w.working = true;
            hurried = false;
        }
        step.make(asked);
    }

    // ---- The rest is called with the monitor held, by a hold as well ----

    /** Gives a hold that was released to the next waiter; false when it must go back to the store. */
    boolean passOn(Hold hold) {
        boolean isPassedOn = holds.passOn(hold, now());
        if (isPassedOn) {
            ensureProgress(); // a claim for permits may have been queued for what was passed on
        }
        return isPassedOn;
    }

    /** A hold that nobody may be given any more is being ended in the store, or changed: {@link #ended} follows. */
    void ending(Hold hold) {
        holds.ending(hold);
    }

    /** The store was told, or could not be. */
    void ended() {
        holds.ended();
        ensureProgress();
    }

    /** Forgets a hold that ends, or that nobody may be given any more. */
    void detach(Hold hold) {
        holds.detach(hold);
    }

    /** The driver's step was answered: it waits at the head, unless it has left. */
    void backInLine(Waiter w) {
        news.answered();
        drivers.resign(w);
        if (!w.isAnswered()) {
            line.addFirst(w);
        }
    }

    /**
     * Restores the invariants: somebody who waits waits for something, no claim is queued that nobody waits for, and a queue
     * that has nothing left is done.
     */
    void ensureProgress() {
        drivers.endNeedlessQuestions();
        OpenClaim unwanted = pending.takeIfUnwanted();
        OpenClaim p = pending.claim();
        if (unwanted != null) {
            keeper.claims().endInBackground(unwanted);
        } else if (p != null && p.changed) {
            pending.changed(p); // the one who was to ask has left, or was given something else
        }
        while (mayDrive()) {
            Waiter next = line.poll();
            if (next == null) {
                break;
            }
            drivers.appoint(next, new Role.Drive());
        }
        if (drivers.count() == 0 && holds.isEmpty() && !pending.isThere() && line.isEmpty() && !dead) {
            dead = true;
            keeper.forget(this);
        }
    }

    Hold newHold(OpenClaim c, Answer.Granted answer, long start) {
        return new Hold(
                this, c, answer, start, now(), keeper.skew(), keeper.claims().liveness(c));
    }

    Result gaveUp(StoreUnavailableException cause) {
        return new Result.Failed(cause.because("gave up waiting for " + Printable.quoted(request.name())));
    }

    private Result closed() {
        return new Result.Failed(new KeeperClosedException(
                "stopped waiting for " + Printable.quoted(request.name()) + ": the keeper was closed"));
    }

    long now() {
        return keeper.ticker().nanos();
    }
}
