// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.model;

import io.lockkeeper.Mode;
import io.lockkeeper.Sequencer;
import io.lockkeeper.model.Command;
import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.ClaimId;
import io.lockkeeper.spi.Grant;
import io.lockkeeper.spi.Renewal;
import io.lockkeeper.spi.Renewals;
import io.lockkeeper.spi.Terms;
import io.lockkeeper.tck.model.ScriptStep.Ask;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The claims of a script and what becomes of them; see {@link ScriptStep}. */
final class ScriptClaims {
    private final BothSides sides;
    private final Duration signalWait;
    private final Map<Integer, ScriptAttempt> attempts = new LinkedHashMap<>();
    private int raises;

    /** Steps of one client on one lane, which are made at once. */
    private static final class Batch {
        final List<ScriptAttempt> holds = new ArrayList<>();
        final List<ScriptAttempt> queued = new ArrayList<>();
    }

    ScriptClaims(BothSides sides, Duration signalWait) {
        this.sides = sides;
        this.signalWait = signalWait;
    }

    /** The first tokens that claims were granted with, by their ids; 0 for those that were not. */
    Map<String, Long> firstTokens() {
        Map<String, Long> known = new LinkedHashMap<>();
        attempts.values().forEach(a -> known.put(a.ours.id().toString(), a.firstToken));
        return known;
    }

    /** The name that this claim is for; null when it is no claim of this script. */
    @Nullable
    String nameOf(ClaimId claim) {
        for (ScriptAttempt attempt : attempts.values()) {
            if (attempt.ours.id().equals(claim)) {
                return attempt.ours.name();
            }
        }
        return null;
    }

    /** Gives everything back. */
    void withdrawAll() {
        for (ScriptAttempt attempt : attempts.values()) {
            withdraw(new ScriptStep.Withdraw(attempt.id, false));
        }
    }

    private ScriptAttempt newAttempt(int id, Ask ask, boolean stray) {
        Terms terms = new Terms(
                ask.mode(),
                ask.permits(),
                ask.limit(),
                BothSides.duration(ask.lease(), sides.pace.lease()),
                BothSides.duration(ask.lockDelay(), sides.pace.lockDelay()),
                BothSides.duration(ask.patience(), sides.pace.patience()),
                ask.block(),
                ask.queue(),
                "client " + ask.client(),
                "claim " + id);
        Claim ours = new Claim(
                sides.name(ask.name()),
                sides.clients.newClaim(ask.client()),
                terms,
                sides.ourDeadline(ask.due()),
                stray);
        Claim theirs = new Claim(
                ours.name(), ours.id(), terms, sides.theirDeadline(ask.due(), ask.client(), ours.name()), stray);
        ScriptAttempt attempt = new ScriptAttempt(id, ask, ours, theirs);
        attempts.put(id, attempt);
        return attempt;
    }

    void claim(ScriptStep.Claim step) {
        send(newAttempt(step.id(), step.ask(), step.stray()));
    }

    void repeat(int id) {
        ScriptAttempt attempt = attempts.get(id);
        if (attempt != null) {
            attempt.stray();
            if (!attempt.stood || sides.isAnswered(attempt)) {
                send(attempt);
            }
        }
    }

    private void send(ScriptAttempt attempt) {
        Answer ours = sides.ask(new Command.Claim(attempt.ours), attempt.id);
        Answer theirs = sides.store(attempt.ask.client()).claim(attempt.theirs);
        sides.judge.compare(attempt, ours, theirs);
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
        batches.values()
                .forEach(batch -> renew(batch, BothSides.duration(step.lease(), sides.pace.lease()), step.raise()));
    }

    private Batch batch(Map<Object, Batch> batches, ScriptAttempt attempt) {
        int client = attempt.ask.client();
        Object lane = sides.store(client).lane(attempt.ours.name());
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
        Renewal ours = sides.ask(new Command.Renew(new Renewals(ourHolds, ourQueued)), own);
        Renewal theirs = sides.store(client).renew(new Renewals(theirHolds, theirQueued));
        ScriptMismatch.unless(
                theirs.holds().size() == ourHolds.size() && theirs.queued().size() == ourQueued.size(),
                "renewed " + ourHolds.size() + " and " + ourQueued.size() + ", the answer is " + theirs);
        for (int i = 0; i < ourHolds.size(); i++) {
            ScriptAttempt attempt = batch.holds.get(i);
            ScriptJudge.compare(attempt, ours.holds().get(i), theirs.holds().get(i));
            if (raise && ours.holds().get(i) instanceof Renewal.Kept) {
                sides.judge.raised(
                        attempt.ask.name(),
                        ourHolds.get(i).raiseTo(),
                        theirHolds.get(i).raiseTo());
            }
        }
        for (int i = 0; i < ourQueued.size(); i++) {
            sides.judge.compare(
                    batch.queued.get(i), ours.queued().get(i), theirs.queued().get(i));
        }
    }

    /** Asks where each claim stands, so that both sides have caught up with time. */
    void lookAtAll() {
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
            sides.signals.awaitBeforeTheEnd(attempt.ours.id().toString(), signalWait);
            boolean ours = sides.ask(new Command.Release(some(attempt.ourGrant)));
            ScriptJudge.same(ours, sides.store(attempt.ask.client()).release(some(attempt.theirGrant)));
        }
    }

    void releaseForeign(int id) {
        ScriptAttempt attempt = granted(id);
        if (attempt != null) {
            int other = (attempt.ask.client() + 1) % Clients.CLIENTS;
            Grant foreign = some(attempt.theirGrant);
            Claim claim = foreign.claim();
            claim = new Claim(claim.name(), sides.clients.newClaim(other), claim.terms(), claim.deadline(), false);
            foreign = new Grant(claim, foreign.mode(), foreign.token(), foreign.block());
            ScriptJudge.same(
                    sides.ask(new Command.Release(foreign)), sides.store(other).release(foreign));
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
        Optional<Grant> ours = sides.ask(new Command.Downgrade(ourGrant));
        Optional<Grant> theirs = sides.store(attempt.ask.client()).downgrade(theirGrant);
        ScriptMismatch.unless(
                ours.isPresent() == theirs.isPresent(), "the model says " + ours + ", the store " + theirs);
        if (ours.isPresent()) {
            Grant shared = theirs.orElseThrow();
            ScriptMismatch.unless(shared.mode() == Mode.SHARED && shared.block() > 0, "downgraded to " + shared);
            sides.judge.seen(attempt, Mode.SHARED, ours.get().token(), shared.token(), shared.block());
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
            sides.signals.awaitBeforeTheEnd(attempt.ours.id().toString(), signalWait);
            sides.ask(new Command.Withdraw(attempt.ours));
            sides.store(attempt.ask.client()).withdraw(attempt.theirs);
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
            boolean expected = sides.ask(new Command.Check(new Sequencer(name, mode, token(ours, step.last()))));
            ScriptJudge.same(expected, sides.store(0).check(new Sequencer(name, mode, token(theirs, step.last()))));
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
            Duration delay = BothSides.duration(step.lockDelay(), sides.pace.lockDelay());
            long ours = token(some(attempt.ourGrant), step.last());
            long theirs = token(some(attempt.theirGrant), step.last());
            boolean expected = sides.ask(new Command.Break(name, ours, delay, step.now()));
            ScriptJudge.same(expected, sides.store(0).breakHold(name, theirs, delay, step.now()));
        }
    }

    private static <T> T some(@Nullable T value) {
        if (value == null) {
            throw new IllegalStateException("it is not known here");
        }
        return value;
    }
}
