// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.model;

import io.lockkeeper.LockInfo;
import io.lockkeeper.Mode;
import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.Grant;
import io.lockkeeper.spi.LatchState;
import io.lockkeeper.spi.Renewal;
import io.lockkeeper.tck.model.ScriptStep.Due;
import java.time.Duration;
import java.util.Optional;

/**
 * Compares a store's answers with the model's: equal up to an order-preserving renaming of tokens and generations, apart
 * from times, durations and texts for people.
 */
final class ScriptJudge {
    private static final long TOLERANCE_MICROS = 60_000_000L;

    private final Tokens tokens;
    private final Generations generations = new Generations();

    ScriptJudge(boolean fenced) {
        this.tokens = new Tokens(fenced);
    }

    /** See {@link Tokens#raised}. */
    void raised(int name, long ours, long theirs) {
        tokens.raised(name, ours, theirs);
    }

    static void same(boolean ours, boolean theirs) {
        ScriptMismatch.unless(ours == theirs, "the model says " + ours + ", the store " + theirs);
    }

    /** Whether a claim was refused because its id has ended or its deadline has passed. */
    static boolean isVoid(Answer answer) {
        return answer instanceof Answer.Refused refused
                && (refused.why() == Answer.Why.LATE || refused.why() == Answer.Why.GONE);
    }

    void compare(ScriptAttempt attempt, Answer ours, Answer theirs) {
        String both = "of claim " + attempt.id + " the model says " + ours + ", the store " + theirs;
        attempt.stood |= !(ours instanceof Answer.Refused);
        if (ours instanceof Answer.Granted expected && theirs instanceof Answer.Granted granted) {
            ScriptMismatch.unless(granted.block() > 0 && granted.block() <= attempt.ask.block(), both);
            ScriptMismatch.unless(expected.confirmed() == granted.confirmed(), both);
            ScriptMismatch.unless(close(expected.remaining(), granted.remaining()), both);
            if (attempt.ourGrant == null) {
                attempt.ourGrant = Grant.of(attempt.ours, expected);
                attempt.theirGrant = Grant.of(attempt.theirs, granted);
                attempt.firstToken = granted.token();
            }
            seen(attempt, attempt.ourGrant.mode(), expected.token(), granted.token(), granted.block());
        } else if (ours instanceof Answer.Queued expected && theirs instanceof Answer.Queued queued) {
            ScriptMismatch.unless(
                    expected.ahead() == queued.ahead() && !queued.retryAfter().isNegative(), both);
        } else if (ours instanceof Answer.Refused expected && theirs instanceof Answer.Refused refused) {
            // Whether a store has forgotten an id whose deadline has passed is its own business.
            boolean either = attempt.ask.due() != Due.FAR && isVoid(expected) && isVoid(refused);
            ScriptMismatch.unless(expected.why() == refused.why() || either, both);
        } else {
            ScriptMismatch.unless(false, both);
        }
    }

    static void compare(ScriptAttempt attempt, Renewal.Outcome ours, Renewal.Outcome theirs) {
        String both = "of the hold of claim " + attempt.id + " the model says " + ours + ", the store " + theirs;
        if (ours instanceof Renewal.Kept expected && theirs instanceof Renewal.Kept kept) {
            ScriptMismatch.unless(close(expected.remaining(), kept.remaining()), both);
        } else {
            ScriptMismatch.unless(ours.equals(theirs), both);
        }
    }

    void compare(int name, Optional<LockInfo> ours, Optional<LockInfo> theirs) {
        String both = "of " + ScriptStep.letter(name) + " the model says " + ours + ", the store " + theirs;
        ScriptMismatch.unless(ours.isPresent() == theirs.isPresent(), both);
        if (ours.isEmpty()) {
            return;
        }
        LockInfo expected = ours.get();
        LockInfo info = theirs.orElseThrow();
        ScriptMismatch.unless(expected.name().equals(info.name()), both);
        ScriptMismatch.unless(
                expected.holders().size() == info.holders().size() && expected.waiters() == info.waiters(), both);
        ScriptMismatch.unless(close(expected.closedFor(), info.closedFor()), both);
        if (!expected.holders().isEmpty() || expected.waiters() > 0) {
            ScriptMismatch.unless(expected.mode() == info.mode() && expected.limit() == info.limit(), both);
        }
        for (LockInfo.Hold ourHold : expected.holders()) {
            LockInfo.Hold hold = info.holders().stream()
                    .filter(h -> h.label().equals(ourHold.label()))
                    .findFirst()
                    .orElseThrow(() -> new ScriptMismatch(both));
            ScriptMismatch.unless(hold.client().equals(ourHold.client()) && hold.permits() == ourHold.permits(), both);
            ScriptMismatch.unless(close(ourHold.expiresIn(), hold.expiresIn()), both);
            int claim = Integer.parseInt(ourHold.label().substring("claim ".length()));
            tokens.seen(name, claim, expected.mode(), ourHold.token(), hold.token(), 1);
        }
    }

    void compare(int latch, LatchState ours, LatchState theirs) {
        String both = "of latch " + ScriptStep.letter(latch) + " the model says " + ours + ", the store " + theirs;
        ScriptMismatch.unless(ours.count() == theirs.count() && ours.outcome() == theirs.outcome(), both);
        ScriptMismatch.unless(generations.same(latch, ours.generation(), theirs.generation()), both);
    }

    void seen(ScriptAttempt attempt, Mode mode, long ours, long theirs, int block) {
        tokens.seen(attempt.ask.name(), attempt.id, mode, ours, theirs, block);
    }

    /** Both something or both nothing, and where it is much, about as much. */
    private static boolean close(Duration ours, Duration theirs) {
        return ours.isZero() == theirs.isZero()
                && !theirs.isNegative()
                && Math.abs(ours.minus(theirs).toNanos() / 1_000) < TOLERANCE_MICROS;
    }
}
