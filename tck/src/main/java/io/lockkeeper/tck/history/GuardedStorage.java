// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.history;

import io.lockkeeper.testkit.history.History;
import io.lockkeeper.testkit.history.HistoryMode;
import io.lockkeeper.testkit.history.RecordedStorage;
import java.util.HashMap;
import java.util.Map;

/**
 * What the locks protect: storages, one for each lock, that reject stale tokens. An exclusive token must reach both marks, a
 * shared one exceed the exclusive mark.
 */
final class GuardedStorage {
    private final History history;
    private final Map<String, Marks> marks = new HashMap<>();

    private static final class Marks {
        final RecordedStorage recorded;
        long exclusive;
        long shared;

        Marks(RecordedStorage recorded) {
            this.recorded = recorded;
        }
    }

    GuardedStorage(History history) {
        this.history = history;
    }

    /** Writes to the storage that this lock protects; false when the token is stale. */
    synchronized boolean write(String lock, HistoryMode mode, long token) {
        Marks of = marks.computeIfAbsent(lock, name -> new Marks(history.storage(name)));
        boolean exclusive = mode == HistoryMode.EXCLUSIVE;
        boolean accepted = exclusive ? token >= of.exclusive && token >= of.shared : token > of.exclusive;
        if (!accepted) {
            of.recorded.refused(token);
        } else {
            of.recorded.accepted(mode, token);
            if (exclusive) {
                of.exclusive = token;
            } else {
                of.shared = Math.max(of.shared, token);
            }
        }
        return accepted;
    }
}
