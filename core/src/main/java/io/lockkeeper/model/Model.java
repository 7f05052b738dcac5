// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.model;

import io.lockkeeper.LeaseLost.Reason;
import io.lockkeeper.LockInfo;
import io.lockkeeper.Sequencer;
import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.ClaimId;
import io.lockkeeper.spi.Grant;
import io.lockkeeper.spi.LatchState;
import io.lockkeeper.spi.LatchStep;
import io.lockkeeper.spi.Renewal;
import io.lockkeeper.spi.Renewals;
import io.lockkeeper.spi.StoreTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/**
 * The reference model: a deterministic state machine {@code (state, command, time) → (state, answer, signals)}. No clock,
 * no thread, no I/O inside; not safe for use by several threads. {@link #apply} changes this state; {@link #copy} first
 * for a pure step.
 *
 * <p>Time comes with each command and never runs backwards in here. Nothing happens between commands: what is overdue
 * (expired holds, grants that became possible) is caught up with when the name is next touched, before the command itself
 * is carried out. That is how a store without a process of its own behaves, and nobody can tell the difference, because
 * each waiter looks again when the lease before it ends.
 *
 * <p>Where each rule of the law lives: exclusion, order and hand-over in {@link NameState}; tokens here; idempotence and
 * "no ghosts" in {@link #claim} (a known id is answered, a remembered or late one refused); "no orphans" in
 * {@link NameState#catchUp} and the sweep.
 */
public final class Model {
    /** A sweep goes through all names; it is due after so many commands, or as many as there are names. */
    private static final int SWEEP_AFTER = 1024;

    private final long incarnation;
    private final Map<String, NameState> names = new HashMap<>();
    private final Map<String, LatchRecord> latches = new HashMap<>();
    private final Map<ClaimId, Long> remembered = new HashMap<>();
    private final PriorityQueue<Remembered> forgetting = new PriorityQueue<>();
    private List<Signal> signals = new ArrayList<>(0);
    private long now;
    private long lastToken;
    private int untilSweep = SWEEP_AFTER;

    private record Remembered(long until, ClaimId id) implements Comparable<Remembered> {
        @Override
        public int compareTo(Remembered other) {
            return Long.compare(until, other.until);
        }
    }

    /**
     * What a command led to.
     *
     * @param answer the answer
     * @param signals who is to be told what
     */
    public record Step<R>(R answer, List<Signal> signals) {}

    /** An empty store. */
    public Model(long incarnation) {
        this.incarnation = incarnation;
    }

    /** Carries out a command at a time in microseconds. */
    public <R> Step<R> apply(Command<R> command, long micros) {
        now = Math.max(now, micros);
        forget();
        R answer = command.on(this);
        if (--untilSweep <= 0) {
            sweep();
        }
        List<Signal> told = signals;
        if (!told.isEmpty()) {
            signals = new ArrayList<>(2);
        }
        return new Step<>(answer, told);
    }

    /** A model in the same state that shares nothing with this one. */
    public Model copy() {
        Model copy = new Model(incarnation);
        names.forEach((name, state) -> copy.names.put(name, state.copy()));
        latches.forEach((name, latch) -> copy.latches.put(name, latch.copy()));
        copy.remembered.putAll(remembered);
        copy.forgetting.addAll(forgetting);
        copy.now = now;
        copy.lastToken = lastToken;
        copy.untilSweep = untilSweep;
        return copy;
    }

    /** The time of the last command. */
    public StoreTime time() {
        return new StoreTime(incarnation, now);
    }

    /** How many records there are: names and latches in use, ids remembered. An idle store has none. */
    public int size() {
        return names.size() + latches.size() + remembered.size();
    }

    Answer claim(Claim claim) {
        NameState state = names.get(claim.name());
        if (state != null) {
            state.catchUp(this, now);
            Answer known = state.standing(claim, this, now);
            if (known != null) {
                return known;
            }
        }
        if (remembered.containsKey(claim.id())) {
            return refused(Answer.Why.GONE, "");
        }
        if (claim.deadline().isPast(time())) {
            return refused(Answer.Why.LATE, "");
        }
        if (state == null) {
            state = new NameState(claim.name());
            names.put(claim.name(), state);
        }
        Answer answer = state.enter(claim, this, now);
        tidy(state);
        return answer;
    }

    Renewal renew(Renewals batch) {
        List<Renewal.Outcome> holds = new ArrayList<>(batch.holds().size());
        for (Renewals.Hold hold : batch.holds()) {
            NameState state = touch(hold.grant().claim().name());
            Renewal.Outcome outcome = state == null ? new Renewal.Lost(Reason.EXPIRED) : state.renew(hold, now);
            if (outcome instanceof Renewal.Kept) {
                lastToken = Math.max(lastToken, hold.raiseTo());
            }
            holds.add(outcome);
            tidy(state);
        }
        List<Answer> queued = new ArrayList<>(batch.queued().size());
        for (Claim claim : batch.queued()) {
            NameState state = touch(claim.name());
            Answer standing = state == null ? null : state.refresh(claim, this, now);
            queued.add(standing == null ? refused(Answer.Why.GONE, "") : standing);
            tidy(state);
        }
        return new Renewal(holds, queued, time());
    }

