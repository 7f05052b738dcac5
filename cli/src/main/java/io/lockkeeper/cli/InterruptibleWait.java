// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.cli;

import io.lockkeeper.Lease;
import io.lockkeeper.Lockkeeper;
import java.io.IOException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A wait for a lock that a signal ends. Used by the thread that makes it; signals come from others. */
final class InterruptibleWait {
    private final Thread waiter = Thread.currentThread();

    // Guarded by this.
    private boolean waiting = true;
    private KernelSignals.@Nullable Caught pending;

    /** Ends the wait; later it is only noted. The first counts. */
    synchronized void received(KernelSignals.Caught signal) {
        if (pending == null) {
            pending = signal;
            if (waiting) {
                waiter.interrupt();
            }
        }
    }

    Optional<Lease> acquire(Lockkeeper keeper, Request request, String label) throws InterruptedException {
        try (WaitMessage message = WaitMessage.start(keeper.inspector(), request.name());
                Quit quit = new Quit()) {
            return request.acquire(keeper, label);
        } finally {
            isOver();
        }
    }

    /** From here on a signal must not disturb what gives back the lock, or the place in the queue. */
    private synchronized void isOver() {
        waiting = false;
        Thread.interrupted();
    }

    synchronized boolean wasInterrupted() {
        return pending != null;
    }

    /** What a shell reports of a process that the signal ended. */
    synchronized int exitCode() {
        return pending == null ? Exit.SOFTWARE : pending.exitCode();
    }

    /** Listens for {@code Ctrl-\} where there is a terminal. */
    private final class Quit implements AutoCloseable {
        private final @Nullable AutoCloseable ear;

        Quit() {
            this.ear = Terminal.ERR.isTerminal() || Terminal.OUT.isTerminal() ? listen() : null;
        }

        private @Nullable AutoCloseable listen() {
            try {
                return QuitSignal.listen(() -> received(QuitSignal.CAUGHT));
            } catch (IOException e) {
                return null; // no process for it: the other keys still work
            }
        }

        @Override
        public void close() {
            try {
                if (ear != null) {
                    ear.close();
                }
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }
    }
}
