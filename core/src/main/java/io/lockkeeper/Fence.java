// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Callable;

/**
 * Guards a resource against holders that are late: paused, cut off, or delayed on the network until their lock was
 * somebody else's. No lock can do that alone. The resource keeps, for each name, a mark of the tokens it has seen, and
 * refuses older ones.
 *
 * <pre>{@code
 * fence.enter(lease);                                   // before the first read
 * Account account = accounts.get(id);
 * fence.write(lease, () -> accounts.put(id, account.minus(10)));
 * }</pre>
 *
 * <p><b>Enter before the first read.</b> A late writer must be refused from the moment that its successor has looked, not
 * only once the successor has written: else the successor decides on what is then overwritten. <b>Check with every
 * write</b>, in the same atomic step: a check made before the write leaves room for a pause between the two. How that is
 * done depends on the resource, and each kind of fence says it.
 *
 * <p>There are two marks. An exclusive token must reach both: no later holder of any kind has been here. A shared one
 * must exceed the exclusive mark: no writer that came after it has. A lease on several locks enters with each part. Tokens
 * of permits are refused, for they have no order.
 */
public interface Fence {
    /**
     * Raises the mark, or refuses.
     *
     * @throws StaleTokenException when a later holder has been here; nothing is changed then
     * @throws IllegalArgumentException for a hold of permits
     */
    void enter(Sequencer sequencer);

    /**
     * Raises the mark, or refuses; of a lease on several locks, that of each part.
     *
     * @throws StaleTokenException when a later holder has been here
     * @throws IllegalArgumentException for a hold of permits
     */
    default void enter(Lease lease) {
        for (Lease part : lease.parts()) {
            enter(new Sequencer(part.name(), part.mode(), part.token()));
        }
    }

    /** A fence around something in this JVM's memory. */
    static InMemory inMemory() {
        return new InMemory();
    }

    /** A fence around something in this JVM's memory. Safe for use by any number of threads. */
    final class InMemory implements Fence {
        private final Map<String, Marks> marks = new HashMap<>();

        private record Marks(long exclusive, long shared) {}

        private InMemory() {}

        @Override
        public synchronized void enter(Sequencer sequencer) {
            marks.put(sequencer.name(), admit(sequencer));
        }

        /**
         * Writes, in one step with the check: nobody enters or writes meanwhile.
         *
         * @param write is called only if the token is not stale; keep it short
         * @throws StaleTokenException when a later holder has been here; nothing has been written then
         * @throws Exception what the write throws
         */
        public synchronized <T> T write(Sequencer sequencer, Callable<T> write) throws Exception {
            enter(sequencer);
            return write.call();
        }

        /** Writes, in one step with the check; a lease on several locks is checked with each part. */
        public synchronized <T> T write(Lease lease, Callable<T> write) throws Exception {
            enter(lease);
            return write.call();
        }

        private Marks admit(Sequencer sequencer) {
            Marks known = marks.getOrDefault(sequencer.name(), new Marks(0, 0));
            long token = sequencer.token();
            return switch (sequencer.mode()) {
                case EXCLUSIVE -> {
                    long latest = Math.max(known.exclusive, known.shared);
                    if (token < latest) {
                        throw new StaleTokenException(sequencer.name(), token, latest);
                    }
                    yield new Marks(token, known.shared);
                }
                case SHARED -> {
                    if (token <= known.exclusive) {
                        throw new StaleTokenException(sequencer.name(), token, known.exclusive);
                    }
                    yield new Marks(known.exclusive, Math.max(known.shared, token));
                }
                case PERMITS ->
                    throw new IllegalArgumentException(
                            "'" + sequencer.name()
                                    + "' is held as permits, whose tokens have no order; allowed are exclusive and shared holds");
            };
        }
    }
}
