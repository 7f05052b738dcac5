// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * What one thread holds by {@code lock()}, by name. A fixed lease may end without ever being unlocked: only the last few of
 * those are kept, so that a thread may do so forever. Used by its thread, but for {@link #isOver}.
 */
final class ThreadHolds {
    /** This many lost fixed leases are remembered for a call that must fail because of the loss. */
    static final int MOST_REMEMBERED = 10;

    private final Map<String, ThreadHold> holds = new ConcurrentHashMap<>(4);

    /** Guarded by itself. */
    private final Deque<ThreadHold> over = new ArrayDeque<>(1);

    @Nullable
    ThreadHold of(String name) {
        return holds.get(name);
    }

    void put(ThreadHold hold) {
        forget(holds.put(hold.name(), hold));
    }

    void remove(ThreadHold hold) {
        holds.remove(hold.name(), hold);
        forget(hold);
    }

    private void forget(@Nullable ThreadHold hold) {
        synchronized (over) {
            over.remove(hold);
        }
    }

    /** A fixed lease was lost, and nothing is left of it in the store. Called by the timer. */
    void isOver(ThreadHold hold) {
        if (hold.isPart()) {
            return; // it is unlocked with others
        }
        synchronized (over) {
            if (holds.get(hold.name()) != hold) {
                return; // it was unlocked, or the name was locked again
            }
            over.addLast(hold);
            ThreadHold oldest = over.size() > MOST_REMEMBERED ? over.pollFirst() : null;
            if (oldest != null) {
                holds.remove(oldest.name(), oldest);
            }
        }
    }

    /** How many lost fixed leases are remembered. */
    int remembered() {
        synchronized (over) {
            return over.size();
        }
    }
}
