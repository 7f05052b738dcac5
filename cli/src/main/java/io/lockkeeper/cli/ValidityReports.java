// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.cli;

import io.lockkeeper.Lease;
import java.time.Duration;

/**
 * Tells a {@link Guardian} until when a lease is valid, each time that it has been renewed, and starts the guardian again if
 * it has ended. A lease has no event for its renewal, and needs none: what remains of it is known without I/O, and looked at
 * more often the nearer the end comes that the guardian knows of.
 *
 * <p>Validity ends some time before others may acquire the lock, so that all can stop (the notice: a tenth of the lease, at most
 * two seconds). We ourselves act at its beginning; the guardian a little later, and it kills when more than a third of the
 * notice is left.
 */
final class ValidityReports implements AutoCloseable {
    private static final Duration LONGEST_NOTICE = Duration.ofSeconds(2);
    private static final long SHORTEST_PAUSE = 5_000_000;

    /** Less than this is no renewal, but two readings of a clock. */
    private static final long TOLERANCE = 5_000_000;

    private final Lease lease;
    private final Guardian guardian;
    private final long longestPause;
    private final Thread thread = new Thread(this::loop, "guardian");

    // Guarded by this.
    private long reported;
    private boolean closed;
    private boolean complained;

    private ValidityReports(Lease lease, Guardian guardian, Duration length) {
        this.lease = lease;
        this.guardian = guardian;
        this.longestPause = length.toNanos() / 8;
        this.reported = System.nanoTime();
        thread.setDaemon(true);
    }

    /** When it returns, the guardian has its first report. */
    static ValidityReports start(Lease lease, Guardian guardian, Duration length) {
        ValidityReports reports = new ValidityReports(lease, guardian, length);
        reports.report();
        reports.listen();
        reports.thread.start();
        return reports;
    }

    /** Wakes us when the guardian ends. */
    private void listen() {
        guardian.process().onExit().thenRun(() -> {
            synchronized (this) {
                notifyAll();
            }
        });
    }

    private synchronized void report() {
        long now = Guardian.now();
        Duration remaining = lease.remaining();
        long end = System.nanoTime() + remaining.toNanos();
        if (end - reported > TOLERANCE) {
            reported = end;
            Duration tenth = remaining.dividedBy(10);
            Duration notice = tenth.compareTo(LONGEST_NOTICE) < 0 ? tenth : LONGEST_NOTICE;
            guardian.until(
                    now,
                    remaining.plus(notice.dividedBy(8)),
                    remaining.plus(notice.multipliedBy(5).dividedBy(8)));
        }
    }

    private synchronized void loop() {
        try {
            while (!closed) {
                if (!guardian.process().isAlive()) {
                    restart();
                }
                report();
                long pause = Math.min(longestPause, (reported - System.nanoTime()) / 2);
                wait(Math.max(SHORTEST_PAUSE, pause) / 1_000_000);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void restart() {
        if (guardian.ensureRuns()) {
            listen();
            complained = false;
            reported = System.nanoTime(); // it gets a new report: where it has no clock, the time counts from now
        } else if (!complained) {
            complained = true;
            Terminal.complain(
                    "the shell that would end the command if lockkeeper were killed has itself ended, and cannot be"
                            + " started again now; it is tried again");
        }
    }

    /** The lease is lost, and we are stopping all ourselves: the guardian only kills, if we have not by then. */
    synchronized void lost(Duration kill) {
        if (!closed) {
            closed = true;
            notifyAll();
            guardian.until(Guardian.now(), kill, kill);
        }
    }

    /** All has ended. */
    @Override
    public synchronized void close() {
        closed = true;
        notifyAll();
        guardian.dismiss();
    }
}
