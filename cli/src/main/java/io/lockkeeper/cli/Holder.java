// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.cli;

import io.lockkeeper.Lease;
import io.lockkeeper.LeaseLost;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.LockkeeperException;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/**
 * The process that {@link Acquire} starts: acquires the lock, prints what the shell is to evaluate, and holds the lock until the
 * shell has ended or {@link Release} asks. What is printed has the shell write its own pid into the {@link HoldFolder}: nobody
 * else knows it, as the process that started us may be a subshell of it that has ended meanwhile.
 *
 * <p>A {@link Guardian} does to the shell what we would do if the lock were lost, should we be killed or stopped.
 */
@Command(name = Holder.NAME, hidden = true)
final class Holder implements Callable<Integer> {
    static final String NAME = "hold";

    /** How long the shell may take from our answer to its evaluation. */
    private static final long UNTIL_EVALUATED = 10_000_000_000L;

    /** How often we look whether the shell lives. */
    private static final long LOOK_EVERY_MILLIS = 200;

    @Mixin
    private HoldArguments arguments = new HoldArguments();

    private final InterruptibleWait wait = new InterruptibleWait();
    private final HoldFolder folder = new HoldFolder(Path.of(System.getProperty("lockkeeper.hold", "")));
    private final String mark = ShellText.newMark();
    private final CompletableFuture<Void> stopped = new CompletableFuture<>();

    // Guarded by this.
    private boolean answered;
    private boolean ended;
    private boolean evicted;
    private @Nullable LeaseLost loss;
    private @Nullable ProcessHandle shell;

    @Override
    public Integer call() throws IOException, InterruptedException {
        KernelSignals.onEach(this::received);
        listenForTheEndOfOurParent();
        try (Lockkeeper keeper = arguments.store.open()) {
            Optional<Lease> held = wait.acquire(keeper, arguments.request, "acquire");
            if (held.isEmpty()) {
                Terminal.complain(arguments.request.busy(keeper));
                folder.delete();
                return Exit.NOT_ACQUIRED;
            }
            return hold(keeper, held.get());
        } catch (InterruptedException e) {
            folder.delete();
            return wait.exitCode();
        } catch (LockkeeperException e) {
            folder.delete();
            if (wait.wasInterrupted()) {
                return wait.exitCode();
            }
            throw e;
        }
    }

    /** Until we have answered, our input ends only if {@code acquire} has been killed. */
    private void listenForTheEndOfOurParent() {
        Thread thread = new Thread(
                () -> {
                    try {
                        while (System.in.read() >= 0) {
                            // Nothing is sent.
                        }
                    } catch (IOException e) {
                        // The same.
                    }
                    synchronized (this) {
                        if (!answered) {
                            wait.received(new KernelSignals.Caught("TERM", 15));
                        }
                    }
                },
                "parent");
        thread.setDaemon(true);
        thread.start();
    }

    private int hold(Lockkeeper keeper, Lease held) throws IOException, InterruptedException {
        Guardian guardian = Guardian.start(mark, arguments.means(), folder.path());
        ValidityReports reports = ValidityReports.start(held, guardian, arguments.request.lease());
        held.onLost(news -> {
            reports.lost(Run.killInOurPlace(news.remaining(), Run.grace(news.remaining())));
            lost(news);
        });
        folder.introduce(arguments.request.name(), mark);
        synchronized (this) {
            if (wait.wasInterrupted()) {
                held.release();
                reports.close();
                folder.delete();
                return wait.exitCode();
            }
            answered = true;
        }
        answer(held);
        awaitTheEnd(guardian);
        int code = finish(keeper, held);
        reports.close();
        if (folder.isReleaseRequested() && folder.exists()) {
            folder.answer(code);
        } else {
            folder.delete();
        }
        return code;
    }

