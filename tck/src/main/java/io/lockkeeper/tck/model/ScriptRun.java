// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.model;

import io.lockkeeper.Guarantee;
import io.lockkeeper.LockInfo;
import io.lockkeeper.Mode;
import io.lockkeeper.Sequencer;
import io.lockkeeper.model.Command;
import io.lockkeeper.model.Model;
import io.lockkeeper.model.Signal;
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
import io.lockkeeper.tck.model.ScriptStep.Ask;
import io.lockkeeper.tck.model.ScriptStep.Due;
import io.lockkeeper.tck.model.ScriptStep.Lasts;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Plays a script to a store and to the model, and has a {@link ScriptJudge} compare the answers. Each run has names
 * and ids of its own.
 *
 * <p>What a keeper would never send, because the store need not have an answer to it, is left out: the copy of a claim that
 * has ended and was not said to be stray, and steps on holds that nobody was told of. A grant handed over is asked for
 * when a step needs it.
 */
final class ScriptRun {
    private static final long HOUR_MICROS = 3_600_000_000L;

    private final Clients clients;
    private final List<ScriptStep> script;
    private final Pace pace;
    private final String prefix;
    private final Duration signalWait;
    private final Model model = new Model(1);
    private final ScriptJudge judge;
    private final ScriptSignals signals;
    private final Map<Integer, ScriptAttempt> attempts = new LinkedHashMap<>();
    private final Map<Integer, SentLatch> latchSteps = new LinkedHashMap<>();
    private final Map<Object, StoreTime> times = new HashMap<>();
    private final long began;
    private long segmentBegan;
    private long now = 1_000_000_000_000L;
    private int position;
    private boolean isTidying;
    private boolean isOver;
    private long playedUntil;
    private int raises;
    private @Nullable String handedOver;

    private record SentLatch(LatchStep ours, LatchStep theirs, int latch, boolean done) {}

    /** Where the two sides part. */
    static final class Mismatch extends RuntimeException {
        private static final long serialVersionUID = 1L;

        Mismatch(String what) {
            super(what, null, false, false);
        }
    }

    ScriptRun(Clients clients, List<ScriptStep> script, Pace pace, String prefix, Duration signalWait) {
        this.clients = clients;
        this.script = script;
        this.pace = pace;
        this.prefix = prefix;
        this.signalWait = signalWait;
        this.judge = new ScriptJudge(clients.store(0).guarantees().has(Guarantee.FENCED));
        this.signals = new ScriptSignals(clients);
        for (int name = 0; name < Clients.NAMES; name++) {
            theirTime(0, name(name));
        }
        this.began = System.nanoTime();
        this.segmentBegan = began;
    }

    static String letter(int name) {
        return String.valueOf((char) ('a' + name));
    }

    static void require(boolean so, String otherwise) {
        if (!so) {
            throw new Mismatch(otherwise);
        }
    }

    // ---- The run ----

    /**
     * Plays up to and including the next pause (which the caller lets pass), or to the end.
     *
     * @return what is wrong
     */
    Optional<String> play() {
        segmentBegan = System.nanoTime();
        try {
            if (position > 0) {
                lookAtAll();
            }
            while (position < script.size()) {
                ScriptStep step = script.get(position++);
                step.on(this);
                awaitTick();
                if (step instanceof ScriptStep.Pause) {
                    return Optional.empty();
                }
                if (System.nanoTime() - segmentBegan > pace.segment().toNanos() / 2) {
                    position = script.size(); // the rest would come too late
                }
            }
            tidyUp();
            isOver = true;
        } catch (Mismatch e) {
            return Optional.of(explain(e.getMessage()));
        } catch (RuntimeException e) {
            return Optional.of(explain("the store threw " + e));
        } finally {
            playedUntil = System.nanoTime();
        }
        try {
            signals.compare(firstTokens(), signalWait);
            return Optional.empty();
        } catch (Mismatch e) {
            return Optional.of(explain(e.getMessage()));
        }
    }

    boolean isOver() {
        return isOver;
    }

    /** Whether what was played since the last pause, and all in all, was played in time to mean anything. */
    boolean wasInTime() {
        return playedUntil - segmentBegan < pace.segment().toNanos()
                && playedUntil - began < pace.whole().toNanos();
    }

