// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testkit;

import io.lockkeeper.Guarantees;
import io.lockkeeper.LeaseLost;
import io.lockkeeper.LockInfo;
import io.lockkeeper.Sequencer;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.ClaimId;
import io.lockkeeper.spi.Grant;
import io.lockkeeper.spi.LatchState;
import io.lockkeeper.spi.LatchStep;
import io.lockkeeper.spi.Liveness;
import io.lockkeeper.spi.LockStore;
import io.lockkeeper.spi.Renewal;
import io.lockkeeper.spi.Renewals;
import io.lockkeeper.spi.Signals;
import io.lockkeeper.spi.StoreTime;
import io.lockkeeper.spi.Subscription;
import io.lockkeeper.spi.Ticker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Any store, failing as it is told: to test what your code does when a lock is lost or the store is away. Wrap a store, make
 * a keeper on it, and say what is to go wrong. Faults are used up in the order they were asked for, one by each step of
 * that kind. Also counts steps. Safe for use by any number of threads.
 *
 * <pre>{@code
 * FaultyStore store = FaultyStore.on(new VirtualTime().newStore());
 * Lockkeeper keeper = Lockkeeper.on(store);
 * store.loseReply(StepKind.CLAIM);      // carried out, but nobody hears of it
 * Lease lease = keeper.lock("a").acquire();   // repeated, and granted once
 * }</pre>
 */
public final class FaultyStore implements LockStore {
    private final LockStore store;
    private final Map<StepKind, Queue<Fault>> faults = new EnumMap<>(StepKind.class);
    private final Map<StepKind, AtomicInteger> counts = new EnumMap<>(StepKind.class);
    private final List<Runnable> heldSignals = new ArrayList<>();
    private final Object outage = new Object();
    private Duration hangsFor = Duration.ZERO; // guarded by outage
    private volatile boolean down;
    private volatile boolean losesSignals;
    private volatile boolean holdsSignals;
    private volatile BiConsumer<StepKind, Object> observer = (kind, argument) -> {};
    private volatile BiFunction<StepKind, Object, Fate> disturbance = (kind, argument) -> Fate.answered();
    private volatile Supplier<SignalFate> signalDisturbance = () -> SignalFate.DELIVERED;

    /** What goes wrong with one step. */
    private interface Fault {
        <T> T apply(Supplier<T> step);
    }

    private FaultyStore(LockStore store) {
        this.store = store;
        for (StepKind kind : StepKind.values()) {
            faults.put(kind, new ConcurrentLinkedQueue<>());
            counts.put(kind, new AtomicInteger());
        }
    }

    /** Wraps a store; nothing goes wrong yet. */
    public static FaultyStore on(LockStore store) {
        return new FaultyStore(store);
    }

    // ---- What is to go wrong ----

    /** The next step of this kind fails and is not carried out. */
    public void fail(StepKind kind) {
        add(kind, new Fault() {
            @Override
            public <T> T apply(Supplier<T> step) {
                throw unavailable("the request was lost");
            }
        });
    }

    /**
     * The next step of this kind fails with this and is not carried out. Anything may be thrown, also an {@link Error} or a
     * checked exception that no step declares: a driver or a library below a store can do the same.
     */
    public void fail(StepKind kind, Throwable failure) {
        add(kind, new Fault() {
            @Override
            public <T> T apply(Supplier<T> step) {
                throw FaultyStore.<RuntimeException>undeclared(failure);
            }
        });
    }

    /** The next step of this kind is carried out, and then fails with this, which may be anything. */
    public void failAfter(StepKind kind, Throwable failure) {
        add(kind, new Fault() {
            @Override
            @SuppressWarnings("ReturnValueIgnored") // the answer is lost
            public <T> T apply(Supplier<T> step) {
                T unused = step.get(); // nobody hears of it
                throw FaultyStore.<RuntimeException>undeclared(failure);
            }
        });
    }

    /** Throws anything where the compiler expects an unchecked exception; it never returns. */
    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
    private static <E extends Throwable> E undeclared(Throwable failure) throws E {
        throw (E) failure;
    }

    /** The next step of this kind is carried out, but its answer is lost. */
    public void loseReply(StepKind kind) {
        add(kind, new Fault() {
            @Override
            public <T> T apply(Supplier<T> step) {
                throw unavailable("the reply was lost: " + step.get());
            }
        });
    }

    /** The next step of this kind waits at a gate before it is carried out. */
    public Gate pauseBefore(StepKind kind) {
        Gate gate = new Gate();
        add(kind, new Fault() {
            @Override
            public <T> T apply(Supplier<T> step) {
                gate.pass();
                return step.get();
            }
        });
        return gate;
    }

    /** The next step of this kind is carried out, and its answer waits at a gate. */
    public Gate pauseAfter(StepKind kind) {
        Gate gate = new Gate();
        add(kind, new Fault() {
            @Override
            public <T> T apply(Supplier<T> step) {
                T answer = step.get();
                gate.pass();
                return answer;
            }
        });
        return gate;
    }

