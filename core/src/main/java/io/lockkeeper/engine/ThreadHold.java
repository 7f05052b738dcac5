// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import io.lockkeeper.DeadlockException;
import io.lockkeeper.LeaseLost;
import io.lockkeeper.LeaseLostException;
import io.lockkeeper.Mode;
import org.jspecify.annotations.Nullable;

/**
 * What one thread holds of one name by {@code lock()}: how often as a writer and how often as a reader, on one lease. A
 * reader inside a writer stands on the writer's lease; when the writer goes first, the lease is downgraded. Used by its
 * thread alone.
 */
final class ThreadHold {
    private final String name;
    private LeaseHandle lease;
    private int writes;
    private int reads;

    /** Whether this thread was told, by an exception, that its fixed lease was lost. */
    private boolean isLossKnown;

    /** Whether it must be kept until it is unlocked, because others are unlocked with it. */
    private volatile boolean isPart;

    ThreadHold(String name, LeaseHandle lease) {
        this.name = name;
        this.lease = lease;
        if (lease.mode() == Mode.SHARED) {
            reads = 1;
        } else {
            writes = 1;
        }
    }

    String name() {
        return name;
    }

    /** Enters once more in this mode. */
    void reenter(Mode mode) {
        if (wouldUpgrade(mode)) {
            throw new DeadlockException(
                    "this thread reads " + Printable.quoted(name)
                            + " and would wait for itself to write it: unlock the read lock first, or begin with the write lock");
        }
        ensureValid();
        if (mode == Mode.EXCLUSIVE) {
            writes = increment(writes);
        } else {
            reads = increment(reads);
        }
    }

    /** Whether this thread only reads and would wait for itself to write. */
    boolean wouldUpgrade(Mode mode) {
        return mode == Mode.EXCLUSIVE && writes == 0 && lease.isValid();
    }

    /** Insists that it has not been lost. */
    void ensureValid() {
        if (!lease.isValid()) {
            throw notValid();
        }
    }

    private RuntimeException notValid() {
        LeaseLost lost = lease.possession().lossIfAny();
        if (lost == null) {
            return new IllegalMonitorStateException(
                    "the lease of this thread's hold of " + Printable.quoted(name) + " was released, but not unlocked");
        }
        isLossKnown = !lease.possession().hold.settings.renewed();
        return new LeaseLostException(lost);
    }

    /**
     * Whether this thread may lock the name again though it has not unlocked it: its fixed lease was lost, and an exception has
     * said so.
     */
    boolean mayBeForgotten() {
        return isLossKnown && !isPart && !lease.isValid();
    }

    /** See {@link KeeperLock#holdAsPart}. */
    void becomePart() {
        isPart = true;
    }

    boolean isPart() {
        return isPart;
    }

    private int increment(int count) {
        if (count == Integer.MAX_VALUE) {
            throw new IllegalStateException(
                    "this thread has entered " + Printable.quoted(name) + " " + count + " times; more is not allowed");
        }
        return count + 1;
    }

    /** Whether this thread would wait for itself if it waited for this mode. */
    boolean conflictsWith(Mode mode) {
        return lease.isValid() && (mode == Mode.EXCLUSIVE || writes > 0);
    }

    int count(Mode mode) {
        return lease.isValid() ? entered(mode) : 0;
    }

    /** How often this thread has entered and not left again, even if the hold was lost. */
    int entered(Mode mode) {
        return mode == Mode.EXCLUSIVE ? writes : reads;
    }

    @Nullable
    LeaseHandle lease(Mode mode) {
        return entered(mode) > 0 ? lease : null;
    }

    /**
     * Undoes one entering; {@code whenOut} runs when the thread holds nothing any more.
     *
     * @throws IllegalMonitorStateException when it had not entered in this mode, or has lost the hold
     */
    void exit(Mode mode, Runnable whenOut) {
        if (entered(mode) == 0) {
            throw new IllegalMonitorStateException(
                    "this thread does not hold " + Printable.quoted(name) + " in mode " + mode);
        }
        if (mode == Mode.EXCLUSIVE) {
            writes--;
        } else {
            reads--;
        }
        boolean out = writes == 0 && reads == 0;
        if (out) {
            whenOut.run();
        }
        if (!lease.isValid()) {
            // Also reports the loss, if the end of validity has just been noticed.
            LeaseLost lost = lease.possession().lossIfAny();
            if (out) {
                lease.release();
            }
            throw notHeld(lost);
        }
        if (out) {
            if (!lease.release()) {
                throw notHeld(lease.possession().lossIfAny());
            }
        } else if (mode == Mode.EXCLUSIVE && writes == 0) {
            downgrade(lease.possession());
        }
    }

    private void downgrade(Possession writer) {
        Possession reader = writer.hold.downgrade(writer);
        if (reader == null) {
            throw notHeld(writer.lossIfAny());
        }
        Keeper keeper = writer.keeper();
        keeper.events().released(writer);
        lease = new LeaseHandle(reader);
        keeper.events().acquired(lease, keeper.ticker().nanos());
    }

    private IllegalMonitorStateException notHeld(@Nullable LeaseLost lost) {
        IllegalMonitorStateException e = new IllegalMonitorStateException(
                "this thread no longer holds " + Printable.quoted(name) + (lost == null ? "" : ": " + lost.reason()));
        if (lost != null) {
            e.initCause(new LeaseLostException(lost));
        }
        return e;
    }
}