    /** Plays no more of it. */
    void giveUp() {
        isOver = true;
    }

    private String explain(@Nullable String what) {
        String when = isTidying ? "at the end" : position == 0 ? "at first" : "after " + script.get(position - 1);
        return (when + ": " + what).replace(prefix, "");
    }

    private Map<String, Long> firstTokens() {
        Map<String, Long> known = new LinkedHashMap<>();
        attempts.values().forEach(a -> known.put(a.ours.id().toString(), a.firstToken));
        return known;
    }

    // ---- Both sides ----

    private <R> R ask(Command<R> command, int... ownClaims) {
        Model.Step<R> step = model.apply(command, ++now);
        signals.expect(step.signals(), ownClaims.length > 0);
        for (Signal signal : step.signals()) {
            if (signal instanceof Signal.Granted granted) {
                handedOver = nameOf(granted.claim());
            }
        }
        return step.answer();
    }

    private @Nullable String nameOf(ClaimId claim) {
        for (ScriptAttempt attempt : attempts.values()) {
            if (attempt.ours.id().equals(claim)) {
                return attempt.ours.name();
            }
        }
        return null;
    }

    /**
     * After a hand-over, waits until the store's clock has moved on: whether a claim was refreshed after it may matter later, and
     * some clocks tick in milliseconds, that of the model with each step.
     */
    private void awaitTick() {
        String name = handedOver;
        handedOver = null;
        if (name == null || pace.pauses() == 0) {
            return;
        }
        Object lane = store(0).lane(name);
        long from = store(0).time(lane).micros();
        while (store(0).time(lane).micros() <= from
                && System.nanoTime() - segmentBegan < pace.segment().toNanos()) {
            Thread.onSpinWait();
        }
    }

    private String name(int name) {
        return prefix + letter(name);
    }

    private LockStore store(int client) {
        return clients.store(client);
    }

    private Duration duration(Lasts lasts, Duration ofShort) {
        return lasts == Lasts.NONE ? Duration.ZERO : lasts == Lasts.LONG ? Pace.LONG : ofShort;
    }

    private ScriptAttempt newAttempt(int id, Ask ask, boolean stray) {
        Terms terms = new Terms(
                ask.mode(),
                ask.permits(),
                ask.limit(),
                duration(ask.lease(), pace.lease()),
                duration(ask.lockDelay(), pace.lockDelay()),
                duration(ask.patience(), pace.patience()),
                ask.block(),
                ask.queue(),
                "client " + ask.client(),
                "claim " + id);
        Claim ours =
                new Claim(name(ask.name()), clients.newClaim(ask.client()), terms, due(ask.due(), ourTime()), stray);
        Claim theirs =
                new Claim(ours.name(), ours.id(), terms, due(ask.due(), theirTime(ask.client(), ours.name())), stray);
        ScriptAttempt attempt = new ScriptAttempt(id, ask, ours, theirs);
        attempts.put(id, attempt);
        return attempt;
    }

    private StoreTime ourTime() {
        return new StoreTime(1, now);
    }

    /** Asked once a lane, and before time counts: deadlines are hours away. */
    private StoreTime theirTime(int client, String name) {
        Object lane = store(client).lane(name);
        return times.computeIfAbsent(lane, l -> store(client).time(l));
    }

    private static StoreTime due(Due due, StoreTime time) {
        return switch (due) {
            case FAR -> time.plusMicros(HOUR_MICROS);
            case PAST -> time.plusMicros(-1_000_000);
            case ELSEWHERE -> new StoreTime(time.incarnation() + 1, time.micros() + HOUR_MICROS);
        };
    }

    // ---- Steps ----

    void claim(ScriptStep.Claim step) {
        send(newAttempt(step.id(), step.ask(), step.stray()));
    }

    void repeat(int id) {
        ScriptAttempt attempt = attempts.get(id);
        if (attempt != null) {
            attempt.stray();
            if (!attempt.stood || isAnswered(attempt)) {
                send(attempt);
            }
        }
    }

