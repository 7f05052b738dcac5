// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import io.lockkeeper.LockInfo;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.ClaimId;
import io.lockkeeper.spi.Grant;
import io.lockkeeper.spi.LatchState;
import io.lockkeeper.spi.LatchStep;
import io.lockkeeper.spi.LockStore;
import io.lockkeeper.spi.Renewal;
import io.lockkeeper.spi.Renewals;
import io.lockkeeper.spi.StoreTime;
import io.lockkeeper.spi.Terms;
import io.lockkeeper.spi.Ticker;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.function.Supplier;

/**
 * Makes steps in the store, on the right thread, and deals with those whose outcome is not known: a step is repeated, with
 * the same id, as long as the operation timeout lasts; what is still unknown then is resolved behind, never guessed.
 *
 * <p>A step is made on the caller's own thread, because handing it to another one costs more than the trip. Virtual
 * threads are the exception: an interrupt would close the socket under them.
 */
final class Steps {
    private static final long FIRST_PAUSE = 5_000_000;
    private static final long LONGEST_PAUSE = 100_000_000;

    /** A reading of the store's clock is good for so long. */
    private static final long READING_LASTS = 1_000_000_000;

    private final Keeper keeper;
    private final LockStore store;
    private final Ticker ticker;
    private final long timeout;
    private final String clientId;
    private final AtomicLong claims = new AtomicLong();
    private final Map<Object, Reading> clocks = new ConcurrentHashMap<>();

    private record Reading(StoreTime at, long sent) {}

    /**
     * What a renewal said.
     *
     * @param outcome of the hold
     * @param sent our time before the request was sent
     */
    record Renewed(Renewal.Outcome outcome, long sent) {}

    Steps(Keeper keeper, LockStore store, Duration operationTimeout, String clientId) {
        this.keeper = keeper;
        this.store = store;
        this.ticker = store.ticker();
        this.timeout = operationTimeout.toNanos();
        this.clientId = clientId;
    }

    ClaimId newId() {
        return new ClaimId(clientId, claims.incrementAndGet());
    }

    Pending newPending(LocalQueue queue, Terms terms, Object lane) {
        long now = ticker.nanos();
        Claim claim = new Claim(queue.want().name(), newId(), terms, deadline(lane, now), false);
        return new Pending(queue, lane, claim, now);
    }

    /** Claims, until it is answered; a claim that came late, or with an id used up, is made anew with another. */
    Answer claim(Pending p) {
        long until = p.sent + timeout;
        StoreUnavailableException[] failure = new StoreUnavailableException[1];
        for (; ; ) {
            Answer answer;
            try {
                answer = persist(p.lane, until, attempt -> {
                    if (attempt > 0) {
                        p.claim = p.claim.asStray();
                    }
                    p.sent = ticker.nanos();
                    try {
                        return store.claim(p.claim);
                    } catch (StoreUnavailableException e) {
                        failure[0] = e;
                        throw e;
                    }
                });
            } catch (RuntimeException | Error e) {
                withdrawBehind(p.claim.asStray(), p.lane);
                throw e;
            }
            read(p.lane, answer.at(), p.sent);
            boolean isVoid = answer instanceof Answer.Refused refused
                    && (refused.why() == Answer.Why.LATE || refused.why() == Answer.Why.GONE);
            if (!isVoid) {
                return answer;
            }
            if (ticker.nanos() >= until) {
                if (failure[0] != null) {
                    throw failure[0]; // that the claim's id is used up says nothing; this does
                }
                throw new StoreUnavailableException(
                        "the store refused a claim of '" + p.claim.name() + "' as late for " + Duration.ofNanos(timeout)
                                + ": it is too slow, or its clock runs away",
                        null);
            }
            keeper.untrack(p);
            p.claim = new Claim(p.claim.name(), newId(), p.claim.terms(), deadline(p.lane, ticker.nanos()), false);
            keeper.track(p);
        }
    }

    /** Renews one hold. */
    Renewed renew(Hold hold, Duration lease) {
        long[] sent = new long[1];
        Renewal renewal = persist(hold.lane, ticker.nanos() + timeout, attempt -> {
            sent[0] = ticker.nanos();
            return store.renew(new Renewals(List.of(new Renewals.Hold(hold.grant, lease, 0)), List.of()));
        });
        read(hold.lane, renewal.at(), sent[0]);
        return new Renewed(renewal.holds().get(0), sent[0]);
    }

    /** One attempt to renew a batch; its failure is the renewer's to deal with. */
    Renewal renew(Object lane, Renewals batch, long sent) {
        Renewal renewal = once(lane, () -> store.renew(batch));
        read(lane, renewal.at(), sent);
        return renewal;
    }

