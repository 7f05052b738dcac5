// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.process;

import io.lockkeeper.Lease;
import io.lockkeeper.LeaseLost;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.tck.support.Attempt;
import io.lockkeeper.tck.support.Contract;
import io.lockkeeper.tck.support.Rounds;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A client in its own JVM, to be paused and killed. A {@link ChildJvm} starts it and drives it step by step: one
 * command on a line of its standard input, one answer on a line of its standard output. It ends, and closes its keeper,
 * when its input ends.
 */
public final class ChildMain {
    private final Lockkeeper keeper;
    private final Map<String, Attempt> attempts = new ConcurrentHashMap<>();

    /** An acquisition, under the key that the parent gave it. */
    private static final class Attempt {
        final CompletableFuture<Lease> lease = new CompletableFuture<>();
        final CompletableFuture<LeaseLost> loss = new CompletableFuture<>();
        final AtomicInteger told = new AtomicInteger();
        volatile Thread thread = Thread.currentThread();

        void begin(Callable<Lease> acquisition) {
            thread = daemon(() -> acquire(acquisition));
        }

        void acquire(Callable<Lease> acquisition) {
            try {
                lease.complete(acquisition.call().onLost(lost -> {
                    told.incrementAndGet();
                    loss.complete(lost);
                }));
            } catch (Exception e) {
                lease.completeExceptionally(e);
            }
        }
    }

    private ChildMain(Lockkeeper keeper) {
        this.keeper = keeper;
    }

