// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.model;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Consumer;

/** A latch whose count is not zero: at zero its record goes, and a later setting is a new generation. */
final class LatchRecord {
    private long count;
    private final long generation;
    private final Map<String, Long> watchers = new LinkedHashMap<>();

    LatchRecord(long count, long generation) {
        this.count = count;
        this.generation = generation;
    }

    LatchRecord copy() {
        LatchRecord copy = new LatchRecord(count, generation);
        copy.watchers.putAll(watchers);
        return copy;
    }

    long count() {
        return count;
    }

    long generation() {
        return generation;
    }

    void watch(String client, long until) {
        watchers.put(client, until);
    }

    /** Counts down; at zero it tells those who still watch, and answers true. */
    boolean countDown(long now, Consumer<String> tell) {
        if (--count > 0) {
            return false;
        }
        watchers.forEach((client, until) -> {
            if (until >= now) {
                tell.accept(client);
            }
        });
        return true;
    }
}
