// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import io.lockkeeper.KeeperClosedException;
import io.lockkeeper.LeaderElection;
import io.lockkeeper.Lease;
import io.lockkeeper.LeaseLostException;
import io.lockkeeper.LockInfo;
import io.lockkeeper.LockOptions;
import io.lockkeeper.LockkeeperException;
import io.lockkeeper.Mode;
import java.lang.System.Logger.Level;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A candidate: one thread that acquires the lock, runs the user's code under it, and begins again. The claim is fair, so
 * that candidates of one process do not pass leadership on among themselves.
 */
final class KeeperElection implements LeaderElection {
    /** The pause after the store or the user's code has failed. */
    private static final long PAUSE = 1_000_000_000;

    private static final long CLOSE_MILLIS = 5_000;

    private final Keeper keeper;
    private final String name;
    private final KeeperLock lock;

    // Guarded by this.
    private @Nullable Thread thread;
    private @Nullable Lease lease;
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
            throw new IllegalStateException("this candidate for '" + name + "' has been started or closed before");
        }
        thread = Lanes.daemons(keeper.config().clientName(), "election").newThread(() -> stand(whileLeader));
        keeper.closeWithMe(this);
        thread.start();
        return this;
    }

    private void stand(Consumer<Lease> whileLeader) {
        while (!isClosed()) {
            boolean failed = false;
            try {
                lead(lock.acquire(), whileLeader);
            } catch (KeeperClosedException e) {
                return;
            } catch (LockkeeperException e) {
                failed = true;
                Events.LOG.log(Level.WARNING, "the election of '" + name + "' goes on after a failure", e);
            } catch (InterruptedException e) {
                // close() is what interrupts a candidate that waits; the loop ends then
            }
            if (failed) {
                pause();
            }
        }
    }

    private void lead(Lease won, Consumer<Lease> whileLeader) {
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
        } catch (RuntimeException | Error e) {
            failed = true;
            Events.LOG.log(Level.WARNING, "the leader of '" + name + "' failed and resigns", e);
        } finally {
            synchronized (this) {
                inUserCode = false;
                lease = null;
            }
            endLease(won);
        }
        if (failed) {
            pause();
        }
    }

    private static void endLease(Lease won) {
        try {
            won.close();
        } catch (LeaseLostException e) {
            // It was told when it happened.
        } finally {
            Thread.interrupted(); // what interrupted the leader must not end the candidate
        }
    }

    private void pause() {
        long until = keeper.ticker().nanos() + PAUSE;
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
        return keeper.steps().inspect(name).flatMap(info -> info.holders().stream()
                .findFirst());
    }

    @Override
    public synchronized void resign() {
        if (inUserCode && thread != null) {
            thread.interrupt();
        }
    }

    @Override
    public void close() {
        Thread running;
        synchronized (this) {
            closed = true;
            running = thread;
            if (running != null && running != Thread.currentThread()) {
                running.interrupt();
            }
        }
        keeper.forgetChild(this);
        if (running == null || running == Thread.currentThread()) {
            return;
        }
        try {
            running.join(CLOSE_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public String toString() {
        return "LeaderElection[" + name + "]";
    }
}
