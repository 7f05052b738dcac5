// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testkit.history;

import io.lockkeeper.testkit.history.SmallHistory.Claim;
import io.lockkeeper.testkit.history.SmallHistory.Extension;
import io.lockkeeper.testkit.history.SmallHistory.Step;
import java.util.ArrayList;
import java.util.List;

/**
 * A correct lock (or semaphore) at work. It takes steps one after the other, so that what was really held when is
 * known; what its clients then see and record is blurred: they ask earlier, hear later, do not learn the outcome, or
 * have a shorter lease than the lock grants. Every history it makes is legal, and ties of the clock are frequent.
 */
final class SimulatedLock {
    /** What happens in a simulation besides claims and releases. */
    record Features(int maxClaims, int limit, boolean reentry, boolean downgrade, boolean extensions) {
        static Features lock(int maxClaims) {
            return new Features(maxClaims, 0, false, false, false);
        }

        static Features semaphore(int maxClaims, int limit) {
            return new Features(maxClaims, limit, false, false, false);
        }

        Features withExtras() {
            return new Features(maxClaims, limit, true, limit == 0, true);
        }
    }

    /** The truth about one hold. */
    private static final class Draft {
        HistoryMode mode = HistoryMode.EXCLUSIVE;
        int permits = 1;
        long token;
        long grantedAt;
        long releasedAt = SmallHistory.NEVER;
        long lapsedAt = SmallHistory.NEVER;
        boolean unknown;
        boolean downgraded;
        int parent = -1;
    }

    private final Features features;
    private final Choices choices;
    private final List<Draft> drafts = new ArrayList<>();
    private final List<Draft> inForce = new ArrayList<>();
    private final List<Long> tokens = new ArrayList<>();
    private long lastExclusive;
    /** Leaves room before it for earlier invocations. */
    private long now = 5;

    private SimulatedLock(Features features, Choices choices) {
        this.features = features;
        this.choices = choices;
    }

    static SmallHistory run(Features features, Choices choices) {
        SimulatedLock lock = new SimulatedLock(features, choices);
        for (int i = 0; i < features.maxClaims() * 4; i++) {
            lock.now += choices.below(4);
            lock.step();
        }
        return lock.blurred();
    }

    private void step() {
        switch (choices.below(8)) {
            case 0, 1, 2, 3 -> claim();
            case 4, 5 -> release();
            case 6 -> lapse();
            default -> downgrade();
        }
    }

    private void claim() {
        Draft draft = new Draft();
        if (features.limit() > 0) {
            draft.mode = HistoryMode.PERMITS;
            draft.permits = 1 + choices.below(features.limit());
        } else if (choices.oneIn(3)) {
            draft.mode = HistoryMode.SHARED;
        }
        draft.unknown = choices.oneIn(5);
        if (drafts.size() < features.maxClaims() && hasRoomFor(draft)) {
            grant(draft);
        }
    }

    private boolean hasRoomFor(Draft draft) {
        int permits = draft.permits;
        for (Draft other : inForce) {
            if (draft.mode == HistoryMode.EXCLUSIVE || other.mode == HistoryMode.EXCLUSIVE) {
                return false;
            }
            permits += other.permits;
        }
        return features.limit() == 0 || permits <= features.limit();
    }

    private void grant(Draft draft) {
        draft.grantedAt = now;
        draft.token = freshToken(draft.mode);
        drafts.add(draft);
        inForce.add(draft);
    }

    /** Above all for a writer; for others above the last writer's, in no order among themselves. */
    private long freshToken(HistoryMode mode) {
        long token = 1L + choices.below(3);
        if (mode == HistoryMode.EXCLUSIVE) {
            token += tokens.stream().mapToLong(Long::longValue).max().orElse(0);
            lastExclusive = token;
        } else {
            token += lastExclusive;
            while (tokens.contains(token)) {
                token++;
            }
        }
        tokens.add(token);
        return token;
    }

    private void release() {
        if (!inForce.isEmpty()) {
            inForce.remove(choices.below(inForce.size())).releasedAt = now;
        }
    }

    private void lapse() {
        if (!inForce.isEmpty()) {
            Draft draft = inForce.get(choices.below(inForce.size()));
            if (!draft.unknown) {
                inForce.remove(draft);
                draft.lapsedAt = now;
            }
        }
    }