    boolean release(Claim claim) {
        NameState state = touch(claim.name());
        boolean released = state != null && state.release(claim, this, now);
        if (claim.stray()) {
            remember(claim);
        }
        tidy(state);
        return released;
    }

    Optional<Grant> downgrade(Grant grant) {
        NameState state = touch(grant.claim().name());
        return state == null ? Optional.empty() : state.downgrade(grant, this, now);
    }

    boolean withdraw(Claim claim) {
        NameState state = touch(claim.name());
        boolean found = state != null && (state.leave(claim.id(), this, now) || state.release(claim, this, now));
        if (claim.stray()) {
            remember(claim);
        }
        tidy(state);
        return found;
    }

    LatchState latch(LatchStep step) {
        LatchRecord latch = latches.get(step.name());
        LatchState.Outcome outcome = LatchState.Outcome.DONE;
        if (step instanceof LatchStep.Set set) {
            if (!remembered.containsKey(set.id())) {
                if (set.deadline().isPast(time())) {
                    outcome = LatchState.Outcome.LATE;
                } else if (latch != null) {
                    outcome = LatchState.Outcome.UNCHANGED;
                } else {
                    latch = new LatchRecord(set.count(), ++lastToken);
                    latches.put(set.name(), latch);
                    remember(set.id(), set.deadline());
                }
            }
        } else if (step instanceof LatchStep.CountDown down) {
            if (!remembered.containsKey(down.id())) {
                if (down.deadline().isPast(time())) {
                    outcome = LatchState.Outcome.LATE;
                } else {
                    remember(down.id(), down.deadline());
                    if (latch != null
                            && latch.countDown(now, client -> signals.add(new Signal.Opened(client, step.name())))) {
                        latches.remove(step.name());
                        latch = null;
                    }
                }
            }
        } else if (step instanceof LatchStep.Watch watch && latch != null) {
            latch.watch(watch.client(), now + micros(watch.interest()));
        }
        return latch == null
                ? new LatchState(0, 0, outcome, time())
                : new LatchState(latch.count(), latch.generation(), outcome, time());
    }

    Optional<LockInfo> inspect(String name) {
        NameState state = names.get(name);
        return state == null ? Optional.empty() : state.describe(now);
    }

    List<LockInfo> list(String prefix, int limit) {
        List<String> found = new ArrayList<>();
        for (String name : names.keySet()) {
            if (name.startsWith(prefix)) {
                found.add(name);
            }
        }
        return found.stream()
                .sorted()
                .map(this::inspect)
                .flatMap(Optional::stream)
                .limit(limit)
                .toList();
    }

    boolean check(Sequencer sequencer) {
        NameState state = names.get(sequencer.name());
        return state != null && state.has(sequencer, now);
    }

    boolean breakHold(String name, long token, Duration lockDelay, boolean atOnce) {
        NameState state = touch(name);
        boolean found = state != null && state.breakHold(token, micros(lockDelay), atOnce, this, now);
        tidy(state);
        return found;
    }

    /** A block of fresh tokens; gives the first. */
    long draw(int block) {
        long first = lastToken + 1;
        lastToken += block;
        return first;
    }

    void tell(Signal signal) {
        signals.add(signal);
    }

    /** Refuses this id until its deadline has passed, after which it would be refused as late. */
    void remember(Claim claim) {
        remember(claim.id(), claim.deadline());
    }

    private void remember(ClaimId id, StoreTime deadline) {
        if (deadline.incarnation() == incarnation
                && deadline.micros() >= now
                && remembered.put(id, deadline.micros()) == null) {
            forgetting.add(new Remembered(deadline.micros(), id));
        }
    }

    private void forget() {
        for (Remembered r = forgetting.peek(); r != null && r.until() < now; r = forgetting.peek()) {
            remembered.remove(r.id());
            forgetting.remove();
        }
    }

    private @Nullable NameState touch(String name) {
        NameState state = names.get(name);
        if (state != null) {
            state.catchUp(this, now);
        }
        return state;
    }

    private void tidy(@Nullable NameState state) {
        if (state != null && state.isIdle(now)) {
            names.remove(state.name());
        }
    }

    /** Names that nobody touches any more must not stay for ever. */
    private void sweep() {
        for (Iterator<NameState> all = names.values().iterator(); all.hasNext(); ) {
            NameState state = all.next();
            state.catchUp(this, now);
            if (state.isIdle(now)) {
                all.remove();
            }
        }
        untilSweep = Math.max(SWEEP_AFTER, names.size());
    }

    Answer refused(Answer.Why why, String detail) {
        return new Answer.Refused(why, detail, Duration.ZERO, time());
    }

    static long micros(Duration d) {
        return d.toNanos() / 1_000;
    }
}
