// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Looks at locks from outside: for operators, dashboards, and third parties that check a {@link Sequencer}. All methods
 * ask the store, throw {@link StoreUnavailableException} when it cannot be asked, and may be called from any thread.
 */
public interface Inspector {
    /**
     * The names in use that begin with {@code prefix}, in the order of their names.
     *
     * @param prefix any string; the empty one for all names
     * @param limit how many at most, 1 to 10,000
     */
    List<LockInfo> list(String prefix, int limit);

    /** What the store knows of a name; empty when nobody holds or awaits it and it is not closed. */
    Optional<LockInfo> inspect(String name);

    /**
     * Whether the hold that the sequencer names is still in force in the store. Readers of one client share a hold: a reader's
     * sequencer stays true until the last of them has released; no writer can be in until then.
     */
    boolean check(Sequencer sequencer);

    /**
     * Ends the hold of {@code name} that has {@code token}, safely: the name stays closed until the holder has been
     * notified and has stopped, or its lease has ended, and for {@code lockDelay} after that. A holder that listens for
     * the loss ({@link Lease#onLost}, {@link Lease#interruptOnLoss}) counts as stopped when it has released the lease,
     * or when its time to stop ({@link LeaseLost#remaining()}) is over; one that does not listen, as soon as it is
     * notified.
     *
     * @return false when no such hold was found
     */
    boolean breakHold(String name, long token, Duration lockDelay);

    /**
     * Ends the hold at once, without waiting until the holder has been notified. <b>Dangerous</b>: until then, two
     * clients may believe that they hold the name, and only a fence protects the resource.
     *
     * @return false when no such hold was found
     */
    boolean breakHoldNow(String name, long token, Duration lockDelay);

    /**
     * Calls {@code onChange} on the keeper's executor whenever a name that begins with {@code prefix} changes: holders,
     * waiters, closed or open. A name that is no longer in use is reported once, with neither holders nor waiters.
     * Changes that follow each other quickly may be reported as one, and the first one after a quiet time about two
     * seconds late.
     *
     * @return closes the watch
     */
    AutoCloseable watch(String prefix, Consumer<LockInfo> onChange);
}
