// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testkit.history;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.TreeSet;
import java.util.function.ToLongFunction;

/**
 * Finds moments at which more was held of one name than there is.
 *
 * <p>Exclusion, readers and writers, and semaphores are one question: every hold has a weight, the name has a capacity,
 * and at no time may the holds in force weigh more. A writer weighs all, a reader next to nothing. A sweep over the
 * holds in order of their start, with those still in force sorted by their end, answers it for holds that are certain
 * for some time. A hold that is certain at one unknown instant of a window is possible if the window has an instant at
 * which there is room, and several such do not hinder each other; {@link LoadProfile} knows. O(n log n) in all.
 */
final class Occupancy {
    /** One that came in although there was no room, and some of those that were in. */
    record Clash(Tenure entrant, List<Tenure> others) {}

    /** As many operations as a violation lists, besides the entrant. */
    private static final int WITNESSES = 9;

    private final long capacity;
    private final ToLongFunction<Hold> weight;
    private final List<Clash> clashes = new ArrayList<>();

    private Occupancy(long capacity, ToLongFunction<Hold> weight) {
        this.capacity = capacity;
        this.weight = weight;
    }

    /** Of a lock: a writer fills it, readers never do, for no history has 2³² of them. */
    static List<Clash> ofLock(List<Tenure> tenures) {
        long all = 1L << 32;
        return new Occupancy(all, hold -> hold.mode() == HistoryMode.EXCLUSIVE ? all : 1).check(tenures);
    }

    static List<Clash> ofSemaphore(List<Tenure> tenures, long permits) {
        return new Occupancy(permits, Hold::permits).check(tenures);
    }

    private List<Clash> check(List<Tenure> tenures) {
        List<Tenure> lasting = new ArrayList<>();
        List<Tenure> momentary = new ArrayList<>();
        for (Tenure tenure : tenures) {
            (tenure.latestStart() < tenure.earliestEnd() ? lasting : momentary).add(tenure);
        }
        lasting.sort(Comparator.comparingLong(Tenure::latestStart));
        sweep(lasting);
        fit(momentary, lasting);
        return clashes;
    }

    private void sweep(List<Tenure> lasting) {
        TreeSet<Tenure> in = new TreeSet<>(Comparator.comparingLong(Tenure::earliestEnd)
                .thenComparingLong(tenure -> tenure.claim().id()));
        long load = 0;
        for (Tenure entrant : lasting) {
            // A hold that ends as another starts makes room for it: the clock is too coarse to accuse.
            while (!in.isEmpty() && in.first().earliestEnd() <= entrant.latestStart()) {
                load -= weight.applyAsLong(in.pollFirst().hold());
            }
            load += weight.applyAsLong(entrant.hold());
            if (load > capacity) {
                clash(entrant, in.descendingSet());
            }
            in.add(entrant);
        }
    }

    private void fit(List<Tenure> momentary, List<Tenure> lasting) {
        if (momentary.isEmpty()) {
            return;
        }
        LoadProfile profile = new LoadProfile(lasting, momentary, weight);
        for (Tenure entrant : momentary) {
            long least = profile.least(entrant.earliestEnd(), entrant.latestStart());
            if (least + weight.applyAsLong(entrant.hold()) > capacity) {
                clash(entrant, lasting);
            }
        }
    }

    private void clash(Tenure entrant, Iterable<Tenure> candidates) {
        List<Tenure> others = new ArrayList<>();
        for (Tenure other : candidates) {
            boolean counted = other.hold().mode() == HistoryMode.PERMITS;
            if ((counted || other.hold().conflictsWith(entrant.hold())) && meets(entrant, other)) {
                others.add(other);
                if (others.size() == WITNESSES) {
                    break;
                }
            }
        }
        clashes.add(new Clash(entrant, others));
    }

    /** Whether some of the time of one is time of the other: for momentary ones less than a proof, but a reason. */
    private static boolean meets(Tenure entrant, Tenure other) {
        return other.latestStart() < Math.max(entrant.latestStart(), entrant.earliestEnd())
                && Math.min(entrant.latestStart(), entrant.earliestEnd()) < other.earliestEnd();
    }
}
