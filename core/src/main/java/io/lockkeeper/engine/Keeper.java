// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import io.lockkeeper.KeeperClosedException;
import io.lockkeeper.LeaseLost.Reason;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Mode;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.ClaimId;
import io.lockkeeper.spi.Liveness;
import io.lockkeeper.spi.LockStore;
import io.lockkeeper.spi.Signals;
import io.lockkeeper.spi.Subscription;
import io.lockkeeper.spi.Ticker;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The engine of one {@link io.lockkeeper.Lockkeeper}: puts the parts together, routes signals to them, and ends them.
 *
 * <p>An acquisition goes: {@code KeeperLock} → {@link #acquire} → {@link LocalQueue} (who makes the claim) →
 * {@link Steps} (one step in the store) → {@link Hold} (validity) → {@link Renewer} (kept alive) → {@link Possession} →
 * {@link LeaseHandle} (what the user has).
 */
public final class Keeper implements Signals {
    private static final SecureRandom RANDOM = new SecureRandom();

    /** Every so many acquisitions note their stack, after the first ones, which all do: stacks are dear. */
    private static final int TRACE_EVERY = 256;

    private static final int TRACE_FIRST = 32;
    private static final int TRACE_AFTER_LEAK = 1024;

    private final LockStore store;
    private final Config config;
    private final Ticker ticker;
    private final long skew;
    private final String clientId = newClientId();
    private final Lanes lanes;
    private final Events events;
    private final Timer timer;
    private final Renewer renewer;
    private final Steps steps;
    private final Latches latches;
    private final Subscription subscription;
    private final ThreadLocal<Map<String, ThreadHold>> threadHolds = ThreadLocal.withInitial(HashMap::new);
    private final Map<Object, LocalQueue> queues = new ConcurrentHashMap<>();
    private final Map<ClaimId, Pending> pending = new ConcurrentHashMap<>();
    private final Set<Hold> recalled = ConcurrentHashMap.newKeySet();
    private final Map<AutoCloseable, Boolean> closeWithMe = new ConcurrentHashMap<>();
    private final AtomicInteger traceAll = new AtomicInteger(TRACE_FIRST);
    private final AtomicBoolean closing = new AtomicBoolean();
    private final CountDownLatch ended = new CountDownLatch(1);
    private final @Nullable Thread shutdownHook;
    private volatile boolean closed;
    private int traceCount; // racy on purpose: it only spreads the samples

    /** Begins to keep locks in this store. */
    public Keeper(LockStore store, Config config) {
        this.store = store;
        this.config = config;
        this.ticker = store.ticker();
        this.skew = store.skew().toNanos();
        this.lanes = new Lanes(config.clientName());
        this.events = new Events(config.listener(), config.executor(), config.clientName());
        this.renewer = new Renewer(this);
        this.timer = new Timer(ticker, renewer, config.clientName());
        this.steps = new Steps(this, store, config.operationTimeout(), clientId);
        this.latches = new Latches(this);
        this.subscription = store.listen(clientId, this);
        this.shutdownHook =
                config.releaseOnShutdown() ? new Thread(this::closeAtShutdown, "lockkeeper-shutdown") : null;
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

    Liveness liveness(Claim claim) {
        return store.liveness(claim);
    }

    long skew() {
        return skew;
    }

    String clientId() {
        return clientId;
    }

    Lanes lanes() {
        return lanes;
    }

    Events events() {
        return events;
    }

    Timer timer() {
        return timer;
    }

    Renewer renewer() {
        return renewer;
    }

    Steps steps() {
        return steps;
    }

    Latches latches() {
        return latches;
    }

    Map<String, ThreadHold> threadHolds() {
        return threadHolds.get();
    }

    Object lane(String name) {
        return store.lane(name);
    }

    Want want(String name, Mode mode, int permits, int limit, LockOptions options) {
        Settings settings = Settings.of(options.orElse(config.defaults()), store.guarantees());
        return Want.of(name, mode, permits, limit, settings, this);
    }

    // ---- Acquiring ----

    /** Gets into possession within so many nanoseconds, 0 for one attempt; null when it was not acquired. */
    @Nullable
    LeaseHandle acquire(Want want, @Nullable Thread owner, long waitNanos, boolean interruptible)
            throws InterruptedException {
        if (interruptible && Thread.interrupted()) {
            throw new InterruptedException();
        }
        long start = ticker.nanos();
        // One attempt takes as long as its step does, be it another reader's step.
        long deadline = waitNanos == 0 ? Long.MAX_VALUE : Checks.after(start, waitNanos);
        ThreadWaiter waiter = new ThreadWaiter(waitNanos == 0, deadline, interruptible, owner, sampleTrace());
        try {
            for (; ; ) {
                LocalQueue queue = queueFor(want);
                if (queue.enter(waiter)) {
                    try {
                        Possession possession = waiter.await(queue, ticker);
                        if (possession == null) {
                            notAcquired(want.name(), start);
                            return null;
                        }
                        LeaseHandle handle = possession.handOut();
                        acquired(handle, start);
                        return handle;
                    } catch (ThreadWaiter.Stale stale) {
                        // enter again
                    }
                }
            }
        } catch (InterruptedException e) {
            notAcquired(want.name(), start);
            throw e;
        }
    }

    /** {@link #acquire} for those who do not want to be interrupted. */
    @Nullable
    LeaseHandle acquireUninterruptibly(Want want, @Nullable Thread owner, long waitNanos) {
        try {
            return acquire(want, owner, waitNanos, false);
        } catch (InterruptedException e) {
            throw new AssertionError("an uninterruptible wait was interrupted", e);
        }
    }

    /** What a wait without end has brought. */
    static LeaseHandle acquired(@Nullable LeaseHandle handle) {
        return Objects.requireNonNull(handle, "a wait without end ended with nothing");
    }

    LocalQueue queueFor(Want want) {
        ensureOpen();
        if (want.isShareable()) {
            LocalQueue known = queues.get(want);
            if (known != null) {
                return known;
            }
            LocalQueue created = new LocalQueue(this, want, want);
            LocalQueue other = queues.putIfAbsent(want, created);
            return other == null ? shutIfClosed(created) : other;
        }
        LocalQueue own = new LocalQueue(this, want, null);
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

    /** From before a claim is sent until it is settled, so that no signal can come too early to be understood. */
    void track(Pending p) {
        if (p.claim.terms().queue()) {
            pending.put(p.claim.id(), p);
        }
    }

    void untrack(Pending p) {
        if (p.claim.terms().queue()) {
            pending.remove(p.claim.id());
            if (p.isRefreshed) {
                renewer.removeQueued(p);
            }
        }
    }

    void ensureOpen() {
        if (closed) {
            throw new KeeperClosedException("this keeper (" + config.clientName() + ") has been closed");
        }
    }

    boolean isClosed() {
        return closed;
    }

    // ---- What is told ----

    void acquired(LeaseHandle handle, long start) {
        if (events.hasListener()) {
            Duration waited = Duration.ofNanos(ticker.nanos() - start);
            events.tell(l -> l.acquired(handle, waited));
        }
    }

    void notAcquired(String name, long start) {
        if (events.hasListener()) {
            Duration waited = Duration.ofNanos(ticker.nanos() - start);
            events.tell(l -> l.notAcquired(name, waited));
        }
    }

    void released(Possession possession) {
        if (events.hasListener()) {
            Duration held = possession.held();
            events.tell(l -> l.released(possession.name(), possession.token, held));
        }
    }

    @Nullable
    Throwable sampleTrace() {
        if ((traceAll.get() > 0 && traceAll.getAndDecrement() > 0) || ++traceCount % TRACE_EVERY == 0) {
            return new Throwable(
                    "acquired here, by thread " + Thread.currentThread().getName());
        }
        return null;
    }

    void leakSeen() {
        traceAll.set(TRACE_AFTER_LEAK);
    }

    // ---- Behind the scenes ----

    /** Releases a hold without waiting, repeating it until the store has been told or the lease has ended. */
    void releaseBehind(Hold hold) {
        behind(hold.lane, hold.endsAt, () -> {
            store.release(hold.grant);
            return true;
        });
    }

    /** Tells the store of a recalled hold's end when its user has had its time, or when we are closed before. */
    void acknowledgeLater(Hold hold, long at) {
        recalled.add(hold);
        timer.schedule(at, () -> {
            recalled.remove(hold);
            hold.acknowledge();
        });
    }

    /** The user is done with a hold that was lost: no need to let it run out, if it has not yet. */
    void tidyUpAfterLoss(Possession possession) {
        Hold hold = possession.hold;
        if (hold.mode() != Mode.SHARED && ticker.nanos() < hold.endsAt && hold.startTidying()) {
            releaseBehind(hold);
        }
    }

    /** Makes a step on a thread of the lane, again and again until it succeeds or {@code until}. */
    void behind(Object lane, long until, Supplier<Boolean> step) {
        try {
            lanes.execute(lane, () -> {
                try {
                    steps.once(lane, step);
                } catch (StoreUnavailableException e) {
                    long next = ticker.nanos() + 250_000_000;
                    if (next < until && !closed) {
                        timer.schedule(next, () -> behind(lane, until, step));
                    }
                }
            });
        } catch (RejectedExecutionException e) {
            // The keeper is closed: the lease ends by itself.
        }
    }

    void closeWithMe(AutoCloseable child) {
        closeWithMe.put(child, true);
    }

    void forgetChild(AutoCloseable child) {
        closeWithMe.remove(child);
    }

    // ---- Signals ----

    @Override
    public void granted(ClaimId claim, Answer.Granted grant) {
        Pending p = pending.get(claim);
        if (p != null) {
            p.queue.granted(p, grant, p.startOf(grant, ticker.nanos()));
        }
    }

    @Override
    public void recalled(ClaimId claim) {
        Hold hold = renewer.hold(claim);
        if (hold != null) {
            hold.recall();
        }
    }

    @Override
    public void lost(ClaimId claim, Reason reason) {
        Hold hold = renewer.hold(claim);
        if (hold != null) {
            hold.lose(reason);
        }
    }

    @Override
    public void opened(String latch) {
        latches.look(latch);
    }

    @Override
    public void sessionLost(String why) {
        renewer.holds().forEach(hold -> hold.lose(Reason.SESSION_LOST));
        renewer.queued().forEach(p -> p.queue.evicted(p));
        latches.lookAll();
    }

    @Override
    public void missed() {
        renewer.refreshAll();
        latches.lookAll();
    }

    // ---- The end ----

    /** Ends all who wait, releases all that is held, and leaves no thread. */
    public void close() {
        if (!closing.compareAndSet(false, true)) {
            return;
        }
        closeWithMe.keySet().forEach(Keeper::closeQuietly);
        closed = true;
        List.copyOf(queues.values()).forEach(LocalQueue::shut);
        latches.shut();
        List<Hold> left = renewer.holds();
        left.forEach(hold -> hold.lose(Reason.CLOSED));
        // What its user is just releasing is released: twice would tell one of the two that it was lost.
        left.stream().filter(hold -> hold.state == Hold.State.LOST).forEach(this::releaseBehind);
        recalled.forEach(Hold::acknowledge);
        timer.close();
        lanes.close(2 * config.operationTimeout().toNanos());
        events.close();
        subscription.close();
        if (config.closesStore()) {
            store.close();
        }
        removeShutdownHook();
        ended.countDown();
    }

    /** Closes; or lets another thread that is about to finish it: the JVM ends when this returns. */
    private void closeAtShutdown() {
        close();
        try {
            ended.await(3 * config.operationTimeout().toNanos(), TimeUnit.NANOSECONDS);
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

    private static void closeQuietly(AutoCloseable child) {
        try {
            child.close();
        } catch (Exception e) {
            Events.LOG.log(System.Logger.Level.WARNING, "could not close " + child, e);
        }
    }
}
