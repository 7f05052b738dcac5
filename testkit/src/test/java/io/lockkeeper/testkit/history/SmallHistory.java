// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testkit.history;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The plan of a history of one name: what oracle and checker are both asked about, in a form that shares no code with
 * the checker.
 *
 * @param limit permits of the semaphore; 0 for a lock
 */
record SmallHistory(List<Claim> claims, int limit) {
    static final String NAME = "n";
    static final long NEVER = Long.MAX_VALUE;

    /** An operation on a hold. */
    record Step(long invoked, long returned, Outcome outcome) {}

    /** A later word on validity. */
    record Extension(long at, long validUntil) {}

    /**
     * A claim and what was done to its hold.
     *
     * @param validUntil {@link #NEVER} if not declared
     * @param lostAt {@link #NEVER} if not told
     * @param downgradeOf index of the claim whose hold this one continues; -1 if none
     */
    record Claim(
            HistoryMode mode,
            int permits,
            long invoked,
            long returned,
            Outcome outcome,
            long token,
            long validUntil,
            List<Extension> extensions,
            long lostAt,
            List<Step> reentries,
            List<Step> releases,
            int downgradeOf) {

        Claim withToken(long other) {
            return new Claim(
                    mode,
                    permits,
                    invoked,
                    returned,
                    outcome,
                    other,
                    validUntil,
                    extensions,
                    lostAt,
                    reentries,
                    releases,
                    downgradeOf);
        }

        Claim withTimes(long begin, long end) {
            return new Claim(
                    mode,
                    permits,
                    begin,
                    end,
                    outcome,
                    token,
                    validUntil,
                    extensions,
                    lostAt,
                    reentries,
                    releases,
                    downgradeOf);
        }

        Claim withOutcome(Outcome other) {
            return new Claim(
                    mode,
                    permits,
                    invoked,
                    returned,
                    other,
                    token,
                    validUntil,
                    extensions,
                    lostAt,
                    reentries,
                    releases,
                    downgradeOf);
        }

        Claim withLease(long until, long lost) {
            return new Claim(
                    mode,
                    permits,
                    invoked,
                    returned,
                    outcome,
                    token,
                    until,
                    extensions,
                    lost,
                    reentries,
                    releases,
                    downgradeOf);
        }

        Claim withExtensions(List<Extension> others) {
            return new Claim(
                    mode,
                    permits,
                    invoked,
                    returned,
                    outcome,
                    token,
                    validUntil,
                    others,
                    lostAt,
                    reentries,
                    releases,
                    downgradeOf);
        }

        Claim withMode(HistoryMode other, int number) {
            return new Claim(
                    other,
                    number,
                    invoked,
                    returned,
                    outcome,
                    token,
                    validUntil,
                    extensions,
                    lostAt,
                    reentries,
                    releases,
                    downgradeOf);
        }

        Claim withSteps(List<Step> in, List<Step> out) {
            return new Claim(
                    mode,
                    permits,
                    invoked,
                    returned,
                    outcome,
                    token,
                    validUntil,
                    extensions,
                    lostAt,
                    in,
                    out,
                    downgradeOf);
        }
    }

    /** Nothing returns before it is invoked, and nothing is done to a hold before its claim has returned. */
    SmallHistory wellFormed() {
        List<Claim> formed = new ArrayList<>();
        for (Claim claim : claims) {
            long begin = claim.invoked();
            if (claim.downgradeOf() >= 0) {
                begin = Math.max(begin, formed.get(claim.downgradeOf()).returned());
            }
            long end = Math.max(begin, claim.returned());
            long earliest = claim.outcome() == Outcome.OK ? end : begin;
            formed.add(claim.withTimes(begin, end)
                    .withSteps(wellFormed(claim.reentries(), earliest), wellFormed(claim.releases(), earliest)));
        }
        return new SmallHistory(List.copyOf(formed), limit);
    }

    private static List<Step> wellFormed(List<Step> steps, long earliest) {
        return steps.stream()
                .map(step -> {
                    long begin = Math.max(step.invoked(), earliest);
                    return new Step(begin, Math.max(begin, step.returned()), step.outcome());
                })
                .toList();
    }

    /** As it would have been recorded. */
    History recorded() {
        AtomicLong clock = new AtomicLong();
        History history = new History(clock::get);
        if (limit > 0) {
            history.declareSemaphore(NAME, limit);
        }
        List<RecordedClaim> records = new ArrayList<>();
        for (int i = 0; i < claims.size(); i++) {
            Claim claim = claims.get(i);
            clock.set(claim.invoked());
            RecordedClaim recorded = invoke(history.client("c" + i), claim, records);
            records.add(recorded);
            clock.set(claim.returned());
            recordOutcome(claim, recorded);
            for (Extension extension : claim.extensions()) {
                clock.set(extension.at());
                recorded.extended(extension.validUntil());
            }
            if (claim.lostAt() != NEVER) {
                recorded.lostAt(claim.lostAt());
            }
            recordSteps(claim, recorded, clock);
        }
        return history;
    }

    private static void recordOutcome(Claim claim, RecordedClaim recorded) {
        switch (claim.outcome()) {
            case OK -> {
                if (claim.validUntil() == NEVER) {
                    recorded.ok(claim.token());
                } else {
                    recorded.ok(claim.token(), claim.validUntil());
                }
            }
            case FAIL -> recorded.fail();
            case INFO -> recorded.info();
        }
    }

    private static void recordSteps(Claim claim, RecordedClaim recorded, AtomicLong clock) {
        for (Step step : claim.reentries()) {
            clock.set(step.invoked());
            RecordedReentry reentry = recorded.reenter();
            clock.set(step.returned());
            switch (step.outcome()) {
                case OK -> reentry.ok(claim.token());
                case FAIL -> reentry.fail();
                case INFO -> reentry.info();
            }
        }
        for (Step step : claim.releases()) {
            clock.set(step.invoked());
            RecordedStep release = recorded.release();
            clock.set(step.returned());
            switch (step.outcome()) {
                case OK -> release.ok();
                case FAIL -> release.fail();
                case INFO -> release.info();
            }
        }
    }

    private static RecordedClaim invoke(RecordedClient client, Claim claim, List<RecordedClaim> records) {
        if (claim.downgradeOf() >= 0) {
            return records.get(claim.downgradeOf()).downgrade();
        }
        return claim.mode() == HistoryMode.PERMITS
                ? client.acquirePermits(NAME, claim.permits())
                : client.acquire(NAME, claim.mode());
    }
}