    private void downgrade() {
        if (features.downgrade() && !inForce.isEmpty() && drafts.size() < features.maxClaims()) {
            Draft parent = inForce.get(0);
            if (parent.mode == HistoryMode.EXCLUSIVE && !parent.unknown && parent.parent < 0) {
                inForce.remove(parent);
                parent.downgraded = true;
                parent.releasedAt = now;
                Draft child = new Draft();
                child.mode = HistoryMode.SHARED;
                child.parent = drafts.indexOf(parent);
                grant(child);
            }
        }
    }

    private SmallHistory blurred() {
        List<Claim> claims = new ArrayList<>();
        for (Draft draft : drafts) {
            long begin = draft.grantedAt - choices.below(5);
            if (draft.parent >= 0) {
                begin = Math.max(begin, claims.get(draft.parent).returned());
            }
            // Not heard of later than the release begins; a lapse, however, may come before the answer.
            long end = Math.min(draft.grantedAt + choices.below(5), draft.releasedAt);
            Claim claim = new Claim(
                    draft.mode,
                    draft.permits,
                    begin,
                    end,
                    draft.unknown ? Outcome.INFO : Outcome.OK,
                    draft.token,
                    SmallHistory.NEVER,
                    List.of(),
                    SmallHistory.NEVER,
                    List.of(),
                    List.of(),
                    draft.parent);
            claims.add(withSteps(draft, withLease(draft, claim)));
        }
        addFailures(claims);
        return new SmallHistory(List.copyOf(claims), features.limit()).wellFormed();
    }

    private Claim withLease(Draft draft, Claim claim) {
        if (draft.unknown) {
            return claim;
        }
        long until = SmallHistory.NEVER;
        long lost = SmallHistory.NEVER;
        if (draft.lapsedAt != SmallHistory.NEVER) {
            boolean told = choices.oneIn(2);
            until = !told || choices.oneIn(3) ? draft.lapsedAt - choices.below(4) : until;
            lost = told ? draft.lapsedAt - choices.below(3) : lost;
        } else if (choices.oneIn(3)) {
            until = draft.grantedAt + choices.below(12);
        }
        Claim leased = claim.withLease(until, lost);
        if (features.extensions() && until != SmallHistory.NEVER && choices.oneIn(2)) {
            // The same end, told in two portions; the first may run out before the second is heard.
            long first = Math.max(0, until - choices.below(4));
            return leased.withLease(first, lost)
                    .withExtensions(List.of(new Extension(Math.max(0, until - choices.below(6)), until)));
        }
        return leased;
    }

    private Claim withSteps(Draft draft, Claim claim) {
        if (draft.lapsedAt != SmallHistory.NEVER && choices.oneIn(2)) {
            long begin = draft.lapsedAt + choices.below(3);
            return claim.withSteps(List.of(), List.of(new Step(begin, begin + choices.below(3), Outcome.FAIL)));
        }
        if (draft.releasedAt == SmallHistory.NEVER || draft.downgraded) {
            return claim;
        }
        long earliest = claim.outcome() == Outcome.OK ? claim.returned() : claim.invoked();
        long begin = Math.max(earliest, draft.releasedAt - choices.below(4));
        List<Step> reentries = new ArrayList<>();
        List<Step> releases = new ArrayList<>();
        if (features.reentry() && claim.outcome() == Outcome.OK && choices.oneIn(2)) {
            long in = earliest + choices.below((int) (begin - earliest) + 1);
            long out = in + choices.below((int) (begin - in) + 1);
            reentries.add(new Step(in, out, choices.oneIn(4) ? Outcome.INFO : Outcome.OK));
            releases.add(new Step(out, begin, choices.oneIn(4) ? Outcome.INFO : Outcome.OK));
        }
        boolean told = draft.unknown || !choices.oneIn(5);
        releases.add(new Step(begin, draft.releasedAt + choices.below(4), told ? Outcome.OK : Outcome.INFO));
        return claim.withSteps(reentries, releases);
    }

    /** What did not happen is allowed at any time. */
    private void addFailures(List<Claim> claims) {
        while (claims.size() < features.maxClaims() && choices.oneIn(3)) {
            long begin = choices.below((int) now);
            claims.add(new Claim(
                    features.limit() > 0 ? HistoryMode.PERMITS : HistoryMode.EXCLUSIVE,
                    1,
                    begin,
                    begin + choices.below(6),
                    choices.oneIn(2) ? Outcome.FAIL : Outcome.INFO,
                    1,
                    SmallHistory.NEVER,
                    List.of(),
                    SmallHistory.NEVER,
                    List.of(),
                    List.of(),
                    -1));
        }
    }
}
