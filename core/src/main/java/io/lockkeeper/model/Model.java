// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.model;

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
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.function.Function;

/**
 * The reference model: a deterministic state machine {@code (state, command, time) → (state, answer, signals)}. No clock,
 * no thread, no I/O inside; not safe for use by several threads. {@link #apply} changes this state; {@link #copy} first
 * for a pure step.
 *
 * <p>Time comes with each command and never runs backwards in here. Nothing happens between commands: what is overdue
 * (expired holds, grants that became possible) is caught up with when the name is next touched, before the command itself
 * is carried out. That is how a store without its own process behaves, and nobody can tell the difference, because
 * each waiter looks again when the lease before it ends.
 *
 * <p>The rules of a single name are in {@link NameState}; here are the names, the tokens, the ids to be refused, the
 * latches, and the sweep that leaves nothing of names that nobody touches any more.
 */
public final class Model implements Ledger {
    /** A sweep goes through all names; it is due after this many commands, or as many as there are names. */
    private static final int SWEEP_AFTER = 1024;

    private final Map<String, NameState> names = new HashMap<>();
    private final Map<String, LatchRecord> latches = new HashMap<>();
    private final Map<ClaimId, Long> remembered = new HashMap<>();

    /** Those of the remembered that were to set a latch and did not. */
    private final Set<ClaimId> unchanged = new HashSet<>();

    private final PriorityQueue<Remembered> forgetting = new PriorityQueue<>();

    /** Holds that were broken at once, with the time at which their leases would have ended. */
    private final Map<ClaimId, Long> broken = new HashMap<>(0);

