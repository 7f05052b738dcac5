// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import io.lockkeeper.ConflictingUseException;
import io.lockkeeper.KeeperClosedException;
import io.lockkeeper.Mode;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.Grant;
import io.lockkeeper.spi.Renewal;
import org.jspecify.annotations.Nullable;

/**
 * The threads of this process that want one name in one mode on the same terms. At most one claim of theirs is in the
 * store's queue; the hold that it brings passes from thread to thread.
 *
 * <p><b>Roles.</b> A queue that is idle makes whoever enters it its <em>driver</em>: that waiter, on its own thread, makes
 * the claim. It is granted, refused, or queued in the store; then the queue has a {@link Pending} claim and the driver
 * waits at the head of the others. A grant told by a signal or found by a refresh goes to the head. A driver that fails
 * or leaves makes the next waiter the driver. So each step is made by somebody who waits for it, and no thread is ever
 * owned by a queue.
 *
 * <p><b>Passing on.</b> A release gives the hold to the next waiter, with the next token of its block and no I/O, as long as
 * {@link Hold#mayPassOn} allows it; else it goes back to the store, whose next in line may be another process, and the
 * next waiter here claims anew. Readers join the hold of their process, for a bounded time. {@code fair(true)}, fixed
 * leases and permits use a queue of their own for each attempt, so that nothing is ever passed on.
 *
 * <p><b>Invariants</b>, under the monitor: at most one of driver, pending claim and current exclusive hold is there; if
 * somebody waits, one of them is; a dead queue has none and is in no map. Nothing here does I/O or runs user code while it
 * has the monitor. A waiter's outcome is set exactly once between entering and leaving, except for roles.
 */
final class LocalQueue {
    /** How long a waiter that the store does not queue waits before it asks again during an outage. */
    private static final long DURING_OUTAGE = 250_000_000;

    private final Keeper keeper;
    private final Want want;
    private final Object lane;
    private final Object key;

    private final WaitingLine line = new WaitingLine();
    private @Nullable Waiter driver;
    private @Nullable Pending pending;
    private @Nullable Hold current;
    private long stepsBegun;
    private boolean dead;
    private boolean shut;

    LocalQueue(Keeper keeper, Want want, @Nullable Object key) {
        this.keeper = keeper;
        this.want = want;
        this.lane = keeper.lane(want.name());
        this.key = key == null ? this : key;
    }

    Keeper keeper() {
        return keeper;
    }

    Want want() {
        return want;
    }

    Object key() {
        return key;
    }

    // ---- Coming and going ----

    /** Takes a waiter in and gives it an outcome or a place; false when this queue is dead and another must be found. */
    synchronized boolean enter(Waiter w) {
        if (dead) {
            return false;
        }
        w.in = this;
        if (w.outcome == Waiter.GONE) {
            goOn(); // if nobody else is here, this queue is done
            return true;
        }
        w.outcome = null;
        if (shut) {
            w.settle(closed());
            return true;
        }
        Hold joinable = current;
        if (joinable != null && want.mode() == Mode.SHARED) {
            long now = now();
            if (joinable.mayJoin(now)) {
                w.settle(joinable.issue(w, now));
                return true;
            }
            current = null; // it goes on for those who have it; later readers need a claim of their own
        }
        if (driver == null && pending == null && current == null && line.size() == 0) {
            appoint(w);
        } else if (w.once && driver == null) {
            w.settle(Waiter.NOT_ACQUIRED);
        } else {
            // Also one with a single attempt: what becomes of the claim being made tells what becomes of it.
            w.enteredBefore = stepsBegun + 1;
            line.addLast(w);
        }
        return true;
    }