    /** Whether the model still has an answer to a copy of this claim, other than to take it for a new one. */
    private boolean isAnswered(ScriptAttempt attempt) {
        Model copy = model.copy();
        Renewal standing = copy.apply(new Command.Renew(new Renewals(List.of(), List.of(attempt.ours))), now)
                .answer();
        return !(standing.queued().get(0) instanceof Answer.Refused)
                || isVoid(copy.apply(new Command.Claim(attempt.ours), now).answer());
    }

    static boolean isVoid(Answer answer) {
        return answer instanceof Answer.Refused refused
                && (refused.why() == Answer.Why.LATE || refused.why() == Answer.Why.GONE);
    }

    private void send(ScriptAttempt attempt) {
        Answer ours = ask(new Command.Claim(attempt.ours), attempt.id);
        Answer theirs = store(attempt.ask.client()).claim(attempt.theirs);
        judge.compare(attempt, ours, theirs);
    }

    void renew(ScriptStep.Renew step) {
        Map<Object, Batch> batches = new LinkedHashMap<>();
        for (int id : step.holds()) {
            ScriptAttempt attempt = granted(id);
            if (attempt != null) {
                batch(batches, attempt).holds.add(attempt);
            }
        }
        for (int id : step.queued()) {
            ScriptAttempt attempt = attempts.get(id);
            if (attempt != null) {
                batch(batches, attempt).queued.add(attempt);
            }
        }
        batches.values().forEach(batch -> renew(batch, duration(step.lease(), pace.lease()), step.raise()));
    }

    private static final class Batch {
        final List<ScriptAttempt> holds = new ArrayList<>();
        final List<ScriptAttempt> queued = new ArrayList<>();
    }

    private Batch batch(Map<Object, Batch> batches, ScriptAttempt attempt) {
        int client = attempt.ask.client();
        Object lane = store(client).lane(attempt.ours.name());
        return batches.computeIfAbsent(List.of(client, lane), key -> new Batch());
    }

    private void renew(Batch batch, Duration lease, boolean raise) {
        List<Renewals.Hold> ourHolds = new ArrayList<>();
        List<Renewals.Hold> theirHolds = new ArrayList<>();
        for (ScriptAttempt attempt : batch.holds) {
            Grant ours = some(attempt.ourGrant);
            Grant theirs = some(attempt.theirGrant);
            // Far apart in the model, so that tokens before and after it can be told apart.
            ourHolds.add(new Renewals.Hold(ours, lease, raise ? 1_000L * ++raises : 0));
            theirHolds.add(new Renewals.Hold(theirs, lease, raise ? theirs.token() + theirs.block() + 4 : 0));
        }
        List<Claim> ourQueued = batch.queued.stream().map(a -> a.ours).toList();
        List<Claim> theirQueued = batch.queued.stream().map(a -> a.theirs).toList();
        int client =
                (batch.holds.isEmpty() ? batch.queued : batch.holds).get(0).ask.client();
        int[] own = batch.queued.stream().mapToInt(a -> a.id).toArray();
        Renewal ours = ask(new Command.Renew(new Renewals(ourHolds, ourQueued)), own);
        Renewal theirs = store(client).renew(new Renewals(theirHolds, theirQueued));
        require(
                theirs.holds().size() == ourHolds.size() && theirs.queued().size() == ourQueued.size(),
                "renewed " + ourHolds.size() + " and " + ourQueued.size() + ", the answer is " + theirs);
        for (int i = 0; i < ourHolds.size(); i++) {
            ScriptAttempt attempt = batch.holds.get(i);
            ScriptJudge.compare(attempt, ours.holds().get(i), theirs.holds().get(i));
            if (raise && ours.holds().get(i) instanceof Renewal.Kept) {
                judge.raised(
                        attempt.ask.name(),
                        ourHolds.get(i).raiseTo(),
                        theirHolds.get(i).raiseTo());
            }
        }
        for (int i = 0; i < ourQueued.size(); i++) {
            judge.compare(
                    batch.queued.get(i), ours.queued().get(i), theirs.queued().get(i));
        }
    }

    /** Asks where each claim stands, so that both sides have caught up with time. */
    private void lookAtAll() {
        Map<Object, Batch> batches = new LinkedHashMap<>();
        attempts.values().forEach(attempt -> batch(batches, attempt).queued.add(attempt));
        batches.values().forEach(batch -> renew(batch, Duration.ZERO, false));
    }

