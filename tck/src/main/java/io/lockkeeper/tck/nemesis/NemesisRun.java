// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.nemesis;

import io.lockkeeper.Guarantee;
import io.lockkeeper.Guarantees;
import io.lockkeeper.KeeperClosedException;
import io.lockkeeper.LeaseLostException;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.spi.LockStore;
import io.lockkeeper.testkit.FaultyStore;
import io.lockkeeper.testkit.history.HistoryChecker;
import io.lockkeeper.testkit.history.Rule;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.LongStream;

/**
 * A storm: clients with different operation timeouts ask for the same few names in every way, while their stores
 * fail, their threads are interrupted, their holds broken and their keepers closed. Afterwards the history must be free of
 * contradictions, no call may have ended in a way that none of this explains, and {@link NemesisRest nothing may be left}.
 *
 * <p>Nothing depends on speed: a hold counts only as long as its own lease said that it would, any attempt may fail, and
 * what has to be over in the end has half a minute for it. The seed decides what is asked and what goes wrong, not how
 * threads take turns: a failure that depends on that needs several runs with its seed to be seen again.
 */
public final class NemesisRun {
    public static final int PERMITS = 3;

    /** Shorter and longer than the lease; the shortest is less than the time for which holds are passed on. */
    private static final List<Duration> TIMEOUTS = LongStream.of(20, 60, 1_000, 2_500, 2_500)
            .mapToObj(Duration::ofMillis)
            .toList();

    /** One defect may show in many ways. */
    private static final int MOST_LINES = 30;

    private static final Duration PATIENCE = Duration.ofMillis(900);
    private static final int WORKERS = 8;

    /** Names that are asked for together. */
    public record Names(String first, String second, String readWrite, String semaphore) {
        public static Names of(String prefix) {
            return new Names(prefix + "-a", prefix + "-b", prefix + "-rw", prefix + "-s");
        }

        public List<String> all() {
            return List.of(first, second, readWrite, semaphore);
        }
    }

    public final NemesisBook book = new NemesisBook();
    public final Guarantees guarantees;
    public final String prefix;
    public final List<Names> names;
    public final Duration lease;
    public final Duration fixedLease;
    public final List<NemesisClient> clients = new ArrayList<>();

    /** What the returned futures are of that are not done. */
    public final Map<Long, String> futures = new ConcurrentHashMap<>();

    private final AtomicLong futuresSoFar = new AtomicLong();

    private final Random random;
    private final LockStore calmStore;
    private final Queue<String> complaints = new ConcurrentLinkedQueue<>();
    private final Set<String> places = ConcurrentHashMap.newKeySet();
    private volatile long until;
    private volatile boolean stopped;

    /**
     * A run.
     *
     * @param connect makes connections to the store
     * @param prefix of names that nobody else uses
     */
    public NemesisRun(Supplier<LockStore> connect, String prefix, long seed) {
        this.calmStore = connect.get();
        this.guarantees = calmStore.guarantees();
        this.prefix = prefix;
        this.names = List.of(Names.of(prefix + "-1"), Names.of(prefix + "-2"));
        this.random = new Random(seed);
        this.lease = atLeast(Duration.ofSeconds(1));
        this.fixedLease = atLeast(Duration.ofMillis(300));
        names.forEach(each -> book.history.declareSemaphore(each.semaphore, PERMITS));
        for (int i = 0; i < TIMEOUTS.size(); i++) {
            String name = "nemesis-" + Long.toHexString(System.nanoTime()) + "-" + i;
            clients.add(new NemesisClient(FaultyStore.on(connect.get()), name, TIMEOUTS.get(i), PATIENCE, book));
        }
    }

    private Duration atLeast(Duration wished) {
        Duration shortest = guarantees.shortestLease();
        return wished.compareTo(shortest) < 0 ? shortest : wished;
    }