    /** Takes a waiter out, and its claim out of the store if nobody else waits for it; false when it has an outcome. */
    boolean leave(Waiter w) {
        Pending withdrawn = null;
        synchronized (this) {
            if (w.in != this) {
                return false; // it is on its way into another queue, and looks for itself whether it is still wanted
            }
            Object o = w.outcome;
            if (o == Waiter.GONE || o == Waiter.NOT_ACQUIRED || o instanceof Possession || o instanceof Throwable) {
                return false;
            }
            w.outcome = Waiter.GONE;
            if (driver == w) {
                if (w.working) {
                    return true; // its step is under way; whoever makes it clears up after it
                }
                driver = null;
                Hold unconfirmed = w.toConfirm;
                if (unconfirmed != null) {
                    w.toConfirm = null;
                    keeper.releaseBehind(unconfirmed);
                }
            } else if (w.inLine) {
                line.left();
            }
            if (pending != null && line.size() == 0) {
                withdrawn = drop(pending);
            }
            goOn();
        }
        if (withdrawn != null) {
            keeper.steps().withdraw(withdrawn.claim, lane);
        }
        return true;
    }

    // ---- The driver's steps, on its own thread ----

    /** Makes a claim for those who wait here; false when that is not this waiter's to do (any more). */
    boolean drive(Waiter w) {
        synchronized (this) {
            if (driver != w || w.working) {
                return false;
            }
            if (shut) {
                driver = null;
                w.settle(closed());
                return true;
            }
            w.working = true;
            stepsBegun++;
        }
        claim(w);
        return true;
    }

    private void claim(Waiter w) {
        Pending p = null;
        try {
            p = keeper.steps().newPending(this, w.once ? want.trying() : want.waiting(), lane);
            keeper.track(p);
            Answer answer = keeper.steps().claim(p);
            if (answer instanceof Answer.Granted granted) {
                keeper.untrack(p);
                Hold hold = newHold(p, granted, p.sent);
                if (!granted.confirmed() && want.settings().mustConfirm()) {
                    confirm(w, hold);
                } else {
                    arrived(w, hold);
                }
            } else if (answer instanceof Answer.Queued queued) {
                queued(w, p, queued);
            } else {
                keeper.untrack(p);
                refused(w, (Answer.Refused) answer);
            }
        } catch (RuntimeException | Error e) {
            if (p != null) {
                keeper.untrack(p);
            }
            if (!ridesOut(w, e)) {
                failed(w, e);
            }
        }
    }

    /** Whether a waiter that has to claim again goes on doing so during an outage, as a queued claim would. */
    private synchronized boolean ridesOut(Waiter w, Throwable e) {
        boolean rides = e instanceof StoreUnavailableException failure
                && failure.worthRepeating()
                && w.toldToWaitAt != 0
                && w.outcome != Waiter.GONE
                && !shut
                && now() - w.toldToWaitAt < keeper.config().patience().toNanos();
        if (rides) {
            w.working = false;
            w.restUntil = now() + DURING_OUTAGE;
            w.settle(Waiter.REST);
        }
        return rides;
    }

    /** Confirms, with a renewal, the grant that the waiter was given. */
    boolean confirm(Waiter w) {
        Hold hold;
        synchronized (this) {
            hold = w.toConfirm;
            w.toConfirm = null;
            if (driver != w || hold == null) {
                return false;
            }
            w.working = true;
        }
        confirm(w, hold);
        return true;
    }

    private void confirm(Waiter w, Hold hold) {
        Steps.Renewed renewed;
        try {
            renewed = keeper.steps().renew(hold, want.settings().lease());
        } catch (RuntimeException | Error e) {
            keeper.releaseBehind(hold);
            if (!ridesOut(w, e)) {
                failed(w, e);
            }
            return;
        }
        if (renewed.outcome() instanceof Renewal.Kept kept) {
            hold.extend(renewed.sent(), kept.remaining());
            arrived(w, hold);
        } else {
            again(w);
        }
    }

    private synchronized void again(Waiter w) {
        w.working = false;
        if (w.outcome == Waiter.GONE) {
            driver = null;
            goOn();
        } else {
            w.settle(Waiter.DRIVE);
        }
    }