    /** The claim of this number with its grant, if it has one; asks both sides if it may have. */
    private @Nullable ScriptAttempt granted(int id) {
        ScriptAttempt attempt = attempts.get(id);
        if (attempt != null && attempt.ourGrant == null && attempt.stood) {
            Batch batch = new Batch();
            batch.queued.add(attempt);
            renew(batch, Duration.ZERO, false);
        }
        return attempt == null || attempt.ourGrant == null ? null : attempt;
    }

    void release(int id) {
        ScriptAttempt attempt = granted(id);
        if (attempt != null) {
            signals.awaitBeforeTheEnd(attempt.ours.id().toString(), signalWait);
            boolean ours = ask(new Command.Release(some(attempt.ourGrant)));
            ScriptJudge.same(ours, store(attempt.ask.client()).release(some(attempt.theirGrant)));
        }
    }

    void releaseForeign(int id) {
        ScriptAttempt attempt = granted(id);
        if (attempt != null) {
            int other = (attempt.ask.client() + 1) % Clients.CLIENTS;
            Grant foreign = some(attempt.theirGrant);
            Claim claim = foreign.claim();
            claim = new Claim(claim.name(), clients.newClaim(other), claim.terms(), claim.deadline(), false);
            foreign = new Grant(claim, foreign.mode(), foreign.token(), foreign.block());
            ScriptJudge.same(ask(new Command.Release(foreign)), store(other).release(foreign));
        }
    }

    void downgrade(ScriptStep.Downgrade step) {
        ScriptAttempt attempt = granted(step.id());
        if (attempt == null || attempt.ask.mode() != Mode.EXCLUSIVE) {
            return;
        }
        Grant ourGrant = some(attempt.ourGrant);
        Grant theirGrant = some(attempt.theirGrant);
        if (step.later() && ourGrant.mode() == Mode.EXCLUSIVE) {
            ourGrant = fromLaterToken(ourGrant);
            theirGrant = fromLaterToken(theirGrant);
        }
        Optional<Grant> ours = ask(new Command.Downgrade(ourGrant));
        Optional<Grant> theirs = store(attempt.ask.client()).downgrade(theirGrant);
        require(ours.isPresent() == theirs.isPresent(), "the model says " + ours + ", the store " + theirs);
        if (ours.isPresent()) {
            Grant shared = theirs.orElseThrow();
            require(shared.mode() == Mode.SHARED && shared.block() > 0, "downgraded to " + shared);
            judge.seen(attempt, Mode.SHARED, ours.get().token(), shared.token(), shared.block());
            attempt.ourGrant = ours.get();
            attempt.theirGrant = shared;
        }
    }

    /** What a keeper sends that has passed the hold on: the block without the tokens used up; at least one is left. */
    private static Grant fromLaterToken(Grant grant) {
        int used = Math.max(0, grant.block() - 2);
        return new Grant(grant.claim(), grant.mode(), grant.token() + used, grant.block() - used);
    }

    void withdraw(ScriptStep.Withdraw step) {
        ScriptAttempt attempt = attempts.get(step.id());
        if (attempt != null) {
            if (step.stray()) {
                attempt.stray();
            }
            signals.awaitBeforeTheEnd(attempt.ours.id().toString(), signalWait);
            ask(new Command.Withdraw(attempt.ours));
            store(attempt.ask.client()).withdraw(attempt.theirs);
        }
    }

    void withdrawUnsent(ScriptStep.WithdrawUnsent step) {
        ScriptAttempt attempt = newAttempt(step.id(), step.ask(), true);
        attempt.stood = true; // to be refused from now on
        withdraw(new ScriptStep.Withdraw(step.id(), true));
    }

    void check(ScriptStep.Check step) {
        ScriptAttempt attempt = granted(step.id());
        if (attempt != null) {
            Grant ours = some(attempt.ourGrant);
            Grant theirs = some(attempt.theirGrant);
            Mode mode = step.otherMode() ? other(ours.mode()) : ours.mode();
            String name = attempt.ours.name();
            boolean expected = ask(new Command.Check(new Sequencer(name, mode, token(ours, step.last()))));
            ScriptJudge.same(expected, store(0).check(new Sequencer(name, mode, token(theirs, step.last()))));
        }
    }

