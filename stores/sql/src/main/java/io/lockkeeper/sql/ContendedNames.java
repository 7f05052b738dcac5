// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/** Names that were found to have a queue a moment ago. Only a hint for which statement to try first. */
final class ContendedNames {
    private static final long LASTS = TimeUnit.SECONDS.toNanos(1);
    private static final int MOST = 1_000;

    private final Map<String, Long> until = new ConcurrentHashMap<>();

    void add(String name) {
        if (until.size() >= MOST) {
            until.clear();
        }
        until.put(name, System.nanoTime() + LASTS);
    }

    void remove(String name) {
        until.remove(name);
    }

    boolean contains(String name) {
        Long end = until.get(name);
        if (end == null) {
            return false;
        }
        if (System.nanoTime() - end < 0) {
            return true;
        }
        until.remove(name, end);
        return false;
    }
}
