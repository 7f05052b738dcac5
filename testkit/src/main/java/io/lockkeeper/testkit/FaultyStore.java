// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testkit;

import io.lockkeeper.LockInfo;
import io.lockkeeper.Sequencer;
import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.Grant;
import io.lockkeeper.spi.LatchState;
import io.lockkeeper.spi.LatchStep;
import io.lockkeeper.spi.LockStore;
import io.lockkeeper.spi.Renewal;
import io.lockkeeper.spi.Renewals;
import io.lockkeeper.spi.Signals;
import io.lockkeeper.spi.StoreTime;
import io.lockkeeper.spi.Subscription;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.Supplier;

/**
 * Makes any store fail on request, to test what your code does when a lock is lost or the store is unreachable. Wrap a store,
 * create a keeper on it, and say what is to go wrong. Faults are used up in the order in which they were requested, one by
 * each step of that kind. Also counts steps. Safe for use by any number of threads.
 *
 * <pre>{@code
 * FaultyStore store = FaultyStore.on(new VirtualTime().newStore());
 * Lockkeeper keeper = Lockkeeper.on(store);
 * store.loseReply(StepKind.CLAIM);      // carried out, but the client gets no answer
 * Lease lease = keeper.lock("a").acquire();   // repeated, and granted once
 * }</pre>
 */
public final class FaultyStore extends ForwardingStore {
    private final Map<StepKind, Queue<StepFault>> faults = new EnumMap<>(StepKind.class);
    private final Map<StepKind, AtomicInteger> counts = new EnumMap<>(StepKind.class);
    private final Outage outage = new Outage();
    private final SignalFaults signals = new SignalFaults(outage);
    private volatile BiConsumer<StepKind, Object> observer = (kind, argument) -> {};
    private volatile BiFunction<StepKind, Object, Fate> disturbance = (kind, argument) -> Fate.answered();

    private FaultyStore(LockStore store) {
        super(store);
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
        add(kind, StepFault.requestLost());
    }

    /**
     * The next step of this kind fails with this and is not carried out. Anything may be thrown, also an {@link Error} or a
     * checked exception that no step declares: a driver or a library below a store can do the same.
     */
    public void fail(StepKind kind, Throwable failure) {
        add(kind, StepFault.failure(failure));
    }

    /** The next step of this kind is carried out, and then fails with this, which may be anything. */
    public void failAfter(StepKind kind, Throwable failure) {
        add(kind, StepFault.failureAfter(failure));
    }

    /** The next step of this kind is carried out, but its answer is lost. */
    public void loseReply(StepKind kind) {
        add(kind, StepFault.replyLost());
    }

    /** The next step of this kind waits at a gate before it is carried out. */
    public Gate pauseBefore(StepKind kind) {
        Gate gate = new Gate();
        add(kind, StepFault.pauseBefore(gate));
        return gate;
    }

    /** The next step of this kind is carried out, and its answer waits at a gate. */
    public Gate pauseAfter(StepKind kind) {
        Gate gate = new Gate();
        add(kind, StepFault.pauseAfter(gate));
        return gate;
    }

    /** The next step of this kind is carried out, its answer waits at a gate, and is lost there. */
    public Gate loseReplyAfter(StepKind kind) {
        Gate gate = new Gate();
        add(kind, StepFault.replyLostAfter(gate));
        return gate;
    }

    /** The next step of this kind fails for its sender, but is still on its way to the store. */
    public LateStep sendLate(StepKind kind) {
        LateStep late = new LateStep();
        add(kind, StepFault.sentLate(late));
        return late;
    }

    /** All steps fail at once, and no signals come, until {@link #up()}. */
    public void down() {
        hang(Duration.ZERO);
    }

    /**
     * No step is answered, and no signals come, until {@link #up()}. As with a client library whose server has stopped, a step
     * blocks its thread for this long, even if it is interrupted, and then fails. A step that hangs when the store comes up
     * again fails at that moment.
     */
    public void hang(Duration each) {
        outage.begin(each);
    }

    /** The store answers again, and says that signals may have been lost. */
    public void up() {
        outage.end();
        signals.missed();
    }

    /** Whether all signals are lost from now on. */
    public void loseSignals(boolean lose) {
        signals.lose(lose);
    }

    /** Keeps signals back until {@link #deliverSignals()}. */
    public void holdSignals() {
        signals.hold();
    }

    /** Delivers what {@link #holdSignals()} has kept back, and lets signals pass again. */
    public void deliverSignals() {
        signals.deliver();
    }

