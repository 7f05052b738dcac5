// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.sql.base.ConnectionSource;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Runs steps so that an interrupt never breaks one: it is set aside while a step uses its connection, and restored afterwards. A
 * database inside this process, which an interrupt would break all the same, gets the step on another thread ({@link
 * InterruptShield}). Where the database has one writer at a time, the steps of this process take turns here.
 */
final class StepRunner implements AutoCloseable {
    private final ConnectionSource source;
    private final int timeoutMillis;
    private volatile @Nullable InterruptShield interruptShield;

    StepRunner(ConnectionSource source, int timeoutMillis) {
        this.source = source;
        this.timeoutMillis = timeoutMillis;
    }

    /** From now on steps run on threads that nobody interrupts. */
    void shield() {
        interruptShield = new InterruptShield(timeoutMillis);
    }

    /** On this thread with the interrupt deferred, or, where that is not enough, on another one. */
    <T> T run(boolean isRenewal, Supplier<T> step) {
        InterruptShield shield = interruptShield;
        if (shield != null) {
            return shield.call(step);
        }
        boolean interrupted = Thread.interrupted();
        try {
            while (true) {
                try {
                    return inTurn(isRenewal, step);
                } catch (StoreUnavailableException e) {
                    // While it waited for a connection, so that nothing has been done yet.
                    if (!(e.getCause() instanceof SQLException sql && Failures.isInterrupt(sql))) {
                        throw e;
                    }
                    interrupted = true;
                    Thread.interrupted();
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** A renewal that has waited long enough does not wait for its turn: the database serializes writers, too. */
    private <T> T inTurn(boolean isRenewal, Supplier<T> step) {
        ReentrantLock turn = source.turn();
        if (turn == null) {
            return step.get();
        }
        boolean isOurs;
        try {
            isOurs = turn.tryLock(timeoutMillis, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            throw Failures.of(
                    new SQLTransientConnectionException("interrupted while it waited for its turn", "08001", e));
        }
        if (!isOurs && !isRenewal) {
            throw new StoreUnavailableException("no turn to write within " + timeoutMillis + " ms", null);
        }
        try {
            return step.get();
        } finally {
            if (isOurs) {
                turn.unlock();
            }
        }
    }

    @Override
    public void close() {
        InterruptShield shield = interruptShield;
        if (shield != null) {
            shield.close();
        }
    }
}