    /**
     * Releases a hold that was valid when this was called. What the store does not find when it is asked again was released by
     * an earlier copy of this step whose answer was lost, or ended while we asked: in either case not before.
     *
     * @throws StoreUnavailableException when it could not be told; it is repeated behind until the lease ends
     */
    boolean release(Hold hold) {
        boolean[] repeated = new boolean[1];
        boolean found;
        try {
            found = persist(hold.lane, ticker.nanos() + timeout, attempt -> {
                repeated[0] = attempt > 0;
                return store.release(hold.grant);
            });
        } catch (StoreUnavailableException e) {
            keeper.releaseBehind(hold);
            throw e;
        }
        return found || repeated[0];
    }

    /** Releases a hold that nobody was told of; behind, when the store cannot be told now. */
    void giveBack(Hold hold) {
        try {
            once(hold.lane, () -> store.release(hold.grant));
        } catch (StoreUnavailableException e) {
            keeper.releaseBehind(hold);
        }
    }

    /** Leaves the queue; behind, when the store cannot be told now. */
    void withdraw(Claim claim, Object lane) {
        try {
            once(lane, () -> {
                store.withdraw(claim);
                return true;
            });
        } catch (StoreUnavailableException e) {
            withdrawBehind(claim.asStray(), lane);
        }
    }

    /** Leaves the queue, repeating it until the store has been told or any grant must have run out. */
    void withdrawBehind(Claim claim, Object lane) {
        keeper.behind(
                lane,
                Checks.after(ticker.nanos(), timeout + claim.terms().lease().toNanos()),
                () -> {
                    store.withdraw(claim);
                    return true;
                });
    }

    void release(Grant grant) {
        store.release(grant);
    }

    Optional<Grant> downgrade(Grant grant, Object lane) {
        return persist(lane, ticker.nanos() + timeout, attempt -> store.downgrade(grant));
    }

    LatchState latch(Object lane, Function<StoreTime, LatchStep> step) {
        long until = ticker.nanos() + timeout;
        for (; ; ) {
            LatchStep made = step.apply(deadline(lane, ticker.nanos()));
            long[] sent = new long[1];
            LatchState state = persist(lane, until, attempt -> {
                sent[0] = ticker.nanos();
                return store.latch(made);
            });
            read(lane, state.at(), sent[0]);
            if (state.outcome() != LatchState.Outcome.LATE || ticker.nanos() >= until) {
                return state;
            }
        }
    }

    Optional<LockInfo> inspect(String name) {
        return ask(store.lane(name), () -> store.inspect(name));
    }

    /** A step that changes nothing, or is harmless to repeat and whose outcome may be left open. */
    <T> T ask(Object lane, Supplier<T> step) {
        return persist(lane, ticker.nanos() + timeout, attempt -> step.get());
    }

    /** The store's time from which on a claim sent now must no longer be carried out. */
    private StoreTime deadline(Object lane, long now) {
        Reading reading = clocks.get(lane);
        if (reading == null) {
            long[] sent = new long[1];
            StoreTime at = persist(lane, ticker.nanos() + timeout, attempt -> {
                sent[0] = ticker.nanos();
                return store.time(lane);
            });
            reading = new Reading(at, sent[0]);
            clocks.put(lane, reading);
        }
        // Repeats begin within one timeout, and the last of them takes no longer than another.
        return reading.at().plusMicros((Math.max(now, reading.sent()) - reading.sent() + 2 * timeout) / 1_000);
    }

    private void read(Object lane, StoreTime at, long sent) {
        Reading reading = clocks.get(lane);
        if (reading == null
                || sent - reading.sent() > READING_LASTS
                || reading.at().incarnation() != at.incarnation()) {
            clocks.put(lane, new Reading(at, sent));
        }
    }

    /** Repeats a step until it succeeds, cannot succeed, or time is up. */
    private <T> T persist(Object lane, long until, IntFunction<T> step) {
        long pause = FIRST_PAUSE;
        for (int attempt = 0; ; attempt++) {
            try {
                int nth = attempt;
                return once(lane, () -> step.apply(nth));
            } catch (StoreUnavailableException e) {
                if (!e.worthRepeating() || ticker.nanos() >= until || keeper.isClosed()) {
                    throw e;
                }
            }
            rest(Math.min(until, ticker.nanos() + ThreadLocalRandom.current().nextLong(pause / 2, pause)));
            pause = Math.min(2 * pause, LONGEST_PAUSE);
        }
    }

    private void rest(long until) {
        boolean interrupted = false;
        while (ticker.nanos() < until) {
            ticker.parkUntil(until);
            interrupted |= Thread.interrupted();
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    <T> T once(Object lane, Supplier<T> step) {
        try {
            T answer = Virtual.isCurrentThread() ? keeper.lanes().call(lane, step) : step.get();
            keeper.events().storeAnswered(lane);
            return answer;
        } catch (StoreUnavailableException e) {
            keeper.events().storeFailed(lane, e);
            throw e;
        }
    }
}
