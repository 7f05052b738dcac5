// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import io.lockkeeper.LockInfo;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.Grant;
import io.lockkeeper.spi.LatchState;
import io.lockkeeper.spi.LatchStep;
import io.lockkeeper.spi.LockStore;
import io.lockkeeper.spi.Renewal;
import io.lockkeeper.spi.Renewals;
import io.lockkeeper.spi.StoreTime;
import io.lockkeeper.spi.Ticker;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.function.Supplier;

/**
 * Makes steps in the store, on the right thread. A step whose outcome is not known is repeated, with the same id, as long as
 * the operation timeout lasts; what is still unknown then is the caller's to resolve, never to guess.
 *
 * <p>A step is made on the caller's own thread, because handing it to another one costs more than the trip. Virtual
 * threads are the exception: an interrupt would close the socket under them. All that is timed (the operation timeout, a
 * claim's deadline) begins with the step, not while it waits for a thread.
 */
final class StoreCalls {
    private static final long FIRST_PAUSE = 5_000_000;
    private static final long LONGEST_PAUSE = 100_000_000;

    /** How long a reading of the store's clock is good for. */
    private static final long READING_LASTS = 1_000_000_000;

    private final LockStore store;
    private final Ticker ticker;
    private final long timeout;
    private final Events events;
    private final BooleanSupplier isClosed;
    private final Function<Object, Lane> newLane;
    private final Map<Object, Lane> lanes = new ConcurrentHashMap<>();

    /**
     * What a renewal said.
     *
     * @param outcome of the hold
     * @param sent our time before the request was sent
     */
    record Renewed(Renewal.Outcome outcome, long sent) {}

    StoreCalls(
            LockStore store,
            Duration operationTimeout,
            Events events,
            BooleanSupplier isClosed,
            Function<Object, Lane> newLane) {
        this.store = store;
        this.ticker = store.ticker();
        this.timeout = operationTimeout.toNanos();
        this.events = events;
        this.isClosed = isClosed;
        this.newLane = newLane;
    }

    Lane lane(String name) {
        return laneOf(store.lane(name));
    }

    /** The lane of what is asked of the whole store. */
    Lane wholeStore() {
        return laneOf(store);
    }

    private Lane laneOf(Object key) {
        Lane known = lanes.get(key);
        return known != null ? known : lanes.computeIfAbsent(key, newLane);
    }

    Iterable<Lane> lanes() {
        return lanes.values();
    }

    // ---- The steps ----

    /** Sends a claim until it is answered; {@link OpenClaim#sent} is when the request that was answered was sent. */
    Answer claim(OpenClaim c) {
        Answer answer = persist(c.lane, attempt -> {
            c.claim = attempt == 0 ? within(c.claim, deadline(c.lane)) : c.claim.asStray();
            c.sent = ticker.nanos();
            try {
                return store.claim(c.claim);
            } catch (StoreUnavailableException e) {
                c.failure = e;
                throw e;
            }
        });
        read(c.lane, answer.at(), c.sent);
        events.claimAnswered(c.lane, answer);
        return answer;
    }

    private static Claim within(Claim claim, StoreTime deadline) {
        return new Claim(claim.name(), claim.id(), claim.terms(), deadline, claim.stray());
    }

    /** Renews one hold. */
    Renewed renew(Hold hold, Duration lease) {
        long[] sent = new long[1];
        Renewal renewal = persist(hold.lane, attempt -> {
            sent[0] = ticker.nanos();
            return store.renew(new Renewals(List.of(new Renewals.Hold(hold.grant, lease, 0)), List.of()));
        });
        read(hold.lane, renewal.at(), sent[0]);
        return new Renewed(renewal.holds().get(0), sent[0]);
    }

    /**
     * Where a queued claim stands.
     *
     * @param answer of the store
     * @param sent our time before the request was sent
     */
    record Refreshed(Answer answer, long sent) {}

