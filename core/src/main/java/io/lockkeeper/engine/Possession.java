// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import io.lockkeeper.LeaseLost;
import io.lockkeeper.LeaseLost.Reason;
import io.lockkeeper.Mode;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One user's share of a {@link Hold}: a token, and whom to tell of its loss. The user has it through a
 * {@link LeaseHandle}, which is referred to weakly from here, so that a handle nobody can close any more is noticed.
 */
final class Possession {
    final Hold hold;
    final long token;
    final Mode mode;
    private final @Nullable Thread owner;
    private final @Nullable Throwable trace;
    private final long since;

    volatile Hold.State state = Hold.State.HELD;
    private volatile @Nullable WeakReference<LeaseHandle> handle;

    // Guarded by the hold's queue.
    private @Nullable LeaseLost loss;
    private boolean accepted;
    private boolean listened;
    private @Nullable List<Consumer<LeaseLost>> actions;
    private @Nullable List<Thread> toInterrupt;

    Possession(Hold hold, long token, @Nullable Thread owner, @Nullable Throwable trace, long now) {
        this.hold = hold;
        this.token = token;
        this.mode = hold.mode();
        this.owner = owner;
        this.trace = trace;
        this.since = now;
    }

    Keeper keeper() {
        return hold.queue.keeper();
    }

    @Nullable
    Thread owner() {
        return owner;
    }

    @Nullable
    Throwable trace() {
        return trace;
    }

    String name() {
        return hold.queue.want().name();
    }

    Duration held() {
        return Duration.ofNanos(keeper().ticker().nanos() - since);
    }

    /** The user takes it: from now on its loss is told. False when it is too late for that. */
    boolean accept() {
        synchronized (hold.queue) {
            accepted =
                    state == Hold.State.HELD && hold.isValid(keeper().ticker().nanos());
            return accepted;
        }
    }

    LeaseHandle handOut() {
        LeaseHandle created = new LeaseHandle(this);
        if (owner == null) {
            handle = new WeakReference<>(created);
        }
        return created;
    }

    boolean isValid() {
        return state == Hold.State.HELD && hold.isValid(keeper().ticker().nanos());
    }

    /** Whether nobody is left who could release it: the owner thread has died, or the handle is unreachable. */
    boolean isAbandoned() {
        WeakReference<LeaseHandle> ref = handle;
        return owner != null ? !owner.isAlive() : ref != null && ref.get() == null;
    }

    /** The loss; tells it first if validity has just ended. Null when it was not lost. */
    @Nullable
    LeaseLost lossIfAny() {
        if (state == Hold.State.HELD && !isValid()) {
            hold.runOut(hold.reasonAtEnd());
        }
        synchronized (hold.queue) {
            return loss;
        }
    }

    void onLost(Consumer<LeaseLost> action) {
        LeaseLost told;
        synchronized (hold.queue) {
            listened = true;
            told = loss;
            if (told == null) {
                if (actions == null) {
                    actions = new ArrayList<>(1);
                }
                actions.add(action);
            }
        }
        if (told != null) {
            keeper().events().run(() -> action.accept(told));
        }
    }

    /** Whether anybody wants to be told of its loss; called with the queue's monitor held. */
    boolean isListenedTo() {
        return listened && accepted;
    }

    void interruptOnLoss(Thread thread) {
        synchronized (hold.queue) {
            listened = true;
            if (loss != null) {
                thread.interrupt();
                return;
            }
            if (toInterrupt == null) {
                toInterrupt = new ArrayList<>(1);
            }
            toInterrupt.add(thread);
        }
    }

    /**
     * Marks the loss and interrupts whoever asked for it; called with the queue's monitor held, so that no thread is
     * interrupted after it has closed its lease. {@link #tell()} follows without the monitor.
     */
    void markLost(Reason reason, long remaining) {
        if (state != Hold.State.HELD) {
            return;
        }
        state = Hold.State.LOST;
        loss = new LeaseLost(name(), token, reason, Duration.ofNanos(remaining));
        if (toInterrupt != null && accepted) {
            toInterrupt.forEach(Thread::interrupt);
        }
    }

    /** The store knew of no such hold when it was released. */
    void markLostAtRelease() {
        state = Hold.State.LOST;
        loss = new LeaseLost(name(), token, Reason.EXPIRED, Duration.ZERO);
    }

    void tell() {
        LeaseLost told;
        List<Consumer<LeaseLost>> all;
        boolean heard;
        synchronized (hold.queue) {
            told = loss;
            all = actions == null ? List.of() : List.copyOf(actions);
            heard = listened || keeper().events().hasListener();
            if (!accepted || told == null) {
                return;
            }
        }
        if (told.reason() == Reason.OWNER_DIED) {
            warnOfLeak(told);
        } else if (!heard && told.reason() != Reason.CLOSED) {
            Events.LOG.log(
                    System.Logger.Level.WARNING,
                    "lost ''{0}'' (token {1}): {2}; nobody listens",
                    told.name(),
                    Long.toString(token),
                    told.reason());
        }
        keeper().events().tell(l -> l.lost(told));
        for (Consumer<LeaseLost> action : all) {
            keeper().events().run(() -> action.accept(told));
        }
    }

    private void warnOfLeak(LeaseLost told) {
        Events.LOG.log(
                System.Logger.Level.WARNING,
                "'" + told.name() + "' (token " + token + ") is no longer renewed: "
                        + (owner != null
                                ? "its thread " + owner.getName() + " has died without unlocking it"
                                : "its lease became unreachable without having been closed")
                        + (trace == null ? "; the next ones will have their acquiring stack noted" : ""),
                trace);
        keeper().leakSeen();
    }
}