    /** The driver's claim was granted: it goes to the driver, or, if that has left, to whoever waits. */
    private void arrived(Waiter w, Hold hold) {
        boolean usable;
        synchronized (this) {
            usable = hold.isValid(now()) && !shut;
            if (usable) {
                backInLine(w);
                usable = distribute(hold);
                goOn();
            }
        }
        if (!usable) {
            // Its time was up before it came here: whoever waits longer than that asks again.
            keeper.steps().giveBack(hold);
            synchronized (this) {
                if (driver == w && (w.once || shut)) {
                    driver = null;
                    w.working = false;
                    settleUnlessGone(w, shut ? closed() : Waiter.NOT_ACQUIRED);
                    goOn();
                } else if (driver == w) {
                    again(w);
                }
            }
        }
    }

    private void queued(Waiter w, Pending p, Answer.Queued answer) {
        Pending withdrawn = null;
        Answer.Granted early = null;
        synchronized (this) {
            p.inStep = false;
            p.queued(answer, p.sent, now());
            backInLine(w);
            line.tellThoseWhoTryOnce(Long.MAX_VALUE);
            if (shut || line.size() == 0) {
                withdrawn = drop(p);
                if (shut) {
                    settleAllClosed();
                }
            } else {
                pending = p;
                early = p.early;
                keeper.renewer().addQueued(p);
            }
            goOn();
        }
        if (withdrawn != null) {
            keeper.steps().withdraw(withdrawn.claim, lane);
        } else if (early != null) {
            granted(p, early, p.startOf(early, now()));
        }
    }

    private synchronized void refused(Waiter w, Answer.Refused answer) {
        w.working = false;
        if (answer.why() == Answer.Why.CONFLICT) {
            failed(w, new ConflictingUseException("'" + want.name() + "' is in use as " + answer.detail()));
        } else if (w.once || w.outcome == Waiter.GONE || shut) {
            driver = null;
            settleUnlessGone(w, shut ? closed() : Waiter.NOT_ACQUIRED);
            if (w.once) {
                // The step lay within the attempts of those who were here when it began: it answers theirs, too.
                line.tellThoseWhoTryOnce(stepsBegun);
            }
            goOn();
        } else {
            line.tellThoseWhoTryOnce(Long.MAX_VALUE);
            w.toldToWaitAt = now();
            w.restUntil = w.toldToWaitAt + answer.retryAfter().toNanos();
            w.settle(Waiter.REST);
        }
    }

    private synchronized void failed(Waiter w, Throwable e) {
        w.working = false;
        if (driver == w) {
            driver = null;
        }
        settleUnlessGone(w, shut && e instanceof StoreUnavailableException ? closed() : e);
        goOn();
    }

    // ---- What comes from outside: signals, refreshes, the renewer ----

    /** A pending claim was granted, no earlier than {@code start} on our clock; negative when that is not known. */
    void granted(Pending p, Answer.Granted answer, long start) {
        Hold unusable = null;
        synchronized (this) {
            if (p.inStep) {
                p.early = answer; // the driver will look at it when its step is done
                return;
            }
            if (pending != p) {
                return; // withdrawn meanwhile; the withdrawal gives it back
            }
            drop(p);
            Hold hold = newHold(p, answer, Math.max(start, 0));
            boolean unsure = start < 0 || !hold.isValid(now());
            if (unsure || (!answer.confirmed() && want.settings().mustConfirm())) {
                Waiter w = line.poll();
                if (w == null) {
                    unusable = hold;
                } else {
                    driver = w;
                    w.toldToWaitAt = now();
                    w.toConfirm = hold;
                    w.settle(Waiter.CONFIRM);
                }
            } else if (!distribute(hold)) {
                unusable = hold;
            }
            goOn();
        }
        if (unusable != null) {
            keeper.releaseBehind(unusable);
        }
    }

    /** The store no longer knows the pending claim: the head claims anew. */
    synchronized void evicted(Pending p) {
        if (pending == p) {
            drop(p);
            goOn();
            Waiter next = driver;
            if (next != null) {
                next.toldToWaitAt = p.lastContact;
            }
        }
    }

