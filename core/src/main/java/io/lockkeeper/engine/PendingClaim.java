// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.spi.Answer;
import org.jspecify.annotations.Nullable;

/**
 * The claim of a {@link LocalQueue} that waits in the store's queue, and all that is heard of it from outside: by signals, by
 * refreshes, and by the renewer when the store cannot be asked. Guarded by the queue; what is said of a claim that is not
 * pending any more changes nothing.
 */
final class PendingClaim {
    private final LocalQueue queue;
    private @Nullable OpenClaim claim;

    PendingClaim(LocalQueue queue) {
        this.queue = queue;
    }

    @Nullable
    OpenClaim claim() {
        return claim;
    }

    boolean isThere() {
        return claim != null;
    }

    void set(OpenClaim c) {
        claim = c;
    }

    /** Takes the claim out if nobody waits for it any more. */
    @Nullable
    OpenClaim takeIfUnwanted() {
        OpenClaim unwanted = queue.line.isEmpty() ? claim : null;
        if (unwanted != null) {
            claim = null;
        }
        return unwanted;
    }

    // ---- Grants ----

    /** It was granted, no earlier than {@code start} on our clock; see {@link OpenClaim#startOf}. */
    void granted(OpenClaim c, Answer.Granted answer, long start) {
        synchronized (queue) {
            if (c.inStep) {
                c.early = answer; // the driver will look at it when its step is done
                return;
            }
            if (claim != c || start == OpenClaim.STALE) {
                return; // withdrawn meanwhile, and so given back; or not granted any more
            }
            claim = null;
            c.refreshAt = Long.MAX_VALUE;
            if (!use(queue.newHold(c, answer, Math.max(start, 0)), answer, start)) {
                queue.keeper.claims().endInBackground(c);
            }
            queue.ensureProgress();
        }
    }

    /** Gives a granted hold to those who wait, or has it confirmed first; false if nobody wants it. */
    private boolean use(Hold hold, Answer.Granted answer, long start) {
        boolean isUnsure = start == OpenClaim.UNKNOWN || !hold.isValid(queue.now());
        if (isUnsure || (!answer.confirmed() && queue.request.settings().mustConfirm())) {
            return appointToConfirm(hold);
        }
        queue.keeper.renewer().keep(hold);
        return hold.claim.isDoubtedSince(start) ? appointToConfirm(hold) : queue.holds.distribute(hold, queue.now());
    }

    /** The first who waits confirms a grant, on its own thread; false if nobody waits. */
    private boolean appointToConfirm(Hold hold) {
        Waiter w = queue.line.poll();
        if (w == null) {
            return false;
        }
        queue.news.heardOf(queue.now());
        queue.drivers.appoint(w, new Role.Confirm(hold));
        return true;
    }

    // ---- Hints ----

    /**
     * Something may have happened to it: the first who waits asks, on its own thread. That one stays in line: what the renewer
     * finds meanwhile is for it, too.
     */
    void changed(OpenClaim c) {
        synchronized (queue) {
            c.changed = true; // looked at when the step is done that is under way
            Waiter w = c.inStep || claim != c || queue.drivers.isAsking() ? null : queue.line.peek();
            if (w != null) {
                c.changed = false;
                queue.drivers.appoint(w, new Role.Ask(c));
            }
        }
    }

    void askIfChanged(OpenClaim c) {
        synchronized (queue) {
            if (c.changed) {
                changed(c);
            }
        }
    }

    /** The store could not be asked now, or need not be at once: the renewer asks, and gives up when it is time. */
    void askLater(OpenClaim c) {
        c.ask(queue.now());
        queue.keeper.timer().wakeBy(0);
    }

    // ---- Refreshes ----

    /** What the store has said of a claim that was queued, in answer to a request sent at {@code sent}. */
    void refreshed(OpenClaim c, Answer answer, long sent) {
        if (answer instanceof Answer.Queued queued) {
            c.queued(queued, sent, queue.now());
            stillQueued(c);
        } else if (answer instanceof Answer.Granted granted) {
            granted(c, granted, sent);
        } else {
            evicted(c);
        }
    }

    /** The store has said again that it is queued: the name is taken for those whose time was up. */
    private void stillQueued(OpenClaim c) {
        synchronized (queue) {
            if (claim == c) {
                endLate(Result.NOT_ACQUIRED);
            }
        }
    }

    /** The store could not be asked about it: those whose time was up do not know. */
    void couldNotAsk(OpenClaim c, StoreUnavailableException cause) {
        synchronized (queue) {
            if (claim == c) {
                endLate(queue.gaveUp(cause));
            }
        }
    }

    private void endLate(Result result) {
        queue.line.answerAll(w -> w.late, result);
        queue.ensureProgress();
    }

    // ---- Its end ----

    /** The store does not know it: the head of the line claims again. */
    void evicted(OpenClaim c) {
        synchronized (queue) {
            if (claim == c) {
                claim = null;
                queue.keeper.claims().forget(c);
                queue.news.heardOf(c.lastContact);
                queue.ensureProgress();
            }
        }
    }

    /** The store could not be asked about it for longer than we are patient. */
    void giveUp(OpenClaim c, StoreUnavailableException cause) {
        synchronized (queue) {
            if (claim == c) {
                claim = null;
                c.claim = c.claim.asStray();
                queue.keeper.claims().endInBackground(c);
                queue.line.answerAll(w -> true, queue.gaveUp(cause));
                queue.ensureProgress();
            }
        }
    }
}
