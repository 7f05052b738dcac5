// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.history;

import io.lockkeeper.Guarantee;
import io.lockkeeper.Guarantees;
import io.lockkeeper.Lease;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.spi.LockStore;
import io.lockkeeper.testkit.FaultyStore;
import io.lockkeeper.testkit.fleet.Load;
import io.lockkeeper.testkit.fleet.RandomUser;
import io.lockkeeper.testkit.history.History;
import io.lockkeeper.testkit.history.HistoryChecker;
import io.lockkeeper.testkit.history.HistoryMode;
import io.lockkeeper.testkit.history.Rule;
import io.lockkeeper.testkit.history.Violation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;

/**
 * Several keepers with several threads each use the same few locks in every way, while some of their stores
 * fail; what they see is recorded, and judged afterwards. In addition to the rules of the checker: a write under a lease that is still
 * valid is never refused as stale, a store that does not fail is never called unavailable, and in the end every lock can
 * be acquired again.
 */
public final class HistoryRun implements Load {
    /** An unlimited wait has ended by then, if it ever does. */
    private static final Duration PATIENT = Duration.ofSeconds(30);

    /** For busy machines. */
    private static final Duration SLACK = Duration.ofSeconds(20);

    private static final int PERMITS = 3;

    private final History history = new History();
    private final Guarantees guarantees;
    private final String lock;
    private final String readWriteLock;
    private final String semaphore;
    private final GuardedStorage storage = new GuardedStorage(history);

    private final List<LockStore> stores;
    private final Random random;
    private final AtomicInteger operationsLeft;
    private final long deadline;
    private final Queue<String> complaints = new ConcurrentLinkedQueue<>();

    /**
     * A run.
     *
     * @param stores the connections, one for each keeper; those that are {@link FaultyStore}s fail
     * @param prefix of names that nobody else uses
     * @param operations how many there are, unless time is up before
     */
    public HistoryRun(List<LockStore> stores, String prefix, long seed, int operations, Duration atMost) {
        this.stores = stores;
        this.guarantees = stores.get(0).guarantees();
        this.lock = prefix + "-lock";
        this.readWriteLock = prefix + "-rw";
        this.semaphore = prefix + "-semaphore";
        this.random = new Random(seed);
        this.operationsLeft = new AtomicInteger(operations);
        this.deadline = System.nanoTime() + atMost.toNanos();
        history.declareSemaphore(semaphore, PERMITS);
    }

    @Override
    public History history() {
        return history;
    }

    @Override
    public Guarantees guarantees() {
        return guarantees;
    }

    @Override
    public String lock() {
        return lock;
    }

    @Override
    public String readWriteLock() {
        return readWriteLock;
    }

    @Override
    public String semaphore() {
        return semaphore;
    }

    @Override
    public int permits() {
        return PERMITS;
    }

    @Override
    public Duration patient() {
        return PATIENT;
    }

    @Override
    public boolean write(String name, HistoryMode mode, long token) {
        return storage.write(name, mode, token);
    }

    @Override
    public boolean next() {
        return isOn() && operationsLeft.getAndDecrement() > 0;
    }

    private boolean isOn() {
        return System.nanoTime() < deadline && complaints.isEmpty() && operationsLeft.get() > 0;
    }

    @Override
    public void complain(String what) {
        complaints.add(what);
    }

    /** Runs with this many threads for each keeper; what is wrong, if anything is. */
    public Optional<String> play(int threads) throws InterruptedException {
        ExecutorService executor = Executors.newCachedThreadPool();
        List<Lockkeeper> keepers = new ArrayList<>();
        List<Chaos> chaos = new ArrayList<>();
        try {
            List<Callable<Object>> workers = new ArrayList<>();
            for (int k = 0; k < stores.size(); k++) {
                Lockkeeper keeper = Lockkeeper.on(stores.get(k));
                keepers.add(keeper);
                boolean fails = stores.get(k) instanceof FaultyStore;
                if (stores.get(k) instanceof FaultyStore store) {
                    chaos.add(new Chaos(store, new Random(random.nextLong()), this::isOn));
                }
                for (int t = 0; t < threads; t++) {
                    Random own = new Random(random.nextLong());
                    workers.add(new RandomUser(this, keeper, "keeper" + k + ".thread" + t, own, fails));
                }
            }
            chaos.forEach(executor::execute);
            for (Future<Object> done :
                    executor.invokeAll(workers, 2 * PATIENT.toSeconds() + secondsLeft(), TimeUnit.SECONDS)) {
                result(done);
            }
            chaos.forEach(Chaos::stop);
            history.look();
            Optional<String> wrong = verdict();
            if (wrong.isEmpty()) {
                takeEverything(keepers.get(0));
                wrong = verdict();
            }
            return wrong;
        } finally {
            chaos.forEach(Chaos::stop);
            executor.shutdownNow();
            keepers.forEach(Lockkeeper::close);
        }
    }

    private long secondsLeft() {
        return Math.max(0, (deadline - System.nanoTime()) / 1_000_000_000);
    }

    private void result(Future<Object> done) throws InterruptedException {
        try {
            if (done.isCancelled()) {
                complain("a thread has not ended");
            } else {
                done.get();
            }
        } catch (ExecutionException e) {
            complain("a thread ended with " + e.getCause());
        }
    }

    /** Nothing may be left. */
    private void takeEverything(Lockkeeper keeper) throws InterruptedException {
        give(keeper.lock(lock).tryAcquire(PATIENT), lock);
        give(keeper.lock(readWriteLock).tryAcquire(PATIENT), readWriteLock);
        if (guarantees.has(Guarantee.PERMITS)) {
            give(keeper.semaphore(semaphore, PERMITS).tryAcquire(PERMITS, PATIENT), semaphore);
        }
    }

    private void give(Optional<Lease> all, String name) {
        if (all.isEmpty()) {
            complain("'" + name + "' was never free again");
        } else if (!all.get().release()) {
            complain("'" + name + "' was lost in the end");
        }
    }

    private Optional<String> verdict() {
        HistoryChecker checker = HistoryChecker.everyRule().slack(SLACK);
        if (!guarantees.has(Guarantee.FENCED)) {
            checker = checker.without(Rule.FENCE, Rule.GUARD);
        }
        List<Violation> violations = checker.check(history);
        if (violations.isEmpty() && complaints.isEmpty()) {
            return Optional.empty();
        }
        return Optional.of(violations.size() + " violations in "
                + history.events().size() + " events:\n"
                + violations.stream().limit(5).map(v -> "  " + v + "\n").collect(Collectors.joining())
                + complaints.stream().limit(5).map(c -> "  " + c + "\n").collect(Collectors.joining()));
    }
}
