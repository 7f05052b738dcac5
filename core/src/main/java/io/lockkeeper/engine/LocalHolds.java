// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import io.lockkeeper.Mode;
import org.jspecify.annotations.Nullable;

/**
 * The holds of a {@link LocalQueue} that its waiters may be given: an exclusive one that passes from thread to thread, one
 * that readers join, or permits. Guarded by the queue.
 */
final class LocalHolds {
    private final LockRequest request;
    private final WaitingLine line;

    /** The hold that the next waiter may be given: exclusive, or one that readers may join. */
    private @Nullable Hold current;

    /** How many holds of permits may be passed on. */
    private int permitHolds;

    /** How many holds are being given back or downgraded, so that nobody knows yet whether the name is taken. */
    private int endings;

    LocalHolds(LockRequest request, WaitingLine line) {
        this.request = request;
        this.line = line;
    }

    /** Whether the name is taken by a hold that the next waiter may be given. */
    boolean isTaken() {
        return current != null;
    }

    boolean isAnyEnding() {
        return endings > 0;
    }

    boolean isEmpty() {
        return current == null && permitHolds + endings == 0;
    }

    /** Lets a reader join the hold that others have; null if there is none that it may join. */
    @Nullable
    Possession join(Waiter w, long now) {
        Hold joinable = current;
        if (joinable == null || request.mode() != Mode.SHARED) {
            return null;
        }
        if (joinable.mayJoin(now)) {
            return joinable.issue(w, now);
        }
        current = null; // it goes on for those who have it; later readers need a claim of their own
        return null;
    }

    /** Gives a hold to those who wait: to the first, or to all readers; false if nobody wants it. */
    boolean distribute(Hold hold, long now) {
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

    /** Gives a hold that was released to the next waiter; false if it must go back to the store. */
    boolean passOn(Hold hold, long now) {
        boolean passes = hold == current || hold.attached;
        if (!passes || request.mode() == Mode.SHARED || line.isEmpty()) {
            return false;
        }
        Waiter next = hold.mayPassOn(now) ? line.poll() : null;
        if (next == null) {
            return false;
        }
        next.answer(new Result.Acquired(hold.issue(next, now)));
        return true;
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

    /** A hold is being ended in the store, or changed: {@link #ended} follows. */
    void ending(Hold hold) {
        detach(hold);
        endings++;
    }

    void ended() {
        endings--;
        if (current != null) {
            line.answerAll(Waiter::waitsNoLonger, Result.NOT_ACQUIRED); // another has brought a hold meanwhile
        }
    }
}