    /** Prints what the shell evaluates, and ends our output: the shell waits for its end. */
    private void answer(Lease held) throws IOException {
        ShellText text = new ShellText(held, folder, mark);
        String all = arguments.json ? text.json() : arguments.shell != null ? text.assignments() : text.evaluated();
        try (FileOutputStream out = new FileOutputStream(FileDescriptor.out)) {
            out.write((all + "\n").getBytes(StandardCharsets.UTF_8));
        }
    }

    /** Returns when the shell has ended, was never there, or asks for the release. */
    private synchronized void awaitTheEnd(Guardian guardian) throws InterruptedException {
        long start = System.nanoTime();
        while (!ended && !folder.isReleaseRequested()) {
            if (shell == null) {
                Optional<Long> pid = arguments.shell != null ? Optional.of(arguments.shell) : folder.shell();
                if (pid.isPresent()) {
                    shell = ProcessHandle.of(pid.get()).orElse(null);
                    ended = shell == null;
                    guardian.watch(pid.get());
                } else {
                    ended = System.nanoTime() - start > UNTIL_EVALUATED;
                }
            } else {
                ended = !ProcessTree.lives(shell);
            }
            if (!ended) {
                wait(LOOK_EVERY_MILLIS);
            }
        }
    }

    private int finish(Lockkeeper keeper, Lease held) {
        ProcessHandle owner;
        boolean released;
        synchronized (this) {
            owner = shell;
            released = loss == null && !evicted;
        }
        if (released) {
            return release(keeper, held);
        }
        if (wasEvicted()) {
            Terminal.complain("the lock " + arguments.request.name() + " was lost (its holder was ended)");
            stop(owner, Run.grace(Duration.ZERO));
            awaitTheEnd(owner, held);
        } else {
            stopped.join();
        }
        held.release();
        return Exit.LOST;
    }

    /** A shell that was asked to end may take its time, and has the lock until then; unless nothing is to be done to it. */
    private void awaitTheEnd(@Nullable ProcessHandle owner, Lease held) {
        while (owner != null
                && arguments.means() != Guardian.Means.NONE
                && ProcessTree.lives(owner)
                && held.isValid()
                && !folder.isReleaseRequested()) {
            LockSupport.parkNanos(LOOK_EVERY_MILLIS * 1_000_000);
        }
    }

    private synchronized boolean wasEvicted() {
        return evicted;
    }

    private int release(Lockkeeper keeper, Lease held) {
        return switch (new Releasing(keeper, arguments.request, held).release(() -> {})) {
            case RELEASED -> Exit.OK;
            case LOST -> Exit.LOST;
            case LEFT -> Exit.UNAVAILABLE;
        };
    }

    private void lost(LeaseLost news) {
        ProcessHandle owner;
        synchronized (this) {
            if (ended || loss != null) {
                return;
            }
            loss = news;
            owner = shell;
        }
        Terminal.complain("the lock " + arguments.request.name() + " was lost (" + Text.reason(news.reason()) + ")");
        stop(owner, Run.grace(news.remaining()));
        stopped.complete(null);
    }

    /** Does to the shell what is to be done when its lock is lost. */
    private void stop(@Nullable ProcessHandle owner, Duration grace) {
        if (owner == null) {
            return; // it has not evaluated our answer, and cannot any more
        }
        ProcessTree tree = new ProcessTree(owner, mark);
        switch (arguments.means()) {
            case KILL -> tree.stop(grace);
            case TERM -> tree.signal("TERM");
            case NONE -> {}
        }
    }

    /**
     * While it waits, a signal ends the wait. Later TERM wakes us: {@code release} has asked, or somebody ends us, which is a
     * loss. What a terminal sends is for the shell.
     */
    private synchronized void received(KernelSignals.Caught signal) {
        if (!answered) {
            wait.received(signal);
        } else if (signal.name().equals("TERM")) {
            notifyAll();
            if (!folder.isReleaseRequested() && !ended) {
                ended = true;
                evicted = true;
            }
        }
    }
}