    /** One attempt to refresh a queued claim. */
    Refreshed refresh(OpenClaim c) {
        return make(c.lane, () -> {
            long sent = ticker.nanos();
            Renewal renewal = renew(c.lane, new Renewals(List.of(), List.of(c.claim)), sent);
            return new Refreshed(renewal.queued().get(0), sent);
        });
    }

    /** One attempt to renew a batch, on this thread; its failure is the renewer's to deal with. */
    Renewal renew(Lane lane, Renewals batch, long sent) {
        Renewal renewal = once(lane, () -> store.renew(batch));
        read(lane, renewal.at(), sent);
        return renewal;
    }

    /**
     * Releases a hold that was valid when this was called. What the store does not find when it is asked again was released by
     * an earlier copy of this step whose answer was lost, or ended while we asked: in either case not before.
     */
    boolean release(Hold hold) {
        boolean[] repeated = new boolean[1];
        boolean found = persist(hold.lane, attempt -> {
            repeated[0] = attempt > 0;
            return store.release(hold.grant);
        });
        return found || repeated[0];
    }

    /** One attempt to end a claim in the store, whatever became of it. */
    void end(OpenClaim c) {
        Hold hold = c.hold;
        make(
                c.lane,
                () -> once(c.lane, () -> {
                    if (hold != null) {
                        return store.release(hold.grant);
                    }
                    store.withdraw(c.claim);
                    return true;
                }));
    }

    /**
     * Breaks a hold. Where an answer was lost, the next one may be that there is no such hold, because it has been broken: that is
     * not guessed.
     */
    boolean breakHold(String name, long token, Duration lockDelay, boolean now) {
        boolean[] repeated = new boolean[1];
        boolean found = persist(lane(name), attempt -> {
            repeated[0] = attempt > 0;
            return store.breakHold(name, token, lockDelay, now);
        });
        if (!found && repeated[0]) {
            throw new StoreUnavailableException(
                    "it is not known whether the hold of " + Printable.quoted(name)
                            + " was broken, because the answer was lost; it is gone now",
                    null);
        }
        return found;
    }

    Optional<Grant> downgrade(Grant grant, Lane lane) {
        return persist(lane, attempt -> store.downgrade(grant));
    }

    LatchState latch(Lane lane, Function<StoreTime, LatchStep> step) {
        long[] begun = {Long.MIN_VALUE};
        for (; ; ) {
            LatchStep[] made = new LatchStep[1];
            LatchState state = persist(lane, attempt -> {
                if (attempt == 0) {
                    made[0] = step.apply(deadline(lane));
                    begun[0] = begun[0] == Long.MIN_VALUE ? ticker.nanos() : begun[0];
                }
                long sent = ticker.nanos();
                LatchState answer = store.latch(made[0]);
                read(lane, answer.at(), sent);
                return answer;
            });
            if (state.outcome() != LatchState.Outcome.LATE || ticker.nanos() - begun[0] >= timeout) {
                return state;
            }
        }
    }

    /** One look at a latch, on this thread. */
    LatchState look(Lane lane, LatchStep step) {
        return askOnce(lane, () -> store.latch(step));
    }

    /** One attempt to ask, on this thread. */
    <T> T askOnce(Lane lane, Supplier<T> step) {
        return once(lane, step);
    }

    Optional<LockInfo> inspect(String name) {
        return ask(lane(name), () -> store.inspect(name));
    }

    /** A step that changes nothing, or is harmless to repeat and whose outcome may be left open. */
    <T> T ask(Lane lane, Supplier<T> step) {
        return persist(lane, attempt -> step.get());
    }

    // ---- Time ----

    long timeout() {
        return timeout;
    }