    /** How many signals are kept back. */
    public int heldSignals() {
        return signals.held();
    }

    /**
     * Delivers what was kept back in a random order, as two connections of one client may; lets signals pass again.
     */
    public void deliverSignals(Random order) {
        signals.deliver(order);
    }

    /**
     * Decides from now on, by its kind and its argument, what becomes of each step for which no other fault was requested.
     * It is called on the thread that makes the step, by any number of threads at a time.
     */
    public void disturb(BiFunction<StepKind, Object, Fate> fates) {
        disturbance = Objects.requireNonNull(fates, "fates");
    }

    /** Decides from now on what becomes of each signal that is not lost or kept back in any case. */
    public void disturbSignals(Supplier<SignalFate> fates) {
        signals.disturb(Objects.requireNonNull(fates, "fates"));
    }

    /** Nothing goes wrong from now on: removes all faults, and delivers the signals that were kept back. */
    public void calm() {
        disturbance = (kind, argument) -> Fate.answered();
        signals.disturb(() -> SignalFate.DELIVERED);
        signals.lose(false);
        faults.values().forEach(Queue::clear);
        up();
        deliverSignals();
    }

    private void add(StepKind kind, StepFault fault) {
        faultsOf(kind).add(fault);
    }

    // ---- Counting and observing ----

    /** How many steps of this kind were made, including those that failed. */
    public int count(StepKind kind) {
        return countOf(kind).get();
    }

    /** How many steps were made, including those that failed. */
    public int count() {
        return counts.values().stream().mapToInt(AtomicInteger::get).sum();
    }

    /** Counts from zero again. */
    public void resetCounts() {
        counts.values().forEach(c -> c.set(0));
    }

    /** Passes each step and its argument to this observer from now on, on the thread that makes the step. */
    public void observe(BiConsumer<StepKind, Object> observer) {
        this.observer = observer;
    }

    // ---- The store ----

    private <T> T step(StepKind kind, Object argument, Supplier<T> step) {
        countOf(kind).incrementAndGet();
        observer.accept(kind, argument);
        if (outage.isOn()) {
            outage.awaitFailure();
            throw StepFault.unavailable("the store is down");
        }
        StepFault fault = faultsOf(kind).poll();
        return fault == null ? disturbance.apply(kind, argument).apply(step) : fault.apply(step);
    }

    private Queue<StepFault> faultsOf(StepKind kind) {
        return Objects.requireNonNull(faults.get(kind));
    }

    private AtomicInteger countOf(StepKind kind) {
        return Objects.requireNonNull(counts.get(kind));
    }

    @Override
    public String id() {
        return step(StepKind.ID, "", super::id);
    }

    @Override
    public StoreTime time(Object lane) {
        return step(StepKind.TIME, lane, () -> super.time(lane));
    }

    @Override
    public Answer claim(Claim claim) {
        return step(StepKind.CLAIM, claim, () -> super.claim(claim));
    }

    @Override
    public Renewal renew(Renewals batch) {
        return step(StepKind.RENEW, batch, () -> super.renew(batch));
    }

    @Override
    public boolean release(Grant grant) {
        return step(StepKind.RELEASE, grant, () -> super.release(grant));
    }

    @Override
    public Optional<Grant> downgrade(Grant grant) {
        return step(StepKind.DOWNGRADE, grant, () -> super.downgrade(grant));
    }

    @Override
    public void withdraw(Claim claim) {
        step(StepKind.WITHDRAW, claim, () -> {
            super.withdraw(claim);
            return true;
        });
    }

    @Override
    public LatchState latch(LatchStep latchStep) {
        return step(StepKind.LATCH, latchStep, () -> super.latch(latchStep));
    }

    @Override
    public Optional<LockInfo> inspect(String name) {
        return step(StepKind.INSPECT, name, () -> super.inspect(name));
    }

    @Override
    public List<LockInfo> list(String prefix, int limit) {
        return step(StepKind.LIST, prefix, () -> super.list(prefix, limit));
    }

    @Override
    public boolean check(Sequencer sequencer) {
        return step(StepKind.CHECK, sequencer, () -> super.check(sequencer));
    }

    @Override
    public boolean breakHold(String name, long token, Duration lockDelay, boolean now) {
        return step(StepKind.BREAK, name, () -> super.breakHold(name, token, lockDelay, now));
    }

    @Override
    public Subscription listen(String client, Signals listener) {
        return signals.listen(target(), client, listener);
    }
}
