// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.cli;

import io.lockkeeper.Lease;
import io.lockkeeper.LeaseLost;
import io.lockkeeper.LockInfo;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.LockkeeperException;
import io.lockkeeper.StoreUnavailableException;
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
import picocli.CommandLine.Option;
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
                    + " has started are ended (TERM, then KILL) before others may have the lock, and the exit code is 76."
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
    /** What is left for the kernel to end what it was told to kill; of a time that is short, a third. */
    private static final Duration KILL_MARGIN = Duration.ofMillis(300);

    /** When nothing is left: enough for a handler of TERM to write a line. */
    private static final Duration LEAST_GRACE = Duration.ofMillis(100);

    @Mixin
    private Store store = new Store();

    @Option(names = "--wait", paramLabel = "DURATION", description = "How long to wait. Default: as long as it takes.")
    private @Nullable String wait;

    @Option(
            names = "--lease",
            paramLabel = "DURATION",
            defaultValue = "30s",
            description = "How soon the lock is free after we were killed or cut off, 1s to 24h"
                    + " (default: ${DEFAULT-VALUE}).")
    private String lease = "30s";

    @Option(names = "--shared", description = "Hold it together with others that share.")
    private boolean shared;

    @Option(names = "--permits", paramLabel = "K/N", description = "Take K permits of a semaphore of N.")
    private @Nullable String permits;

    @Option(names = "--label", paramLabel = "TEXT", description = "Shown by ls. Default: the command's name.")
    private @Nullable String label;

    @Parameters(index = "0", paramLabel = "NAME", description = "What is locked.")
    private String name = "";

    @Parameters(index = "1..*", arity = "1..*", paramLabel = "COMMAND", description = "The command, after --.")
    private List<String> command = new ArrayList<>();

    private final Thread main = Thread.currentThread();
    private final CompletableFuture<LeaseLost> loss = new CompletableFuture<>();

    // Guarded by this.
    private boolean waiting = true;
    private KernelSignals.@Nullable Caught pending;
    private @Nullable Child child;

    /** Waits for at most so long; null: as long as it takes. */
    private interface Acquisition {
        Optional<Lease> within(@Nullable Duration limit) throws InterruptedException;
    }

    @Override
    public Integer call() {
        Duration limit = wait == null ? null : Text.duration("--wait", wait);
        LockOptions options = options();
        Child.check(command.get(0));
        KernelSignals.onEach(this::received);
        try (Lockkeeper keeper = store.open()) {
            Optional<Lease> held = acquire(keeper, options, limit);
            if (held.isEmpty()) {
                Terminal.complain(busy(keeper, limit));
                return Exit.NOT_ACQUIRED;
            }
            return runUnder(held.get());
        } catch (InterruptedException e) {
            return interrupted();
        } catch (LockkeeperException e) {
            if (wasInterrupted()) {
                return interrupted(); // what the interrupt has ended says so in its own words
            }
            throw e;
        }
    }

    private LockOptions options() {
        String shown = label == null ? programName() : label;
        return LockOptions.defaults().lease(Text.duration("--lease", lease)).label(shown);
    }

    private String programName() {
        Path file = Path.of(command.get(0)).getFileName();
        String text = file == null ? "" : file.toString();
        return text.length() > 50 ? text.substring(0, 50) : text;
    }

    private Optional<Lease> acquire(Lockkeeper keeper, LockOptions options, @Nullable Duration limit)
            throws InterruptedException {
        Acquisition acquisition = acquisition(keeper, options);
        try (Progress progress = Progress.start(keeper.inspector(), name)) {
            return acquisition.within(limit);
        } finally {
            waitIsOver();
        }
    }

    /** From here on a signal must not disturb what gives back the lock, or the place in the queue. */
    private synchronized void waitIsOver() {
        waiting = false;
        Thread.interrupted();
    }

    private Acquisition acquisition(Lockkeeper keeper, LockOptions options) {
        if (permits != null) {
            if (shared) {
                throw new Failure(Exit.USAGE, "--shared and --permits exclude each other");
            }
            int[] parts = permits(permits);
            var semaphore = keeper.semaphore(name, parts[1], options);
            return limit ->
                    limit == null ? Optional.of(semaphore.acquire(parts[0])) : semaphore.tryAcquire(parts[0], limit);
        }
        var lock = shared ? keeper.readWriteLock(name, options).readLock() : keeper.lock(name, options);
        return limit -> limit == null ? Optional.of(lock.acquire()) : lock.tryAcquire(limit);
    }

    private static int[] permits(String text) {
        String[] parts = text.split("/", -1);
        try {
            if (parts.length == 2) {
                return new int[] {Integer.parseInt(parts[0]), Integer.parseInt(parts[1])};
            }
        } catch (NumberFormatException e) {
            // Told below.
        }
        throw new Failure(Exit.USAGE, "--permits is '" + text + "'; it takes K/N, as in 1/4");
    }

    private int runUnder(Lease held) {
        Child started;
        synchronized (this) {
            if (pending != null) {
                held.release();
                return interrupted();
            }
            try {
                started = Child.start(command, held);
            } catch (Failure e) {
                held.release();
                throw e;
            }
            child = started;
        }
        CompletableFuture<Void> stopped = new CompletableFuture<>();
        held.onLost(news -> {
            loss.complete(news);
            started.stop(grace(news.remaining()));
            stopped.complete(null);
        });
        int code = started.await();
        if (!loss.isDone() && release(held)) {
            return code;
        }
        LeaseLost news = loss.join();
        stopped.join();
        held.release(); // all have stopped: who waits need not wait for what is left of our time
        Terminal.complain("the lock " + name + " was lost (" + reason(news) + "); the command was stopped");
        return Exit.LOST;
    }

    /** The time between TERM and KILL of a loss that leaves so much. */
    static Duration grace(Duration remaining) {
        Duration third = remaining.dividedBy(3);
        return remaining.isZero()
                ? LEAST_GRACE
                : remaining.minus(third.compareTo(KILL_MARGIN) < 0 ? third : KILL_MARGIN);
    }

    /** Whether the command had the lock to its end. */
    private boolean release(Lease held) {
        try {
            return held.release();
        } catch (StoreUnavailableException e) {
            Terminal.complain("the lock " + name + " could not be released, and is free when its lease of " + lease
                    + " has ended: " + e.getMessage());
            return true;
        }
    }

    private static String reason(LeaseLost news) {
        return switch (news.reason()) {
            case BROKEN -> "somebody broke it";
            case STORE_UNREACHABLE -> "the store could not be reached";
            case EXPIRED -> "the lease ended before it could be renewed";
            default -> news.reason().name();
        };
    }

    private String busy(Lockkeeper keeper, @Nullable Duration limit) {
        String message = "the lock " + name + " was not acquired within " + (limit == null ? "0" : Text.brief(limit));
        try {
            List<LockInfo.Hold> holders =
                    keeper.inspector().inspect(name).map(LockInfo::holders).orElse(List.of());
            if (!holders.isEmpty()) {
                LockInfo.Hold first = holders.get(0);
                message += "; held by " + Text.client(first) + " since " + Text.age(first.since());
            }
        } catch (LockkeeperException e) {
            // It is only to be helpful.
        }
        return message;
    }

    /** Passed on to the command; before there is one it ends the wait. */
    private void received(KernelSignals.Caught signal) {
        Child running;
        synchronized (this) {
            running = child;
            if (running == null) {
                if (pending == null) {
                    pending = signal;
                    if (waiting) {
                        main.interrupt();
                    }
                }
                return;
            }
        }
        if (!signal.name().equals("INT") || !Foreground.isOurs()) {
            running.signal(signal.name());
        }
    }

    private synchronized boolean wasInterrupted() {
        return pending != null;
    }

    private synchronized int interrupted() {
        return pending == null ? Exit.SOFTWARE : pending.exitCode();
    }
}
