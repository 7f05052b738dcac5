// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testkit.history;

import io.lockkeeper.testkit.history.SmallHistory.Claim;
import io.lockkeeper.testkit.history.SmallHistory.Extension;
import io.lockkeeper.testkit.history.SmallHistory.Step;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The meaning of "legal", by trying everything: is there any order in which a correct lock could have taken the steps
 * of a small history, each at an instant between its invocation and its return?
 *
 * <p>The correct lock. A claim is granted if the holds in force leave room for it, with a token greater than those of
 * all earlier conflicting holds and equal to none of all earlier holds. A hold ends by its release (by the last one, if
 * it was re-entered), by becoming another in a downgrade, or by lapse, which may come at any time from the telling of
 * loss or from the first moment at which its handle does not say that it is valid. A release or re-entry that is
 * answered ok found the hold in force, and took effect before loss was told. What failed did nothing (a claim may fail
 * at any time, and so may a release: no rule says that it must not). What has an unknown outcome did what it should, at
 * any time after it was invoked, or nothing.
 *
 * <p>The state is a function of the set of steps taken, and the earlier a set is reached the better, so sets that were
 * reached before as early are not tried again. Times must be whole numbers from 0 to {@link #HORIZON}.
 */
final class ExhaustiveOracle {
    static final long HORIZON = 300;
    private static final long NEVER = SmallHistory.NEVER;

    private enum Kind {
        CLAIM,
        REENTER,
        RELEASE,
        LAPSE
    }

    private record Point(Kind kind, int claim, long from, long to, boolean required) {}

    private final SmallHistory history;
    private final List<Point> points = new ArrayList<>();
    private final Map<Integer, Long> reached = new HashMap<>();

    private ExhaustiveOracle(SmallHistory history) {
        this.history = history;
        for (int i = 0; i < history.claims().size(); i++) {
            Claim claim = history.claims().get(i);
            add(Kind.CLAIM, i, new Step(claim.invoked(), claim.returned(), claim.outcome()), NEVER);
            for (Step step : claim.reentries()) {
                add(Kind.REENTER, i, step, claim.lostAt());
            }
            for (Step step : claim.releases()) {
                add(Kind.RELEASE, i, step, claim.lostAt());
            }
            long lapse = earliestLapse(claim);
            if (claim.outcome() == Outcome.OK && lapse != NEVER) {
                points.add(new Point(Kind.LAPSE, i, lapse, NEVER, false));
            }
        }
        if (points.size() > 30) {
            throw new IllegalArgumentException(points.size() + " points are too many");
        }
    }

    static boolean allows(SmallHistory history) {
        return new ExhaustiveOracle(history).search(0, 0);
    }

    private void add(Kind kind, int claim, Step step, long lostAt) {
        switch (step.outcome()) {
            case OK -> points.add(new Point(kind, claim, step.invoked(), Math.min(step.returned(), lostAt), true));
            case INFO -> points.add(new Point(kind, claim, step.invoked(), NEVER, false));
            case FAIL -> {}
        }
    }

    private static long earliestLapse(Claim claim) {
        for (long t = claim.invoked(); t <= HORIZON; t++) {
            long until = claim.validUntil();
            for (Extension extension : claim.extensions()) {
                until = extension.at() <= t ? extension.validUntil() : until;
            }
            if (until <= t || claim.lostAt() <= t) {
                return t;
            }
        }
        return NEVER;
    }

    private boolean search(int taken, long now) {
        boolean complete = true;
        for (int i = 0; i < points.size(); i++) {
            Point point = points.get(i);
            if (point.required() && !contains(taken, i)) {
                if (point.to() < now) {
                    return false;
                }
                complete = false;
            }
        }
        if (complete) {
            return true;
        }
        for (int i = 0; i < points.size(); i++) {
            Point point = points.get(i);
            long at = Math.max(now, point.from());
            int next = taken | 1 << i;
            if (!contains(taken, i)
                    && at <= point.to()
                    && at < reached.getOrDefault(next, NEVER)
                    && isPossible(point, taken)) {
                reached.put(next, at);
                if (search(next, at)) {
                    return true;
                }
            }
        }
        return false;
    }

    private boolean isPossible(Point point, int taken) {
        return point.kind() == Kind.CLAIM ? isGrantable(point.claim(), taken) : isInForce(point.claim(), taken);
    }

    private boolean isGrantable(int index, int taken) {
        Claim claim = claim(index);
        int parent = claim.downgradeOf();
        if (parent >= 0 && !isInForce(parent, taken)) {
            return false;
        }
        int permits = claim.permits();
        for (int i = 0; i < history.claims().size(); i++) {
            Claim other = claim(i);
            boolean conflict = other.mode() == HistoryMode.EXCLUSIVE || claim.mode() == HistoryMode.EXCLUSIVE;
            if (i != parent && isInForce(i, taken)) {
                if (conflict) {
                    return false;
                }
                permits += other.permits();
            }
            if (isGranted(i, taken) && claim.outcome() == Outcome.OK && other.outcome() == Outcome.OK) {
                if (other.token() == claim.token() || (conflict && other.token() > claim.token())) {
                    return false;
                }
            }
        }
        return (history.limit() == 0 || permits <= history.limit())
                && (claim.outcome() != Outcome.OK || claim.token() > 0);
    }

    private boolean isInForce(int claim, int taken) {
        int depth = 0;
        for (int i = 0; i < points.size(); i++) {
            Point point = points.get(i);
            if (contains(taken, i)) {
                if (point.claim() == claim) {
                    switch (point.kind()) {
                        case CLAIM, REENTER -> depth++;
                        case RELEASE -> depth--;
                        case LAPSE -> {
                            return false;
                        }
                    }
                } else if (point.kind() == Kind.CLAIM && claim(point.claim()).downgradeOf() == claim) {
                    return false;
                }
            }
        }
        return depth > 0;
    }

    private boolean isGranted(int claim, int taken) {
        for (int i = 0; i < points.size(); i++) {
            if (contains(taken, i)
                    && points.get(i).claim() == claim
                    && points.get(i).kind() == Kind.CLAIM) {
                return true;
            }
        }
        return false;
    }

    private Claim claim(int index) {
        return history.claims().get(index);
    }

    private static boolean contains(int taken, int point) {
        return (taken & 1 << point) != 0;
    }
}