    private List<Signal> signals = new ArrayList<>(0);
    private StoreTime time;
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
        this.time = new StoreTime(incarnation, 0);
    }

    /** Carries out a command at a time in microseconds. */
    public <R> Step<R> apply(Command<R> command, long micros) {
        if (micros > time.micros()) {
            time = new StoreTime(time.incarnation(), micros);
        }
        forget();
        R answer = command.on(this);
        if (--untilSweep <= 0) {
            sweep();
        }
        if (signals.isEmpty()) {
            return new Step<>(answer, List.of()); // not the list itself: later commands add to it
        }
        List<Signal> told = signals;
        signals = new ArrayList<>(2);
        return new Step<>(answer, told);
    }

    /** A model in the same state that shares nothing with this one. */
    public Model copy() {
        Model copy = new Model(time.incarnation());
        names.forEach((name, state) -> copy.names.put(name, state.copy()));
        latches.forEach((name, latch) -> copy.latches.put(name, latch.copy()));
        copy.remembered.putAll(remembered);
        copy.unchanged.addAll(unchanged);
        copy.forgetting.addAll(forgetting);
        copy.broken.putAll(broken);
        copy.time = time;
        copy.lastToken = lastToken;
        copy.untilSweep = untilSweep;
        return copy;
    }

    /**
     * How many records there are: names and latches in use, ids remembered. An idle store has none, but for holds that were broken at
     * once, which it knows until their leases would have ended.
     */
    public int size() {
        return names.size() + latches.size() + remembered.size();
    }

    Answer claim(Claim claim) {
        return on(claim.name(), state -> state.claim(claim, this));
    }

    Renewal renew(Renewals batch) {
        List<Renewal.Outcome> holds = new ArrayList<>(batch.holds().size());
        for (Renewals.Hold hold : batch.holds()) {
            Renewal.Outcome outcome = on(hold.grant().claim().name(), state -> state.renew(hold, this));
            if (outcome instanceof Renewal.Kept) {
                lastToken = Math.max(lastToken, hold.raiseTo());
            }
            holds.add(outcome);
        }
        List<Answer> queued = new ArrayList<>(batch.queued().size());
        for (Claim claim : batch.queued()) {
            queued.add(on(claim.name(), state -> state.refresh(claim, this)));
        }
        return new Renewal(holds, queued, time);
    }

    boolean release(Claim claim) {
        return on(claim.name(), state -> state.release(claim, this));
    }

    Optional<Grant> downgrade(Grant grant) {
        return on(grant.claim().name(), state -> state.downgrade(grant, this));
    }

    boolean withdraw(Claim claim) {
        return on(claim.name(), state -> state.withdraw(claim, this));
    }

    LatchState latch(LatchStep step) {
        LatchState.Outcome outcome = LatchRules.apply(step, new LatchOfModel(step.name()));
        LatchRecord latch = latches.get(step.name());
        return latch == null
                ? new LatchState(0, 0, outcome, time)
                : new LatchState(latch.count(), latch.generation(), outcome, time);
    }

    /** A latch of this model, for its rules. An open one has no record. */
    private final class LatchOfModel implements LatchRules.Latch {
        private final String name;

        LatchOfModel(String name) {
            this.name = name;
        }

        @Override
        public StoreTime time() {
            return time;
        }

        @Override
        public long count() {
            LatchRecord latch = latches.get(name);
            return latch == null ? 0 : latch.count();
        }

        @Override
        public void set(long count) {
            latches.put(name, new LatchRecord(count, ++lastToken));
        }

        @Override
        public void countDown() {
            LatchRecord latch = latches.get(name);
            if (latch != null
                    && latch.countDown(time.micros(), client -> signals.add(new Signal.Opened(client, name)))) {
                latches.remove(name);
            }
        }

        @Override
        public void watch(String client, long until) {
            LatchRecord latch = latches.get(name);
            if (latch != null) {
                latch.watch(client, until);
            }
        }

        @Override
        public Optional<LatchState.Outcome> outcomeOf(ClaimId id) {
            if (!remembered.containsKey(id)) {
                return Optional.empty();
            }
            return Optional.of(unchanged.contains(id) ? LatchState.Outcome.UNCHANGED : LatchState.Outcome.DONE);
        }

        @Override
        public void remember(ClaimId id, StoreTime deadline, LatchState.Outcome outcome) {
            Model.this.remember(id, deadline);
            if (outcome == LatchState.Outcome.UNCHANGED) {
                unchanged.add(id);
            }
        }
    }

    Optional<LockInfo> inspect(String name) {
        NameState state = names.get(name);
        return state == null ? Optional.empty() : state.describe(time.micros());
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
        return state != null && state.has(sequencer, time.micros());
    }

    boolean breakHold(String name, long token, Duration lockDelay, boolean atOnce) {
        return on(name, state -> state.breakHold(token, lockDelay, atOnce, this));
    }

    /** Applies a rule to a name, and keeps of it what needs to be kept. */
    private <R> R on(String name, Function<NameState, R> rule) {
        NameState known = names.get(name);
        NameState state = known == null ? new NameState(name) : known;
        R answer = rule.apply(state);
        boolean isIdle = state.isIdle(time.micros());
        if (isIdle && known != null) {
            names.remove(name);
        } else if (!isIdle && known == null) {
            names.put(name, state);
        }
        return answer;
    }

    // ---- Ledger ----

    @Override
    public StoreTime time() {
        return time;
    }

    @Override
    public Tokens draw(int atMost) {
        Tokens drawn = new Tokens(lastToken + 1, atMost);
        lastToken += atMost;
        return drawn;
    }

    @Override
    public void tell(Signal signal) {
        signals.add(signal);
    }

    @Override
    public boolean remembers(ClaimId id) {
        return remembered.containsKey(id);
    }

    @Override
    public void remember(ClaimId id, StoreTime deadline) {
        if (!deadline.isPast(time) && remembered.put(id, deadline.micros()) == null) {
            forgetting.add(new Remembered(deadline.micros(), id));
        }
    }

    @Override
    public void rememberBroken(ClaimId id, long until) {
        broken.put(id, until);
    }

    @Override
    public boolean remembersBroken(ClaimId id) {
        return broken.containsKey(id);
    }

    private void forget() {
        if (!broken.isEmpty()) {
            broken.values().removeIf(until -> until <= time.micros());
        }
        for (Remembered r = forgetting.peek(); r != null && r.until() < time.micros(); r = forgetting.peek()) {
            remembered.remove(r.id());
            unchanged.remove(r.id());
            forgetting.remove();
        }
    }

    /** Names that nobody touches any more must not stay forever. */
    private void sweep() {
        for (Iterator<NameState> all = names.values().iterator(); all.hasNext(); ) {
            NameState state = all.next();
            state.catchUp(this);
            if (state.isIdle(time.micros())) {
                all.remove();
            }
        }
        untilSweep = Math.max(SWEEP_AFTER, names.size());
    }
}
