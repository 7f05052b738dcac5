// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import io.lockkeeper.KeeperClosedException;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Mode;
import io.lockkeeper.spi.LockStore;
import io.lockkeeper.spi.Subscription;
import io.lockkeeper.spi.Ticker;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * The engine of one {@link io.lockkeeper.Lockkeeper}: puts the parts together, and ends them.
 *
 * <p>An acquisition goes: {@code KeeperLock} → {@link Acquisition} → {@link LocalQueue} (who makes the claim) →
 * {@link Claims} and {@link StoreCalls} (one step in the store) → {@link Hold} (validity) → {@link Renewer} (kept alive) →
 * {@link Possession} → {@link LeaseHandle} (what the user has).
 */
final class Keeper {
    private static final SecureRandom RANDOM = new SecureRandom();

    /** How long closing waits for leaders to stop. */
    private static final long CHILDREN_NANOS = 5_000_000_000L;

    private final LockStore store;
    private final Config config;
    private final Ticker ticker;
    private final long skew;
    private final String clientId = newClientId();
    private final Threads threads;
    private final Timer timer;
    private final Events events;
    private final Renewer renewer = new Renewer(this);
    private final StoreCalls calls;
    private final Latches latches;
    private final Claims claims;
    private final LeakTraces traces = new LeakTraces();
    private final Subscription subscription;
    private final ThreadLocal<ThreadHolds> threadHolds = ThreadLocal.withInitial(ThreadHolds::new);
    private final Map<Object, LocalQueue> queues = new ConcurrentHashMap<>();
    private final Map<Child, Boolean> closeWithMe = new ConcurrentHashMap<>();
    private final AtomicBoolean closing = new AtomicBoolean();
    private final CountDownLatch ended = new CountDownLatch(1);
    private final @Nullable Thread shutdownHook;
    private volatile @Nullable String storeId;
    private volatile Set<Child> awaitedChildren = Set.of();
    private volatile boolean closed;

    /** Begins to keep locks in this store. */
    Keeper(LockStore store, Config config) {
        this(store, config, new Threads(config.clientName()));
    }

    Keeper(LockStore store, Config config, Threads threads) {
        this.store = store;
        this.config = config;
        this.threads = threads;
        this.ticker = store.ticker();
        this.skew = store.skew().toNanos();
        this.timer = new Timer(ticker, renewer, threads);
        this.events = new Events(config, threads, timer);
        this.calls = new StoreCalls(store, config.operationTimeout(), events, () -> closed, this::newLane);
        this.latches = new Latches(this);
        this.claims = new Claims(store, calls, timer, clientId);
        this.subscription = store.listen(clientId, new StoreSignals(claims, renewer, latches, timer, ticker));
        this.shutdownHook = config.releaseOnShutdown() ? new Thread(this::close, "lockkeeper-shutdown") : null;
        if (shutdownHook != null) {
            Runtime.getRuntime().addShutdownHook(shutdownHook);
        }
    }

    private static String newClientId() {
        byte[] random = new byte[12];
        RANDOM.nextBytes(random);
        StringBuilder id = new StringBuilder(24);
        for (byte b : random) {
            id.append(Character.forDigit((b >> 4) & 15, 16)).append(Character.forDigit(b & 15, 16));
        }
        return id.toString();
    }

    private Lane newLane(Object key) {
        return new Lane(key, threads, timer, lane -> claims.isHeldIn(lane));
    }

    // ---- The parts ----

    LockStore store() {
        return store;
    }

    Config config() {
        return config;
    }

    Ticker ticker() {
        return ticker;
    }

    long skew() {
        return skew;
    }

    String clientId() {
        return clientId;
    }

    Threads threads() {
        return threads;
    }

    Timer timer() {
        return timer;
    }

    Events events() {
        return events;
    }

    Renewer renewer() {
        return renewer;
    }

    StoreCalls calls() {
        return calls;
    }

    Claims claims() {
        return claims;
    }

    Latches latches() {
        return latches;
    }

    LeakTraces traces() {
        return traces;
    }

    ThreadHolds threadHolds() {
        return threadHolds.get();
    }

    LockRequest request(String name, Mode mode, int permits, int limit, LockOptions options) {
        Settings settings = Settings.of(options.orElse(config.defaults()), store.guarantees());
        return LockRequest.of(name, mode, permits, limit, settings, config);
    }

    // ---- The local queues ----