    private static Mode other(Mode mode) {
        return mode == Mode.SHARED ? Mode.EXCLUSIVE : Mode.SHARED;
    }

    private static long token(Grant grant, boolean last) {
        return last ? grant.token() + grant.block() - 1 : grant.token();
    }

    void breakHold(ScriptStep.Break step) {
        ScriptAttempt attempt = granted(step.id());
        if (attempt != null) {
            String name = attempt.ours.name();
            Duration delay = duration(step.lockDelay(), pace.lockDelay());
            long ours = token(some(attempt.ourGrant), step.last());
            long theirs = token(some(attempt.theirGrant), step.last());
            boolean expected = ask(new Command.Break(name, ours, delay, step.now()));
            ScriptJudge.same(expected, store(0).breakHold(name, theirs, delay, step.now()));
        }
    }

    void inspect(int name) {
        Optional<LockInfo> ours = ask(new Command.Inspect(name(name)));
        judge.compare(name, ours, store(1).inspect(name(name)));
    }

    void list(int limit) {
        List<LockInfo> ours = ask(new Command.ListNames(prefix, limit));
        List<LockInfo> theirs = store(1).list(prefix, limit);
        require(
                ours.stream()
                        .map(LockInfo::name)
                        .toList()
                        .equals(theirs.stream().map(LockInfo::name).toList()),
                "the model lists " + ours + ", the store " + theirs);
        for (int i = 0; i < ours.size(); i++) {
            judge.compare(
                    ours.get(i).name().charAt(prefix.length()) - 'a',
                    Optional.of(ours.get(i)),
                    Optional.of(theirs.get(i)));
        }
    }

    void pause() {
        now += pace.pause().toNanos() / 1_000;
    }

    // ---- Latches ----

    void latchSet(ScriptStep.LatchSet step) {
        var id = clients.newClaim(0);
        String name = name(step.latch());
        latch(
                step.id(),
                step.latch(),
                new LatchStep.Set(name, step.count(), id, due(step.due(), ourTime())),
                new LatchStep.Set(name, step.count(), id, due(step.due(), theirTime(0, name))));
    }

    void latchDown(ScriptStep.LatchDown step) {
        var id = clients.newClaim(0);
        String name = name(step.latch());
        latch(
                step.id(),
                step.latch(),
                new LatchStep.CountDown(name, id, due(step.due(), ourTime())),
                new LatchStep.CountDown(name, id, due(step.due(), theirTime(0, name))));
    }

    void latchRepeat(int id) {
        SentLatch sent = latchSteps.get(id);
        if (sent != null && sent.done) {
            latch(id, sent.latch, sent.ours, sent.theirs);
        }
    }

    void latchWatch(ScriptStep.LatchWatch step) {
        LatchStep watch = new LatchStep.Watch(name(step.latch()), clients.id(step.client()), Pace.LONG);
        LatchState ours = ask(new Command.Latch(watch));
        judge.compare(step.latch(), ours, store(step.client()).latch(watch));
    }

    void latchLook(int latch) {
        LatchStep look = new LatchStep.Look(name(latch));
        judge.compare(latch, ask(new Command.Latch(look)), store(1).latch(look));
    }

    private void latch(int id, int latch, LatchStep ourStep, LatchStep theirStep) {
        LatchState ours = ask(new Command.Latch(ourStep));
        judge.compare(latch, ours, store(0).latch(theirStep));
        latchSteps.put(id, new SentLatch(ourStep, theirStep, latch, ours.outcome() == LatchState.Outcome.DONE));
    }

    // ---- The end ----

    /** Gives everything back; then nothing may be left but names that were told to stay closed. */
    private void tidyUp() {
        isTidying = true;
        for (ScriptAttempt attempt : attempts.values()) {
            withdraw(new ScriptStep.Withdraw(attempt.id, false));
        }
        for (int name = 0; name < Clients.NAMES; name++) {
            inspect(name);
        }
        for (int step = -1; step >= -8 && store(0).guarantees().has(Guarantee.LATCH); step--) {
            latchDown(new ScriptStep.LatchDown(step, step & 1, Due.FAR));
        }
    }

    private static <T> T some(@Nullable T value) {
        if (value == null) {
            throw new IllegalStateException("it is not known here");
        }
        return value;
    }
}
