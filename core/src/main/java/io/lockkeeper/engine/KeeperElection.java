// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import io.lockkeeper.KeeperClosedException;
import io.lockkeeper.LeaderElection;
import io.lockkeeper.Lease;
import io.lockkeeper.LeaseLostException;
import io.lockkeeper.LockInfo;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Mode;
import io.lockkeeper.StoreUnavailableException;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A candidate: one thread that acquires the lock, runs the user's code under it, and begins again. The claim is fair, so
 * that candidates of one process do not pass leadership on among themselves.
 */
final class KeeperElection implements LeaderElection, Keeper.Child {
    /** The pause after the store or the user's code has failed. */
    private static final long PAUSE = 1_000_000_000;

    private static final long CLOSE_NANOS = 5_000_000_000L;

    /** How long it is from the beginning of one term to that of the next, at least: so that code that returns at once is no busy loop. */
    private static final long SHORTEST_TERM = 100_000_000;

    private final Keeper keeper;
    private final String name;
    private final KeeperLock lock;

    // Guarded by this.
    private @Nullable Thread thread;
    private @Nullable LeaseHandle lease;
    private boolean inUserCode;
    private boolean closed;

    KeeperElection(Keeper keeper, String name, LockOptions options) {
        this.keeper = keeper;
        this.name = name;
        this.lock = new KeeperLock(keeper, name, Mode.EXCLUSIVE, options.fair(true));
    }

    @Override
    public synchronized LeaderElection start(Consumer<Lease> whileLeader) {
        Objects.requireNonNull(whileLeader, "whileLeader");
        keeper.ensureOpen();
        if (thread != null || closed) {
            throw new IllegalStateException(
                    "this candidate for " + Printable.quoted(name) + " has been started or closed before");
        }
        keeper.closeWithMe(this);
        try {
            thread = keeper.threads().start("election", () -> stand(whileLeader));
        } catch (Throwable e) {
            keeper.forgetChild(this); // it may be started again
            throw e;
        }
        return this;
    }

    private void stand(Consumer<Lease> whileLeader) {
        while (!isClosed()) {
            boolean failed = false;
            try {
                lead((LeaseHandle) lock.acquire(), whileLeader);
            } catch (KeeperClosedException e) {
                return;
            } catch (InterruptedException e) {
                // close() is what interrupts a candidate that waits; the loop ends then
            } catch (StoreUnavailableException e) {
                failed = true;
                Log.warning(
                        "the election of " + Printable.quoted(name) + " waits for the store: " + e.getMessage(), null);
            } catch (Throwable e) {
                failed = true;
                Log.warning("the election of " + Printable.quoted(name) + " goes on after a failure", e);
            }
            if (failed) {
                pauseUntil(keeper.ticker().nanos() + PAUSE);
            }
        }
    }

    private void lead(LeaseHandle won, Consumer<Lease> whileLeader) {
        long elected = keeper.ticker().nanos();
        synchronized (this) {
            lease = won;
            inUserCode = !closed;
        }
        boolean failed = false;
        try {
            if (inUserCode) {
                won.interruptOnLoss();
                whileLeader.accept(won);
            }
        } catch (Throwable e) {
            failed = true;
            Log.warning("the leader of " + Printable.quoted(name) + " failed and resigns", e);
        } finally {
            synchronized (this) {
                inUserCode = false;
                lease = null;
            }
            endLease(won);
        }
        pauseUntil(failed ? keeper.ticker().nanos() + PAUSE : elected + SHORTEST_TERM);
    }

    private static void endLease(Lease won) {
        try {
            won.close();
        } catch (LeaseLostException e) {
            // It was reported when it happened.
        } finally {
            Thread.interrupted(); // what interrupted the leader must not end the candidate
        }
    }

    private void pauseUntil(long until) {
        while (!isClosed() && keeper.ticker().nanos() < until) {
            keeper.ticker().parkUntil(until);
            if (Thread.interrupted()) {
                return;
            }
        }
    }

    private synchronized boolean isClosed() {
        return closed || keeper.isClosed();
    }

    @Override
    public synchronized boolean isLeader() {
        return lease != null && lease.isValid();
    }

    @Override
    public Optional<LockInfo.Hold> leader() {
        keeper.ensureOpen();
        return keeper.calls().inspect(name).flatMap(info -> info.holders().stream()
                .findFirst());
    }

    @Override
    public synchronized void resign() {
        if (inUserCode && thread != null) {
            giveUp();
            thread.interrupt();
        }
    }

    /** The user's code sees that it is to end also where something has swallowed the interrupt. */
    private void giveUp() {
        if (lease != null) {
            lease.resign();
        }
    }

    @Override
    public void close() {
        stop();
        if (!hasEndedBy(System.nanoTime() + CLOSE_NANOS)) {
            Log.warning(
                    "the leader of " + Printable.quoted(name) + " did not stop within " + CLOSE_NANOS / 1_000_000_000
                            + " s; it keeps its lock until it does",
                    null);
        }
    }

    @Override
    public synchronized void stop() {
        closed = true;
        giveUp();
        if (thread != null && thread != Thread.currentThread()) {
            thread.interrupt();
        }
        keeper.forgetChild(this);
    }

    @Override
    public void awaitEnd(long deadline) {
        if (!hasEndedBy(deadline)) {
            Log.warning(
                    "the leader of " + Printable.quoted(name)
                            + " did not stop in time when its keeper was closed; its lock is released while it still runs",
                    null);
        }
    }

    /** Waits for the candidate's thread; true when it has ended, or is this one. */
    private boolean hasEndedBy(long deadline) {
        Thread running;
        synchronized (this) {
            running = thread;
        }
        if (running == null || running == Thread.currentThread()) {
            return true;
        }
        boolean interrupted = false; // which does not make the leader stop earlier
        for (long left; running.isAlive() && (left = deadline - System.nanoTime()) > 0; ) {
            try {
                running.join(Math.max(1, left / 1_000_000));
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return !running.isAlive();
    }

    @Override
    public synchronized boolean isRunBy(Thread running) {
        return thread == running;
    }

    @Override
    public Optional<LockRequest> request() {
        return Optional.of(lock.request());
    }

    @Override
    public String toString() {
        return "LeaderElection[" + Printable.text(name) + "]";
    }
}