    /** The next step of this kind is carried out, its answer waits at a gate, and is lost there. */
    public Gate loseReplyAfter(StepKind kind) {
        Gate gate = new Gate();
        add(kind, new Fault() {
            @Override
            public <T> T apply(Supplier<T> step) {
                T answer = step.get();
                gate.pass();
                throw unavailable("the reply was lost: " + answer);
            }
        });
        return gate;
    }

    /** The next step of this kind fails for its sender, but is still on its way to the store. */
    public LateStep sendLate(StepKind kind) {
        LateStep late = new LateStep();
        add(kind, new Fault() {
            @Override
            public <T> T apply(Supplier<T> step) {
                late.send(step);
                throw unavailable("no answer in time");
            }
        });
        return late;
    }

    /** All steps fail at once, and no signals come, until {@link #up()}. */
    public void down() {
        hang(Duration.ZERO);
    }

    /**
     * No step is answered, and no signals come, until {@link #up()}. As with a client library whose server has stopped, a step
     * blocks its thread for this long, whatever interrupts come, and then fails. One that hangs when the store comes up again
     * fails at that moment.
     */
    public void hang(Duration each) {
        synchronized (outage) {
            hangsFor = each;
            down = true;
        }
    }

    /** The store answers again, and says that signals may have been lost. */
    public void up() {
        synchronized (outage) {
            down = false;
            outage.notifyAll();
        }
        listeners.forEach(Signals::missed);
    }

