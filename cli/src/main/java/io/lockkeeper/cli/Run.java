// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.cli;

import io.lockkeeper.Lease;
import io.lockkeeper.LeaseLost;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.LockkeeperException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code lockkeeper run}: a command under a lock. */
@Command(
        name = "run",
        customSynopsis = {
            "lockkeeper run NAME [--wait DURATION] [--lease DURATION] [--shared | --permits K/N]",
            "                    [--label TEXT] [--store URL|@FILE] -- COMMAND..."
        },
        description = {
            "Wait for the lock, run the command, release the lock.",
            "",
            "The lease is renewed as long as the command runs. If it is lost all the same, the command and all that it"
                    + " has started are ended (TERM, then KILL) before others can acquire the lock, and the exit code is 76."
        },
        footer = {
            "",
            "Examples:",
            "  lockkeeper run nightly -- ./report.sh           wait as long as it takes",
            "  lockkeeper run nightly --wait 10s -- ./report.sh",
            "  lockkeeper run nightly --wait 0 -- ./report.sh  not at all if it is busy: exit code 75",
            "  lockkeeper run db --shared -- ./backup.sh       with others that share, not with one that does not",
            "  lockkeeper run import --permits 2/8 -- ./load   two of eight",
            "  lockkeeper run x -- sh -c 'echo $LOCKKEEPER_TOKEN'",
            "",
            "The command finds LOCKKEEPER_NAME, LOCKKEEPER_TOKEN (greater each time: let what you write to refuse a",
            "lower one than it has seen) and LOCKKEEPER_SEQUENCER (for lockkeeper check) in its environment."
        })
final class Run implements Callable<Integer> {
    /** What is left for the kernel to end what was killed; if the time is short, a third of it. */
    private static final Duration KILL_MARGIN = Duration.ofMillis(300);

    /** When nothing is left: enough for a handler of TERM to write a line. */
    private static final Duration LEAST_GRACE = Duration.ofMillis(100);

    @Mixin
    private Store store = new Store();

    @Mixin
    private Request request = new Request();

    @Parameters(index = "1..*", arity = "1..*", paramLabel = "COMMAND", description = "The command, after --.")
    private List<String> command = new ArrayList<>();

    private final InterruptibleWait wait = new InterruptibleWait();
    private final CompletableFuture<LeaseLost> loss = new CompletableFuture<>();

    // Guarded by this.
    private @Nullable Child child;
    private @Nullable Integer codeOfEnded;

    @Override
    public Integer call() {
        request.check();
        Child.check(command.get(0));
        KernelSignals.onEach(this::received);
        try (Lockkeeper keeper = store.open()) {
            Optional<Lease> held = wait.acquire(keeper, request, programName());
            if (held.isEmpty()) {
                Terminal.complain(request.busy(keeper));
                return Exit.NOT_ACQUIRED;
            }
            return runUnder(keeper, held.get());
        } catch (InterruptedException e) {
            return wait.exitCode();
        } catch (LockkeeperException e) {
            if (wait.wasInterrupted()) {
                return wait.exitCode(); // what the interrupt has ended says so in its own words
            }
            throw e;
        }
    }

    private String programName() {
        Path file = Path.of(command.get(0)).getFileName();
        return file == null ? "" : file.toString();
    }

    private int runUnder(Lockkeeper keeper, Lease held) {
        String mark = ProcessTree.newMark();
        Child started;
        ValidityReports reports;
        synchronized (this) {
            if (wait.wasInterrupted()) {
                held.release();
                return wait.exitCode();
            }
            try {
                // Before the command: there is no moment at which nobody would end it.
                Guardian guardian = Guardian.start(mark, Guardian.Means.KILL, null);
                reports = ValidityReports.start(held, guardian, request.lease());
                started = start(held, mark, guardian, reports);
            } catch (Failure e) {
                held.release();
                throw e;
            }
            child = started;
        }
        CompletableFuture<Void> stopped = new CompletableFuture<>();
        held.onLost(news -> {
            loss.complete(news);
            Duration grace = grace(news.remaining());
            reports.lost(killInOurPlace(news.remaining(), grace));
            started.stop(grace);
            stopped.complete(null);
        });
        int code = started.await();
        if (!loss.isDone()) {
            reports.close();
            if (release(keeper, held, code)) {
                return code;
            }
        }
        LeaseLost news = loss.join();
        stopped.join();
        reports.close();
        held.release(); // all have ended: waiters need not wait for what is left of our time
        Terminal.complain(
                "the lock " + request.name() + " was lost (" + Text.reason(news.reason()) + "); the command was ended");
        return Exit.LOST;
    }

    private Child start(Lease held, String mark, Guardian guardian, ValidityReports reports) {
        try {
            Child started = Child.start(command, held, mark);
            guardian.watch(started.pid());
            return started;
        } catch (Failure e) {
            reports.close();
            throw e;
        }
    }

    /** The time between TERM and KILL of a loss that leaves that much. */
    static Duration grace(Duration remaining) {
        Duration third = remaining.dividedBy(3);
        return remaining.isZero()
                ? LEAST_GRACE
                : remaining.minus(third.compareTo(KILL_MARGIN) < 0 ? third : KILL_MARGIN);
    }

    /** When the guardian kills what we were to kill: between our time and the end. */
    static Duration killInOurPlace(Duration remaining, Duration grace) {
        return remaining.compareTo(grace) > 0
                ? grace.plus(remaining.minus(grace).dividedBy(2))
                : grace.plus(LEAST_GRACE);
    }

    /** Whether the command had the lock to its end. */
    private boolean release(Lockkeeper keeper, Lease held, int code) {
        Releasing releasing = new Releasing(keeper, request, held);
        return releasing.release(() -> hasEnded(code)) != Releasing.Outcome.LOST;
    }

    /** There is nothing left to do but to wait for a release that takes long. */
    private synchronized void hasEnded(int code) {
        codeOfEnded = code;
    }

    /** Passed on to the command; before there is one it ends the wait, and when the release takes long, us. */
    private void received(KernelSignals.Caught signal) {
        Child running;
        synchronized (this) {
            running = child;
            if (codeOfEnded != null) {
                Main.halt(codeOfEnded);
            }
            if (running == null) {
                wait.received(signal);
                return;
            }
        }
        if (!signal.name().equals("INT") || !Foreground.isOurs()) {
            running.signal(signal.name());
        }
    }
}
