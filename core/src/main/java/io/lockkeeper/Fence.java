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

    /**
     * What a resource has seen of one name: the rule of a fence, for resources that keep their own marks.
     *
     * @param exclusive the largest token of a writer
     * @param shared the largest token of a reader
     */
    record Marks(long exclusive, long shared) {
        /** Of a name that nobody has entered with. */
        public static final Marks NONE = new Marks(0, 0);

        /**
         * The marks after this hold has entered.
         *
         * @throws StaleTokenException when a later holder has been here
         * @throws IllegalArgumentException for a hold of permits
         */
        public Marks enter(Sequencer sequencer) {
            refusePermits(sequencer);
            long token = sequencer.token();
            boolean isWriter = sequencer.mode() == Mode.EXCLUSIVE;
            long latest = isWriter ? Math.max(exclusive, shared) : exclusive;
            if (token < latest || (token == latest && !isWriter)) {
                throw new StaleTokenException(sequencer.name(), token, latest);
            }
            return isWriter ? new Marks(token, shared) : new Marks(exclusive, Math.max(shared, token));
        }

        /**
         * Makes sure that the hold has a token that can be compared.
         *
         * @throws IllegalArgumentException for a hold of permits
         */
        public static void refusePermits(Sequencer sequencer) {
            if (sequencer.mode() == Mode.PERMITS) {
                throw new IllegalArgumentException("'" + LockkeeperException.printable(sequencer.name())
                        + "' is held as permits, whose tokens have no order; allowed are exclusive and shared holds");
            }
        }
    }

    /** A fence around something in this JVM's memory. */
    static InMemory inMemory() {
        return new InMemory();
    }

    /** A fence around something in this JVM's memory. Safe for use by any number of threads. */
    final class InMemory implements Fence {
        private final Map<String, Marks> marks = new HashMap<>();

        private InMemory() {}

        @Override
        public synchronized void enter(Sequencer sequencer) {
            Marks known = marks.getOrDefault(sequencer.name(), Marks.NONE);
            marks.put(sequencer.name(), known.enter(sequencer));
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
    }
}
