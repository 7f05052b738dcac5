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
 * One user's share of a {@link Hold}: a token, and whom to notify of its loss. The user has it through a
 * {@link LeaseHandle}, which is referred to weakly from here, so that a handle nobody can close any more is noticed.
 */
final class Possession {
    private static final long A_WHILE = 1_000_000_000;

    final Hold hold;
    final long token;
    final Mode mode;
    private final @Nullable Thread owner;
    private final @Nullable Throwable trace;
    private final long since;

    /** Whom it was given to, until that has come for it. */
    private @Nullable Waiter waiter;

    volatile Hold.State state = Hold.State.HELD;

    /** Whether its user has said that it is done with it, though it was lost. */
    volatile boolean isDone;

    private volatile @Nullable WeakReference<LeaseHandle> handle;

    // Guarded by the hold's queue.
    private @Nullable LeaseLost loss;
    private boolean accepted;
    private boolean listened;
    private @Nullable List<Consumer<LeaseLost>> actions;
    private @Nullable List<Thread> toInterrupt;
    private @Nullable Runnable over;

    /** A possession that is given to a waiter. */
    Possession(Hold hold, long token, Waiter waiter, long now) {
        this(hold, token, waiter.owner, waiter.trace, now);
        this.waiter = waiter;
    }

    /** The shared possession that an exclusive one becomes. */
    Possession(Hold hold, long token, Possession before, long now) {
        this(hold, token, before.owner, before.trace, now);
        this.over = before.over;
    }

    private Possession(Hold hold, long token, @Nullable Thread owner, @Nullable Throwable trace, long now) {
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

    String name() {
        return hold.queue.request().name();
    }

    Duration held() {
        return Duration.ofNanos(keeper().ticker().nanos() - since);
    }

    /** The user takes it: from now on its loss is reported. Null when it is too late for that; then it is given back. */
    @Nullable
    LeaseHandle handOut() {
        boolean inTime = false;
        try {
            LeaseHandle created = new LeaseHandle(this);
            if (owner == null) {
                handle = new WeakReference<>(created);
            }
            inTime = accept();
            return inTime ? created : null;
        } finally {
            if (!inTime) {
                hold.release(this);
            }
        }
    }

    /** Whether it is valid, and its loss will be reported. */
    boolean accept() {
        synchronized (hold.queue) {
            waiter = null;
            accepted = isValid();
            return accepted;
        }
    }

    boolean isValid() {
        return state == Hold.State.HELD && hold.isValid(keeper().ticker().nanos());
    }

    /** Wakes its waiter again, once, if that has not come for a while: what should have woken it may have failed. Monitor held. */
    void remind(long now) {
        Waiter late = waiter;
        if (late != null && now - since > A_WHILE) {
            waiter = null;
            late.remind();
        }
    }

    /** Whether nobody is left who could release it: the owner thread has died, or the handle is unreachable. */
    boolean isAbandoned() {
        WeakReference<LeaseHandle> ref = handle;
        return owner != null ? !owner.isAlive() : ref != null && ref.get() == null;
    }

    /** The loss; reports it first if validity has just ended. Null when it was not lost. */
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
            keeper().events().lossAction(() -> action.accept(told));
        }
    }

    /** {@code action}, which must not block, runs when it is lost and nothing can be left of it in the store. */
    void whenOver(Runnable action) {
        synchronized (hold.queue) {
            over = action;
            if (loss != null) {
                keeper().timer().schedule(hold.endsAt(), action);
            }
        }
    }

    /** Whether anybody wants to be notified of its loss; called with the queue's monitor held. */
    boolean isListenedTo() {
        return listened && accepted;
    }

    void interruptOnLoss(Thread thread) {
        synchronized (hold.queue) {
            listened = true;
            if (loss != null) {
                interrupt(thread);
                return;
            }
            if (toInterrupt == null) {
                toInterrupt = new ArrayList<>(1);
            }
            toInterrupt.add(thread);
        }
    }

    /**
     * Marks the loss and interrupts those who asked for it; called with the queue's monitor held, so that no thread is
     * interrupted after it has closed its lease. {@link #reportLoss()} follows without the monitor.
     */
    void markLost(Reason reason, long remaining) {
        if (state != Hold.State.HELD) {
            return;
        }
        state = Hold.State.LOST;
        loss = new LeaseLost(name(), token, reason, Duration.ofNanos(remaining));
        if (over != null) {
            keeper().timer().schedule(hold.endsAt(), over);
        }
        if (toInterrupt != null && accepted) {
            toInterrupt.forEach(this::interrupt);
        }
    }

    /** A thread may have its own idea of an interrupt, such as closing a socket: that is user code, and not for this thread. */
    private void interrupt(Thread thread) {
        if (Threads.isPlain(thread)) {
            thread.interrupt();
        } else {
            keeper().events().lossAction(() -> {
                if (!isDone) {
                    thread.interrupt();
                }
            });
        }
    }

    /** The store knew of no such hold when it was released. */
    void markLostAtRelease() {
        state = Hold.State.LOST;
        loss = new LeaseLost(name(), token, Reason.EXPIRED, Duration.ZERO);
    }

    /** Notifies those who listen. */
    void reportLoss() {
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
            keeper().events().logLoss(() -> warnOfLeak(told));
            keeper().traces().leakSeen();
        } else if (!heard && told.reason() != Reason.CLOSED) {
            keeper().events()
                    .logLoss(() -> Log.warning(
                            "lost " + Printable.quoted(told.name()) + " (token " + token + "): " + told.reason()
                                    + "; nobody listens",
                            null));
        }
        for (Consumer<LeaseLost> action : all) {
            keeper().events().lossAction(() -> action.accept(told));
        }
        keeper().events().lost(told);
    }

    private void warnOfLeak(LeaseLost told) {
        Log.warning(
                Printable.quoted(told.name()) + " (token " + token + ") is no longer renewed: "
                        + (owner != null
                                ? "its thread " + owner.getName() + " has died without unlocking it"
                                : "its lease became unreachable without having been closed")
                        + (trace == null ? "; the next ones will have their acquiring stack noted" : ""),
                trace);
    }
}