    /** The store's time from which on a claim sent now must no longer be carried out. */
    private StoreTime deadline(Lane lane) {
        Lane.Reading reading = lane.clock;
        if (reading == null) {
            long sent = ticker.nanos();
            reading = new Lane.Reading(store.time(lane.key), sent);
            lane.clock = reading;
        }
        long elapsed = Math.max(0, ticker.nanos() - reading.sent());
        // Repeats begin within one timeout, and the last of them takes no longer than another.
        return reading.at().plusMicros((elapsed + 2 * timeout) / 1_000);
    }

    private void read(Lane lane, StoreTime at, long sent) {
        Lane.Reading reading = lane.clock;
        if (reading == null
                || sent - reading.sent() > READING_LASTS
                || reading.at().incarnation() != at.incarnation()) {
            lane.clock = new Lane.Reading(at, sent);
        }
    }

    // ---- Making a step ----

    /** Repeats a step until it succeeds, cannot succeed, or the operation timeout is over. */
    private <T> T persist(Lane lane, IntFunction<T> step) {
        return make(lane, () -> {
            long until = ticker.nanos() + timeout;
            long pause = FIRST_PAUSE;
            for (int attempt = 0; ; attempt++) {
                try {
                    int nth = attempt;
                    return once(lane, () -> step.apply(nth));
                } catch (StoreUnavailableException e) {
                    if (!e.worthRepeating() || ticker.nanos() >= until || isClosed.getAsBoolean()) {
                        throw e;
                    }
                }
                rest(Math.min(
                        until, ticker.nanos() + ThreadLocalRandom.current().nextLong(pause / 2, pause)));
                pause = Math.min(2 * pause, LONGEST_PAUSE);
            }
        });
    }

    /** On this thread, or on one of the lane for a virtual one. */
    private <T> T make(Lane lane, Supplier<T> step) {
        if (!VirtualThreads.isCurrent()) {
            return step.get();
        }
        long asked = ticker.nanos();
        return lane.call(() -> {
            refuseIfDown(lane, asked);
            return step.get();
        });
    }

    /**
     * Ends a step that has waited for a thread for longer than a step may take while those before it failed: the store was
     * asked often enough in that time.
     */
    void refuseIfDown(Lane lane, long asked) {
        if (isDown(lane, asked)) {
            StoreUnavailableException failure = lane.failureSince(asked);
            if (failure != null) {
                throw failure.because("not tried, because the store has not answered any step for "
                        + Duration.ofNanos(ticker.nanos() - asked).toMillis() + " ms");
            }
        }
    }

    /** Whether the lane has failed, and not answered since, for longer than a step may take after that time. */
    boolean isDown(Lane lane, long asked) {
        return ticker.nanos() - asked > timeout && lane.failureSince(asked) != null;
    }

    /** Rests until then, whatever interrupts come; keeps the flag. */
    void rest(long until) {
        boolean interrupted = false;
        while (ticker.nanos() < until) {
            ticker.parkUntil(until);
            interrupted |= Thread.interrupted();
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private <T> T once(Lane lane, Supplier<T> step) {
        long begun = ticker.nanos();
        try {
            T answer = step.get();
            events.storeAnswered(lane, begun, () -> showsStoreIsUp(answer));
            return answer;
        } catch (StoreUnavailableException e) {
            events.storeFailed(lane, e, begun);
            throw e;
        }
    }

    /**
     * Whether a store that has been down is up, now that it has given this answer. A grant and a kept hold show it. Any other
     * answer, such as that to a withdrawal, may come from a store that cannot decide claims, so the store is asked.
     */
    private boolean showsStoreIsUp(Object answer) {
        if (answer instanceof Answer.Granted
                || (answer instanceof Renewal renewal
                        && renewal.holds().stream().anyMatch(outcome -> outcome instanceof Renewal.Kept))) {
            return true;
        }
        if (answer instanceof Answer claimed && Claims.isUndecided(claimed)) {
            return false;
        }
        try {
            return store.canDecideClaims();
        } catch (StoreUnavailableException e) {
            return false;
        }
    }
}
