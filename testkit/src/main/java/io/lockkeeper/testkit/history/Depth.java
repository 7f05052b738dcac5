// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testkit.history;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * How deep a hold is entered is known only between bounds, since an operation takes effect somewhere between its
 * invocation and its return, if at all. The lower bound takes every step down as early and every step up as late as
 * possible, and doubts only steps up; the upper bound is its mirror image.
 */
final class Depth {
    /** All levels at once: what a downgrade does. */
    private static final int TO_NOTHING = Integer.MIN_VALUE;

    /** A bound of the depth changes. */
    record Change(long at, int by, Operation cause) {
        int applyTo(int depth) {
            return by == TO_NOTHING ? 0 : depth + by;
        }
    }

    private Depth() {}

    /** Changes of the lower bound, which is 1 when the claim has returned. */
    static List<Change> atLeast(Hold hold) {
        List<Change> changes = new ArrayList<>();
        ok(hold.reentries()).forEach(up -> changes.add(new Change(up.returned(), 1, up)));
        maybe(hold.releases()).forEach(down -> changes.add(new Change(down.invoked(), -1, down)));
        maybe(hold.downgrades()).forEach(down -> changes.add(new Change(down.invoked(), TO_NOTHING, down)));
        changes.sort(Comparator.comparingLong(Change::at).thenComparingInt(Change::by));
        return changes;
    }

    /** Changes of the upper bound, which is 1 when the claim is invoked. */
    static List<Change> atMost(Hold hold) {
        List<Change> changes = new ArrayList<>();
        maybe(hold.reentries()).forEach(up -> changes.add(new Change(up.invoked(), 1, up)));
        ok(hold.releases()).forEach(down -> changes.add(new Change(down.returned(), -1, down)));
        ok(hold.downgrades()).forEach(down -> changes.add(new Change(down.returned(), TO_NOTHING, down)));
        changes.sort(Comparator.comparingLong(Change::at)
                .thenComparing(Comparator.comparingInt(Change::by).reversed()));
        return changes;
    }

    /** Until when no sequence of releases can have ended a granted hold: the invocation of the possibly last one. */
    static long heldUntil(Hold hold) {
        int depth = 1;
        for (Change change : atLeast(hold)) {
            depth = change.applyTo(depth);
            if (depth <= 0) {
                return change.at();
            }
        }
        return Nanos.NEVER;
    }

    private static Stream<Operation> ok(List<Operation> operations) {
        return operations.stream().filter(Operation::isOk);
    }

    private static Stream<Operation> maybe(List<Operation> operations) {
        return operations.stream().filter(Operation::mayHaveHappened);
    }
}
