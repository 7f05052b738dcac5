// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * Waiters, in order. One that leaves from the middle is only counted, and taken out when it comes to the head or when too many
 * have gone, so that all of many can leave in time that grows with their number alone. Guarded by the queue.
 */
final class WaitingLine {
    private static final int FEW = 16;

    private final ArrayDeque<Waiter> waiters = new ArrayDeque<>(2);
    private int gone;

    void addLast(Waiter w) {
        w.inLine = true;
        waiters.addLast(w);
    }

    void addFirst(Waiter w) {
        w.inLine = true;
        waiters.addFirst(w);
    }

    /** How many wait. */
    int size() {
        return waiters.size() - gone;
    }

    /** One of those in line has left, and says so as its outcome. */
    void left() {
        gone++;
        if (gone > FEW && gone > waiters.size() / 2) {
            waiters.removeIf(w -> w.outcome == Waiter.GONE);
            gone = 0;
        }
    }

    /** Takes the first who has not left. */
    @Nullable
    Waiter poll() {
        for (Waiter w = waiters.pollFirst(); w != null; w = waiters.pollFirst()) {
            w.inLine = false;
            if (w.outcome != Waiter.GONE) {
                return w;
            }
            gone--;
        }
        return null;
    }

    /** The name is taken: so those with a single attempt are told who came before this step began. */
    void tellThoseWhoTryOnce(long step) {
        waiters.removeIf(w -> {
            boolean goes = w.once && w.outcome == null && w.enteredBefore <= step;
            if (goes) {
                w.inLine = false;
                w.settle(Waiter.NOT_ACQUIRED);
            }
            return goes;
        });
    }
}
