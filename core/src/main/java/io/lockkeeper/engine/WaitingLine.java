// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import java.util.ArrayDeque;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Waiters, in order. One that was answered in the middle of the line is only counted, and taken out when it comes to the head
 * or when too many have gone, so that all of many can leave in time that grows with their number alone. Guarded by the
 * queue.
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

    boolean isEmpty() {
        return waiters.size() == gone;
    }

    /** Answers one that is in line, or not. */
    void answer(Waiter w, Result result) {
        if (w.inLine && !w.isAnswered()) {
            gone++;
        }
        w.answer(result);
        if (gone > FEW && gone > waiters.size() / 2) {
            waiters.removeIf(Waiter::isAnswered);
            gone = 0;
        }
    }

    /** The first that has not been answered; it stays. */
    @Nullable
    Waiter peek() {
        for (Waiter w = waiters.peekFirst(); w != null; w = waiters.peekFirst()) {
            if (!w.isAnswered()) {
                return w;
            }
            w.inLine = false;
            waiters.removeFirst();
            gone--;
        }
        return null;
    }

    /** Takes the first that has not been answered. */
    @Nullable
    Waiter poll() {
        for (Waiter w = waiters.pollFirst(); w != null; w = waiters.pollFirst()) {
            w.inLine = false;
            if (!w.isAnswered()) {
                return w;
            }
            gone--;
        }
        return null;
    }

    /** Takes out, and answers, all of a kind. */
    void answerAll(Predicate<Waiter> which, Result result) {
        if (isEmpty()) {
            return;
        }
        waiters.removeIf(w -> {
            boolean goes = w.isAnswered() || which.test(w);
            if (goes) {
                w.inLine = false;
                w.answer(result);
            }
            return goes;
        });
        gone = 0;
    }
}
