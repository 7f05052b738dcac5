// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.quorum;

import io.lockkeeper.Guarantee;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.LockStore;
import io.lockkeeper.spi.Signals;
import io.lockkeeper.spi.StoreTime;
import io.lockkeeper.spi.Subscription;
import io.lockkeeper.spi.Ticker;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One of the stores that a quorum is made of: opened when it is first needed, asked on its own threads, its clock read
 * off every answer. What could not be sent to it (that a claim is withdrawn) is sent when it next answers.
 */
final class Member {
    /** Renewals wait for no other steps. */
    enum Kind {
        STEP,
        RENEWAL
    }

    private final int number;
    private final Supplier<LockStore> opener;
    private final Ticker ticker;
    private final Executor steps;
    private final Executor renewals;
    private final Map<Object, Reading> clocks = new ConcurrentHashMap<>();
    private final Leftovers leftovers;
    private final AtomicBoolean clearing = new AtomicBoolean();
    private final Map<Listener, Subscription> listeners = new LinkedHashMap<>();
    private final ReentrantLock opening = new ReentrantLock();
    private volatile @Nullable LockStore opened;
    private boolean closed;
    private volatile @Nullable Heard heard;

    private record Reading(StoreTime at, long sent) {}

    /**
     * Its clock as it was last heard, in microseconds, and our own before and after that, in nanoseconds.
     *
     * @param at what it said
     * @param sent before it was asked
     * @param received when it had answered
     */
    record Heard(long at, long sent, long received) {
        /** By how many microseconds it is ahead of ours. */
        long offset() {
            return at - (sent + (received - sent) / 2) / 1_000;
        }

        /** What it shows now at least, unless it was set back since. */
        long atLeast(long now) {
            return at + (now - received) / 1_000;
        }

        /** What it shows now at most, unless it was set ahead since. */
        long atMost(long now) {
            return at + (now - sent) / 1_000;
        }
    }

    private record Listener(String client, Signals signals) {}

    Member(int number, Supplier<LockStore> opener, Ticker ticker, MemberThreads threads) {
        this.number = number;
        this.opener = opener;
        this.ticker = ticker;
        this.leftovers = new Leftovers(ticker);
        this.steps = threads.of(number, Kind.STEP);
        this.renewals = threads.of(number, Kind.RENEWAL);
    }

    /** Counted from 0. */
    int number() {
        return number;
    }

    /** Runs it on a thread of this member's; says so when it has too much to do already, or there is no thread for it. */
    void execute(Kind kind, Runnable task, Consumer<RuntimeException> rejected) {
        try {
            start(kind, task, rejected);
        } catch (OutOfMemoryError e) {
            rejected.accept(new StoreUnavailableException("there is no thread to ask it on", e));
        }
    }

    /**
     * The same for what the caller waits for anyway: when the process gets no more threads, it is run on the caller's. Members
     * are asked one after the other then, but a hold is not lost for want of a thread.
     */
    void ask(Kind kind, Runnable task, Consumer<RuntimeException> rejected) {
        try {
            start(kind, task, rejected);
        } catch (OutOfMemoryError e) {
            task.run();
        }
    }

    /** @throws OutOfMemoryError when no thread can be started */
    private void start(Kind kind, Runnable task, Consumer<RuntimeException> rejected) {
        try {
            (kind == Kind.RENEWAL ? renewals : steps).execute(task);
        } catch (RejectedExecutionException e) {
            rejected.accept(new StoreUnavailableException("too many steps wait for its answer", e));
        }
    }

    /** Makes a step; {@code at} reads the member's time off the answer. */
    <R> R step(String name, Function<LockStore, R> step, Function<R, StoreTime> at) {
        LockStore store = store();
        long sent = ticker.nanos();
        R answer = step.apply(store);
        heard(store.lane(name), at.apply(answer), sent);
        return answer;
    }

    /** Makes a step whose answer has no time in it. */
    <R> R step(Function<LockStore, R> step) {
        R answer = step.apply(store());
        clearUp();
        return answer;
    }

    LockStore store() {
        LockStore store = opened;
        return store != null ? store : open();
    }