    /** Answers commands until there are no more. */
    public static void main(String[] args) throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream out = System.out;
        System.setOut(System.err); // only answers go to the standard output
        String[] connect = Objects.requireNonNull(in.readLine(), "no command").split(" ");
        try (Lockkeeper keeper = Lockkeeper.builder(connect[0])
                .patience(millis(connect[1]))
                .releaseOnShutdown(Boolean.parseBoolean(connect[2]))
                .build()) {
            out.println("ready");
            ChildMain child = new ChildMain(keeper);
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                out.println(child.answer(line.split(" ")));
                out.flush();
            }
        }
    }

    private static Duration millis(String s) {
        return Duration.ofMillis(Long.parseLong(s));
    }

    private static Thread daemon(Runnable task) {
        Thread thread = new Thread(task);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    private String answer(String[] words) {
        try {
            return switch (words[0]) {
                case "acquire" -> acquire(words[1], words[2], millis(words[3]), millis(words[4]));
                case "hold" -> hold(words[1], words[2], millis(words[3]));
                case "begin" -> begin(words[1]);
                case "future" -> future(words[1]);
                case "thread" -> thread();
                case "permits" -> permits(words[1], words[2], Integer.parseInt(words[3]), millis(words[4]));
                case "await" -> "held " + await(attempt(words[1]).lease).token();
                case "state" -> state(attempt(words[1]));
                case "queued" -> queued(attempt(words[1]).thread);
                case "loss" -> loss(attempt(words[1]));
                case "release" -> String.valueOf(await(attempt(words[1]).lease).release());
                case "write" -> write(attempt(words[1]), Path.of(words[2]), Long.parseLong(words[3]));
                case "work" -> work(words[1], Path.of(words[2]), Integer.parseInt(words[3]), words[4]);
                default -> "error: unknown command " + words[0];
            };
        } catch (Exception | AssertionError e) {
            return "error: " + e.toString().replaceAll("\\R", " ");
        }
    }

    private Attempt attempt(String key) {
        return attempts.computeIfAbsent(key, k -> new Attempt());
    }

    private static <T> T await(CompletableFuture<T> future) throws Exception {
        return future.get(Contract.LONG.toSeconds(), TimeUnit.SECONDS);
    }

    /** Begins to wait for a lock, with its own claim. */
    private String acquire(String key, String name, Duration lease, Duration lockDelay) {
        LockOptions options = LockOptions.defaults().lease(lease).fair(true);
        if (!lockDelay.isZero()) {
            options = options.lockDelay(lockDelay);
        }
        attempt(key).begin(keeper.lock(name, options)::acquire);
        return "begun";
    }

    /** Acquires a lock that is free, on the thread that answers commands: that takes no new one. */
    private String hold(String key, String name, Duration lease) throws Exception {
        Attempt attempt = attempt(key);
        attempt.acquire(keeper.lock(name, LockOptions.defaults().lease(lease))::acquire);
        return "held " + await(attempt.lease).token();
    }

    /** Acquires a lock with a future, and releases it in a callback, on whatever threads the keeper has for that. */
    private String future(String name) throws Exception {
        return "released " + await(keeper.lock(name).acquireAsync().thenApplyAsync(Lease::release, ChildMain::daemon));
    }

    /** Asks for a lock with a future; says whether that could be begun. */
    private String begin(String name) {
        try {
            CompletableFuture<Lease> unused = keeper.lock(name).acquireAsync();
            return "begun";
        } catch (OutOfMemoryError e) {
            return "refused";
        }
    }

    /** Whether this process gets another thread. */
    private static String thread() throws InterruptedException {
        try {
            daemon(() -> {}).join();
            return "started";
        } catch (OutOfMemoryError e) {
            return "refused";
        }
    }

    /** Begins to wait for all permits of a semaphore. */
    private String permits(String key, String name, int permits, Duration lease) {
        LockOptions options = LockOptions.defaults().lease(lease);
        attempt(key).begin(() -> keeper.semaphore(name, permits, options).acquire(permits));
        return "begun";
    }

    /** What the child believes: {@code waiting}, {@code valid} or {@code invalid}. */
    private static String state(Attempt attempt) throws Exception {
        if (!attempt.lease.isDone()) {
            return "waiting";
        }
        return await(attempt.lease).isValid() ? "valid" : "invalid";
    }

    /**
     * Waits until an attempt that has begun to ask the store has its answer: others see a claim before the client that made it knows
     * that it is queued, and a client that is paused in between for long has a step that failed.
     */
    private static String queued(Thread attempt) throws InterruptedException {
        Contract.await("the claim is answered", () -> Arrays.stream(attempt.getStackTrace())
                .noneMatch(frame -> frame.getClassName().equals("io.lockkeeper.engine.StoreCalls")));
        return "queued";
    }

    /** The reason of the loss once it is reported, and how often it was. */
    private static String loss(Attempt attempt) throws Exception {
        LeaseLost loss = await(attempt.loss);
        return loss.reason() + " " + attempt.told.get();
    }

    /** Writes under the lease's token and, as a client that was paused in between would, without a look at its validity. */
    private static String write(Attempt attempt, Path path, long value) throws Exception {
        return new GuardedFile(path).write(await(attempt.lease).token(), value) ? "written" : "refused";
    }

    /** Visits a witness from several threads, each so often ('LEAST-MOST'), alone each time. */
    private String work(String name, Path path, int threads, String howOften) throws Exception {
        Witness witness = new Witness(path);
        String[] limits = howOften.split("-");
        Rounds rounds = Rounds.between(Integer.parseInt(limits[0]), Integer.parseInt(limits[1]));
        List<CompletableFuture<Long>> all = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            CompletableFuture<Long> done = new CompletableFuture<>();
            all.add(done);
            boolean fair = i % 2 == 0;
            long visitor = (ProcessHandle.current().pid() << 8) + i + 1;
            daemon(() -> {
                try {
                    int round = 0;
                    for (; rounds.goOnAfter(round); round++) {
                        try (Lease lease = keeper.lock(
                                        name, LockOptions.defaults().fair(fair))
                                .acquire()) {
                            witness.visit(visitor, lease.token());
                        }
                    }
                    done.complete((long) round);
                } catch (Exception | AssertionError e) {
                    done.completeExceptionally(e);
                }
            });
        }
        long visits = 0;
        for (CompletableFuture<Long> one : all) {
            visits += await(one);
        }
        return "done " + visits;
    }
}