    /** Runs the storm for this long, and gives everything time to end.
     *
     * @return what is wrong; empty if nothing is
     */
    public Optional<String> play(Duration storm, NemesisRest rest) throws InterruptedException {
        until = System.nanoTime() + storm.toNanos();
        List<Thread> workers = new ArrayList<>();
        List<Thread> nemesis = new ArrayList<>();
        try (Lockkeeper calm = Lockkeeper.on(calmStore)) {
            for (int i = 0; i < clients.size(); i++) {
                NemesisClient client = clients.get(i);
                String called = "client" + i;
                nemesis.add(start("weather of " + called, weather(client)));
                for (int w = 0; w < WORKERS; w++) {
                    String name = called + ".thread" + w;
                    workers.add(NemesisThreads.start(
                            name, w % 2 == 1, new NemesisWorker(this, client, name, new Random(random.nextLong()))));
                }
            }
            NemesisMischief mischief = new NemesisMischief(this, new Random(random.nextLong()), calm.inspector());
            nemesis.add(start("interrupts and breaks", () -> mischief.interruptAndBreak(workers)));
            nemesis.add(start("closing and opening", () -> mischief.closeAndOpen(clients)));
            List<String> left = rest.check(this, workers, nemesis, calm);
            return verdict(left);
        } finally {
            stopped = true;
            clients.forEach(client -> client.store.calm());
        }
    }

    /** A part of the nemesis; one that fails for another reason than the test's end must not go unnoticed. */
    private interface Part {
        void run() throws InterruptedException;
    }

    private Thread start(String name, Part part) {
        return NemesisThreads.start(name, false, () -> {
            try {
                part.run();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            } catch (RuntimeException | Error e) {
                complain(name + " failed", e);
            }
        });
    }

    private Part weather(NemesisClient client) {
        Random own = new Random(random.nextLong());
        return new NemesisWeather(client, lease, own, this::isOn)::run;
    }

    public boolean isOn() {
        return !stopped && System.nanoTime() - until < 0;
    }

    /**
     * Clients that repeat a step for longer than a lease may keep a name waiting for that long each time: they all use the
     * second set, so that more happens in the first one.
     */
    public Names namesFor(NemesisClient client, Random by) {
        boolean slow = client.operationTimeout.compareTo(lease) > 0;
        return names.get(slow || by.nextInt(4) == 0 ? 1 : 0);
    }

    public NemesisKeeper anyKeeper(Random by) {
        return clients.get(by.nextInt(clients.size())).current();
    }

    /** A future that must be done in the end. */
    public <T> CompletableFuture<T> track(CompletableFuture<T> future, String what) {
        long number = futuresSoFar.incrementAndGet();
        futures.put(number, what + ", " + (System.nanoTime() - until) / 1_000_000 + " ms");
        future.whenComplete((value, failure) -> futures.remove(number));
        return future;
    }

    // ---- What is wrong ----

    public void complain(String what) {
        complaints.add(what);
    }

    /** Failures at the same place are reported once: there tend to be many. */
    public void complain(String what, Throwable e) {
        StackTraceElement[] stack = e.getStackTrace();
        String place = Arrays.stream(stack)
                .filter(frame -> frame.getClassName().startsWith("io.lockkeeper."))
                .map(frame -> frame.getClassName() + "." + frame.getMethodName())
                .limit(4)
                .collect(Collectors.joining(" "));
        if (places.add(e.getClass() + " " + place)) {
            complain(what + ": " + e
                    + Arrays.stream(stack).limit(16).map(f -> "\n      at " + f).collect(Collectors.joining()));
        }
    }

    /** Records how something failed, unless it failed because of the nemesis. */
    public void excuse(String what, Throwable e) {
        for (Throwable cause = e; cause != null; cause = cause.getCause()) {
            if (cause instanceof StoreUnavailableException
                    || cause instanceof KeeperClosedException
                    || cause instanceof LeaseLostException
                    || cause instanceof NemesisWeather.Defect
                    || cause instanceof NemesisWeather.Exhausted
                    || cause instanceof CancellationException
                    || cause instanceof TimeoutException) {
                return;
            }
        }
        complain(what + " failed", e);
    }

    private Optional<String> verdict(List<String> left) {
        HistoryChecker checker = HistoryChecker.everyRule();
        if (!guarantees.has(Guarantee.FENCED)) {
            checker = checker.without(Rule.FENCE);
        }
        List<String> violations = book.violations(checker);
        if (violations.isEmpty() && complaints.isEmpty() && left.isEmpty()) {
            return Optional.empty();
        }
        return Optional.of("in " + book.history.events().size() + " events:\n"
                + list("contradictions", violations)
                + list("failures that nothing explains", List.copyOf(complaints))
                + list("left over", left));
    }

    private static String list(String what, List<String> all) {
        return what + ":" + (all.isEmpty() ? " none" : "") + "\n"
                + all.stream().limit(MOST_LINES).map(s -> "  " + s + "\n").collect(Collectors.joining());
    }
}
