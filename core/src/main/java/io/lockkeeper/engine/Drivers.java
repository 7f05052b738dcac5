// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The waiters of a {@link LocalQueue} that have a {@link Role}, newest first. Guarded by the queue. */
final class Drivers {
    private @Nullable Waiter first;
    private int count;

    int count() {
        return count;
    }

    List<Waiter> all() {
        List<Waiter> all = new ArrayList<>(count);
        for (Waiter d = first; d != null; d = d.nextDriver) {
            all.add(d);
        }
        return all;
    }

    /** Gives a waiter a role, instead of the one that it may have. */
    void appoint(Waiter w, Role role) {
        if (w.role() != null) {
            resign(w); // it asks something that nobody needs to know any more
        }
        count++;
        w.nextDriver = first;
        first = w;
        w.assign(role);
    }

    /** A waiter's role has ended. */
    void resign(Waiter w) {
        count--;
        if (first == w) {
            first = w.nextDriver;
        } else {
            for (Waiter d = first; d != null; d = d.nextDriver) {
                if (d.nextDriver == w) {
                    d.nextDriver = w.nextDriver;
                }
            }
        }
        w.resign();
    }

    /** A driver that stays one makes its next step at that time. */
    void rest(Waiter w, long until) {
        w.working = false;
        w.assign(new Role.Rest(until));
    }

    /** Lets a driver that rests make its step now; false if none rests. */
    boolean hurry(long now) {
        for (Waiter d = first; d != null; d = d.nextDriver) {
            if (!d.working && d.role() instanceof Role.Rest) {
                d.assign(new Role.Rest(now));
                return true;
            }
        }
        return false;
    }

    /** Whether the store is being asked, or is about to be. */
    boolean isStepUnderWay() {
        for (Waiter d = first; d != null; d = d.nextDriver) {
            if (d.working || !(d.role() instanceof Role.Rest)) {
                return true;
            }
        }
        return false;
    }

    /** Whether a waiter that has not been answered asks what became of the pending claim. */
    boolean isAsking() {
        for (Waiter d = first; d != null; d = d.nextDriver) {
            if (d.role() instanceof Role.Ask && !d.isAnswered()) {
                return true;
            }
        }
        return false;
    }

    /** Takes the role from those who were to ask, but were answered before they began: the next in line is to ask. */
    void endNeedlessQuestions() {
        for (Waiter d = first, next; d != null; d = next) {
            next = d.nextDriver;
            if (d.isAnswered() && !d.working && d.role() instanceof Role.Ask ask) {
                ask.claim().changed = true;
                resign(d);
            }
        }
    }
}