    /** The store could not be asked about the pending claim for longer than we are patient. */
    void giveUp(Pending p, StoreUnavailableException cause) {
        synchronized (this) {
            if (pending != p) {
                return;
            }
            drop(p);
            for (Waiter w = line.poll(); w != null; w = line.poll()) {
                w.settle(cause.because("gave up waiting for '" + want.name() + "'"));
            }
            goOn();
        }
        keeper.steps().withdrawBehind(p.claim.asStray(), lane);
    }

    /** The keeper is being closed: all who wait end. */
    void shut() {
        Pending withdrawn = null;
        synchronized (this) {
            shut = true;
            settleAllClosed();
            Waiter d = driver;
            if (d != null && !d.working) {
                driver = null;
                d.settle(closed());
            }
            if (pending != null) {
                withdrawn = drop(pending);
            }
            goOn();
        }
        if (withdrawn != null) {
            keeper.steps().withdraw(withdrawn.claim, lane);
        }
    }

    // ---- The rest is called with the monitor held, by a hold as well ----

    /** Gives a hold to those who wait: to the first, or to all readers; false when nobody wants it. */
    private boolean distribute(Hold hold) {
        long now = now();
        Waiter w = line.poll();
        if (w == null) {
            return false;
        }
        keeper.renewer().add(hold);
        current = want.isShareable() ? hold : null;
        w.settle(hold.issue(w, now));
        while (want.mode() == Mode.SHARED && hold.mayJoin(now) && (w = line.poll()) != null) {
            w.settle(hold.issue(w, now));
        }
        if (want.mode() != Mode.SHARED) {
            line.tellThoseWhoTryOnce(Long.MAX_VALUE);
        } else if (line.size() > 0) {
            current = null; // its block is used up: the rest needs another claim
        }
        return true;
    }

    /** Gives a hold that was released to the next waiter; false when it must go back to the store. */
    boolean passOn(Hold hold) {
        if (hold != current || want.mode() == Mode.SHARED || line.size() == 0) {
            return false;
        }
        long now = now();
        Waiter next = hold.mayPassOn(now) ? line.poll() : null;
        if (next == null) {
            return false;
        }
        next.settle(hold.issue(next, now));
        return true;
    }

    /** Forgets a hold that ends, or that nobody may be given any more. */
    void detach(Hold hold) {
        if (current == hold) {
            current = null;
        }
    }

    private Pending drop(Pending p) {
        if (pending == p) {
            pending = null;
        }
        keeper.untrack(p);
        return p;
    }

    /** The driver's step is done: it waits at the head, unless it has left. */
    private void backInLine(Waiter w) {
        driver = null;
        w.working = false;
        if (w.outcome != Waiter.GONE) {
            w.outcome = null;
            line.addFirst(w);
        }
    }

    /** Restores the invariant that whoever waits waits for something; else this queue is done. */
    void goOn() {
        if (driver == null && pending == null && current == null) {
            Waiter next = line.poll();
            if (next != null) {
                appoint(next);
            } else if (!dead) {
                dead = true;
                keeper.forget(this);
            }
        }
    }

    private void appoint(Waiter w) {
        driver = w;
        w.settle(Waiter.DRIVE);
    }

    private void settleAllClosed() {
        for (Waiter w = line.poll(); w != null; w = line.poll()) {
            w.settle(closed());
        }
    }

    private void settleUnlessGone(Waiter w, Object outcome) {
        if (w.outcome != Waiter.GONE) {
            w.settle(outcome);
        }
    }

    private Hold newHold(Pending p, Answer.Granted answer, long start) {
        Claim claim = p.claim;
        Grant grant = Grant.of(claim, answer);
        return new Hold(this, lane, grant, answer, start, now(), keeper.skew(), keeper.liveness(claim));
    }

    private KeeperClosedException closed() {
        return new KeeperClosedException("the keeper has been closed; nobody waits for '" + want.name() + "' any more");
    }

    private long now() {
        return keeper.ticker().nanos();
    }
}