    /** Opens it, which may take long; only those who need it opened wait for that. */
    private LockStore open() {
        opening.lock();
        try {
            LockStore store = opened;
            return store != null ? store : begin(opener.get());
        } finally {
            opening.unlock();
        }
    }

    private synchronized LockStore begin(LockStore store) {
        try {
            if (closed) {
                throw new StoreUnavailableException("the quorum has been closed", null);
            }
            requireTokens(number, store);
            listeners.replaceAll((listener, none) -> store.listen(listener.client, listener.signals));
        } catch (RuntimeException e) {
            store.close();
            throw e;
        }
        opened = store;
        return store;
    }

    /** Refuses a store that cannot be a member. */
    static void requireTokens(int number, LockStore store) {
        String who = "member " + (number + 1) + " (" + store.getClass().getSimpleName() + ")";
        if (!store.guarantees().has(Guarantee.RAISES_TOKENS)) {
            throw new UnsupportedOperationException(who + " does not guarantee RAISES_TOKENS: its holders cannot lift"
                    + " the token floor, so that a quorum with it could not give tokens that rise");
        }
        if (!store.guarantees().has(Guarantee.LATCH)) {
            throw new UnsupportedOperationException(
                    who + " does not guarantee LATCH: it has no place for the record that tells whether it has lost its"
                            + " memory");
        }
    }

    // ---- Clocks ----

    private void heard(Object lane, StoreTime at, long sent) {
        long received = ticker.nanos();
        clocks.put(lane, new Reading(at, sent));
        heard = new Heard(at.micros(), sent, received);
        clearUp();
    }

    /** By how many microseconds its clock is ahead of ours, when it was last heard; null when it never was. */
    @Nullable
    Long offset() {
        Heard last = heard;
        return last == null ? null : last.offset();
    }

    /** Its clock as it was last heard; null when it never was. */
    @Nullable
    Heard heard() {
        return heard;
    }

    /** The claim as this member is to see it: with the same deadline, on its own clock. */
    Claim address(Claim claim) {
        return new Claim(claim.name(), claim.id(), claim.terms(), deadline(claim), claim.stray());
    }

    private StoreTime deadline(Claim claim) {
        StoreTime now = time(claim.name());
        return now.plusMicros(claim.deadline().micros() - ticker.nanos() / 1_000);
    }

    /** The time of this member for a name; asked for if it was never heard. */
    StoreTime time(String name) {
        LockStore store = store();
        Object lane = store.lane(name);
        Reading reading = clocks.get(lane);
        if (reading == null) {
            reading = new Reading(step(name, s -> s.time(lane), at -> at), ticker.nanos());
        }
        return reading.at.plusMicros((ticker.nanos() - reading.sent) / 1_000);
    }

    // ---- What is left to clear up ----

    /** Has this claim withdrawn when the member is next heard of, unless its lease has ended by then. */
    void leave(Claim claim) {
        leftovers.add(claim);
    }

    private void clearUp() {
        if (!leftovers.isEmpty() && clearing.compareAndSet(false, true)) {
            execute(Kind.STEP, this::withdrawLeftovers, why -> clearing.set(false));
        }
    }

    private void withdrawLeftovers() {
        try {
            for (Claim claim : leftovers.current()) {
                store().withdraw(claim);
                leftovers.remove(claim.id());
            }
        } catch (StoreUnavailableException e) {
            // It is sent the next time.
        } finally {
            clearing.set(false);
        }
    }

    // ---- Signals, and the end ----

    /** Has {@code signals} told what this member tells; when it is opened, if it is not yet. */
    Subscription listen(String client, Signals signals) {
        Listener listener = new Listener(client, signals);
        synchronized (this) {
            LockStore store = opened;
            listeners.put(listener, store == null ? () -> {} : store.listen(client, signals));
        }
        return () -> forget(listener);
    }

    private synchronized void forget(Listener listener) {
        Subscription subscription = listeners.remove(listener);
        if (subscription != null) {
            subscription.close();
        }
    }

    /** Closes the store, if it has been opened; if it is being opened, that will be in vain. */
    synchronized void close() {
        closed = true;
        LockStore store = opened;
        if (store != null) {
            store.close();
        }
    }
}
