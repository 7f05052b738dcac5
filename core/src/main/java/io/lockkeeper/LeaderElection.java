// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper;

import java.util.Optional;
import java.util.function.Consumer;

/**
 * One leader at a time among all who stand for the same name. It stands on {@link Lockkeeper#lock(String)} of that
 * name. Safe for use by several threads.
 *
 * <pre>{@code
 * LeaderElection election = keeper.election("scheduler").start(lease -> {
 *     while (lease.isValid()) {
 *         runDueJobs(lease.token());   // interrupted when leadership is lost
 *     }
 * });
 * }</pre>
 */
public interface LeaderElection extends AutoCloseable {
    /**
     * Stands for election, on its own thread, until {@link #close()}. Whenever this candidate is elected it calls
     * {@code whileLeader}, and interrupts it when leadership is lost or resigned; its lease is not valid any longer then. When
     * it returns, leadership is given up and the candidate stands again, behind the others. So code that returns at once is
     * called again and again, up to ten times per second. What it throws is logged, and the candidate stands again after a
     * pause.
     *
     * @return this
     * @throws IllegalStateException when it has been started before
     */
    LeaderElection start(Consumer<Lease> whileLeader);

    /** Whether this candidate is the leader and its lease is valid. No I/O. */
    boolean isLeader();

    /** Who leads, as the store knows it. */
    Optional<LockInfo.Hold> leader();

    /**
     * Gives up leadership, if this candidate has it; it stands again, behind the others. The lease of {@code whileLeader} is
     * no longer valid from now on, and its thread is interrupted. Others are elected when it has returned.
     */
    void resign();

    /**
     * Stops standing, and gives up leadership as {@link #resign()} does. Returns when {@code whileLeader} has returned, or after
     * 5 s; if it still runs then, its lock is kept until it returns.
     */
    @Override
    void close();
}