    private void awaitFailure() {
        boolean interrupted = false;
        synchronized (outage) {
            long deadline = System.nanoTime() + hangsFor.toNanos();
            for (long left = hangsFor.toNanos(); down && left > 0; left = deadline - System.nanoTime()) {
                try {
                    TimeUnit.NANOSECONDS.timedWait(outage, left);
                } catch (InterruptedException e) {
                    interrupted = true; // a step is not broken by an interrupt
                }
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Whether signals are lost. */
    public void loseSignals(boolean lose) {
        losesSignals = lose;
    }

    /** Signals are kept back until {@link #deliverSignals()}. */
    public void holdSignals() {
        holdsSignals = true;
    }

    /** Delivers what {@link #holdSignals()} has kept back, and lets signals pass again. */
    public void deliverSignals() {
        List<Runnable> late;
        synchronized (heldSignals) {
            holdsSignals = false;
            late = List.copyOf(heldSignals);
            heldSignals.clear();
        }
        late.forEach(Runnable::run);
    }

    /** How many signals are kept back. */
    public int heldSignals() {
        synchronized (heldSignals) {
            return heldSignals.size();
        }
    }

    /**
     * Delivers what was kept back in a random order, as two connections of one client may; lets signals pass again.
     */
    public void deliverSignals(Random order) {
        List<Runnable> late;
        synchronized (heldSignals) {
            holdsSignals = false;
            late = new ArrayList<>(heldSignals);
            heldSignals.clear();
        }
        Collections.shuffle(late, order);
        late.forEach(Runnable::run);
    }

    /**
     * Decides from now on, by its kind and its argument, what becomes of each step for which no other fault was asked for.
     * It is asked on the thread that makes the step; any number of threads may ask at a time.
     */
    public void disturb(BiFunction<StepKind, Object, Fate> fates) {
        disturbance = Objects.requireNonNull(fates, "fates");
    }

    /** Decides from now on what becomes of each signal that is not lost or kept back in any case. */
    public void disturbSignals(Supplier<SignalFate> fates) {
        signalDisturbance = Objects.requireNonNull(fates, "fates");
    }

    /** Nothing goes wrong from now on: takes back all faults, and delivers the signals that were kept back. */
    public void calm() {
        disturbance = (kind, argument) -> Fate.answered();
        signalDisturbance = () -> SignalFate.DELIVERED;
        losesSignals = false;
        faults.values().forEach(Queue::clear);
        up();
        deliverSignals();
    }

    private void add(StepKind kind, Fault fault) {
        faultsOf(kind).add(fault);
    }

    // ---- What is seen ----

    /** How many steps of this kind were asked for, failed ones included. */
    public int count(StepKind kind) {
        return countOf(kind).get();
    }

    /** How many steps were asked for. */
    public int count() {
        return counts.values().stream().mapToInt(AtomicInteger::get).sum();
    }

    /** Counts from zero again. */
    public void resetCounts() {
        counts.values().forEach(c -> c.set(0));
    }

    /** Is shown each step that is asked for, with its argument, on the thread that asks. */
    public void observe(BiConsumer<StepKind, Object> observer) {
        this.observer = observer;
    }

    // ---- The store ----

    private final Queue<Signals> listeners = new ConcurrentLinkedQueue<>();

    private <T> T step(StepKind kind, Object argument, Supplier<T> step) {
        countOf(kind).incrementAndGet();
        observer.accept(kind, argument);
        if (down) {
            awaitFailure();
            throw unavailable("the store is down");
        }
        Fault fault = faultsOf(kind).poll();
        return fault == null ? disturbance.apply(kind, argument).apply(step) : fault.apply(step);
    }

    private Queue<Fault> faultsOf(StepKind kind) {
        return Objects.requireNonNull(faults.get(kind));
    }

    private AtomicInteger countOf(StepKind kind) {
        return Objects.requireNonNull(counts.get(kind));
    }

    private static StoreUnavailableException unavailable(String why) {
        return new StoreUnavailableException("injected: " + why, null);
    }

    @Override
    public String id() {
        return step(StepKind.ID, "", store::id);
    }

    @Override
    public Guarantees guarantees() {
        return store.guarantees();
    }

    @Override
    public StoreTime time(Object lane) {
        return step(StepKind.TIME, lane, () -> store.time(lane));
    }

    @Override
    public Answer claim(Claim claim) {
        return step(StepKind.CLAIM, claim, () -> store.claim(claim));
    }

    @Override
    public Renewal renew(Renewals batch) {
        return step(StepKind.RENEW, batch, () -> store.renew(batch));
    }

    @Override
    public boolean release(Grant grant) {
        return step(StepKind.RELEASE, grant, () -> store.release(grant));
    }

    @Override
    public Optional<Grant> downgrade(Grant grant) {
        return step(StepKind.DOWNGRADE, grant, () -> store.downgrade(grant));
    }

    @Override
    public void withdraw(Claim claim) {
        step(StepKind.WITHDRAW, claim, () -> {
            store.withdraw(claim);
            return true;
        });
    }

    @Override
    public LatchState latch(LatchStep latchStep) {
        return step(StepKind.LATCH, latchStep, () -> store.latch(latchStep));
    }

    @Override
    public Optional<LockInfo> inspect(String name) {
        return step(StepKind.INSPECT, name, () -> store.inspect(name));
    }

    @Override
    public List<LockInfo> list(String prefix, int limit) {
        return step(StepKind.LIST, prefix, () -> store.list(prefix, limit));
    }

    @Override
    public boolean check(Sequencer sequencer) {
        return step(StepKind.CHECK, sequencer, () -> store.check(sequencer));
    }

    @Override
    public boolean breakHold(String name, long token, Duration lockDelay, boolean now) {
        return step(StepKind.BREAK, name, () -> store.breakHold(name, token, lockDelay, now));
    }

    @Override
    public Subscription listen(String client, Signals signals) {
        FaultySignals faulty = new FaultySignals(signals);
        Subscription subscription = store.listen(client, faulty);
        listeners.add(signals);
        return () -> {
            listeners.remove(signals);
            subscription.close();
            faulty.signals = null;
        };
    }

    @Override
    public Object lane(String name) {
        return store.lane(name);
    }

    @Override
    public boolean canDecideClaims() {
        return store.canDecideClaims();
    }

    @Override
    public Liveness liveness(Claim claim) {
        return store.liveness(claim);
    }

    @Override
    public Duration skew() {
        return store.skew();
    }

    @Override
    public Ticker ticker() {
        return store.ticker();
    }

    @Override
    public void close() {
        store.close();
    }

    private final class FaultySignals implements Signals {
        /** Null when nobody listens any more, so that a store that is slow to forget this keeps nobody else in memory. */
        private volatile @Nullable Signals signals;

        FaultySignals(Signals signals) {
            this.signals = signals;
        }

        private void tell(Consumer<Signals> signal) {
            if (losesSignals || down) {
                return;
            }
            SignalFate fate = signalDisturbance.get();
            synchronized (heldSignals) {
                if (holdsSignals || fate == SignalFate.HELD || fate == SignalFate.TWICE) {
                    heldSignals.add(() -> deliver(signal));
                }
                if (holdsSignals) {
                    return;
                }
            }
            if (fate == SignalFate.DELIVERED || fate == SignalFate.TWICE) {
                deliver(signal);
            }
        }

        private void deliver(Consumer<Signals> signal) {
            Signals listening = signals;
            if (listening != null) {
                signal.accept(listening);
            }
        }

        @Override
        public void granted(ClaimId claim, Answer.Granted grant) {
            tell(s -> s.granted(claim, grant));
        }

        @Override
        public void recalled(ClaimId claim) {
            tell(s -> s.recalled(claim));
        }

        @Override
        public void changed(ClaimId claim) {
            tell(s -> s.changed(claim));
        }

        @Override
        public void lost(ClaimId claim, LeaseLost.Reason reason) {
            tell(s -> s.lost(claim, reason));
        }

        @Override
        public void opened(String latch) {
            tell(s -> s.opened(latch));
        }

        @Override
        public void sessionLost(String why) {
            tell(s -> s.sessionLost(why));
        }

        @Override
        public void missed() {
            tell(Signals::missed);
        }
    }
}
