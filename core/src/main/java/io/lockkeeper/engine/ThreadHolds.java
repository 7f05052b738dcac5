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

    // Guarded by this.
    private final Deque<ThreadHold> over = new ArrayDeque<>(1);

    @Nullable
    ThreadHold of(String name) {
        return holds.get(name);
    }

    void put(ThreadHold hold) {
        holds.put(hold.name(), hold);
    }

    void remove(ThreadHold hold) {
        holds.remove(hold.name(), hold);
    }

    /** A fixed lease was lost, and nothing is left of it in the store. Called by the timer. */
    void isOver(ThreadHold hold) {
        if (holds.get(hold.name()) != hold) {
            return; // it was unlocked
        }
        ThreadHold oldest;
        synchronized (this) {
            over.addLast(hold);
            oldest = over.size() > MOST_REMEMBERED ? over.pollFirst() : null;
        }
        if (oldest != null) {
            remove(oldest);
        }
    }
}