    LocalQueue queueFor(LockRequest request) {
        ensureOpen();
        timer.ensureStarted(); // what could not be looked after must not be acquired
        if (request.isShareable()) {
            LocalQueue known = queues.get(request);
            if (known != null) {
                return known;
            }
            LocalQueue created = new LocalQueue(this, request, request);
            LocalQueue other = queues.putIfAbsent(request, created);
            return other == null ? shutIfClosed(created) : other;
        }
        LocalQueue own = new LocalQueue(this, request, null);
        queues.put(own, own);
        return shutIfClosed(own);
    }

    /** A queue that came too late for {@link #close} to see it must not be used. */
    private LocalQueue shutIfClosed(LocalQueue queue) {
        if (closed) {
            queue.shut();
        }
        return queue;
    }

    void forget(LocalQueue queue) {
        queues.remove(queue.key(), queue);
    }

    // ---- The end ----

    void ensureOpen() {
        if (closed) {
            throw new KeeperClosedException("this keeper (" + config.clientName() + ") has been closed");
        }
    }

    boolean isClosed() {
        return closed;
    }

    void closeWithMe(Child child) {
        closeWithMe.put(child, true);
    }

    void forgetChild(Child child) {
        closeWithMe.remove(child);
    }

    /** What ends with its keeper. */
    interface Child {
        /** Begins to end, without waiting for it. */
        void stop();

        /** Waits until it has ended, by {@code deadline} of {@link System#nanoTime}. */
        default void awaitEnd(long deadline) {}

        /** Whether the end of this thread is what {@link #awaitEnd} waits for. */
        default boolean isRunBy(Thread running) {
            return false;
        }

        /** What it holds, and gives back itself when it ends. */
        default Optional<LockRequest> request() {
            return Optional.empty();
        }
    }

    /** The store's own id, asked for once. */
    String storeId() {
        String known = storeId;
        if (known == null) {
            known = calls.ask(calls.wholeStore(), store::id);
            storeId = known;
        }
        return known;
    }

    /**
     * Ends all who wait, releases all that is held, waits until the store knows, and leaves no thread. Each part is ended
     * whatever happened to the others.
     */
    void close() {
        if (!closing.compareAndSet(false, true)) {
            awaitClosed();
            return;
        }
        List<Throwable> failures = new ArrayList<>();
        Set<Child> children = Set.copyOf(closeWithMe.keySet());
        awaitedChildren = children;
        Set<LockRequest> theirs = new HashSet<>();
        children.forEach(child -> attempt(failures, () -> child.request().ifPresent(theirs::add)));
        closed = true;
        children.forEach(child -> attempt(failures, child::stop));
        List.copyOf(queues.values()).forEach(queue -> attempt(failures, queue::shut));
        attempt(failures, latches::shut);
        attempt(failures, () -> claims.endAll(theirs));
        long childrenBy = System.nanoTime() + CHILDREN_NANOS;
        children.forEach(child -> attempt(failures, () -> child.awaitEnd(childrenBy)));
        attempt(failures, () -> claims.endAll(Set.of()));
        // Steps that are under way, also those of threads that are still in acquire or release, end what they got.
        long deadline = System.nanoTime() + 2 * config.operationTimeout().toNanos();
        attempt(failures, () -> claims.awaitEnd(deadline));
        attempt(failures, timer::close);
        calls.lanes().forEach(lane -> attempt(failures, () -> lane.close(deadline)));
        attempt(failures, events::close);
        attempt(failures, subscription::close);
        if (config.closesStore()) {
            attempt(failures, store::close);
        }
        removeShutdownHook();
        ended.countDown();
        if (!failures.isEmpty()) {
            throw Lane.<RuntimeException>rethrow(failures.get(0));
        }
    }

    private static void attempt(List<Throwable> failures, Runnable part) {
        try {
            part.run();
        } catch (Throwable e) {
            failures.add(e);
        }
    }

    private void awaitClosed() {
        if (awaitedChildren.stream().anyMatch(child -> child.isRunBy(Thread.currentThread()))) {
            return; // closing waits for this thread
        }
        try {
            ended.await(CHILDREN_NANOS + 3 * config.operationTimeout().toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void removeShutdownHook() {
        if (shutdownHook != null && Thread.currentThread() != shutdownHook) {
            try {
                Runtime.getRuntime().removeShutdownHook(shutdownHook);
            } catch (IllegalStateException e) {
                // The JVM is going down already.
            }
        }
    }
}
