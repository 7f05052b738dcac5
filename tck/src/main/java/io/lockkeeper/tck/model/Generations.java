// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.model;

import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;

/** The generations of a script's latches, as the model and as the store has them: different, but in the same order. */
final class Generations {
    private final Map<Integer, TreeMap<Long, Long>> ofLatches = new HashMap<>();

    /** Whether the store's generation can be what the model calls {@code ours}; 0 is 0 for both. */
    boolean same(int latch, long ours, long theirs) {
        if (ours == 0 || theirs == 0) {
            return ours == theirs;
        }
        TreeMap<Long, Long> known = ofLatches.computeIfAbsent(latch, l -> new TreeMap<>());
        Long before = known.putIfAbsent(ours, theirs);
        if (before != null) {
            return before == theirs;
        }
        Map.Entry<Long, Long> earlier = known.lowerEntry(ours);
        Map.Entry<Long, Long> later = known.higherEntry(ours);
        return theirs > 0
                && (earlier == null || earlier.getValue() < theirs)
                && (later == null || later.getValue() > theirs);
    }
}
