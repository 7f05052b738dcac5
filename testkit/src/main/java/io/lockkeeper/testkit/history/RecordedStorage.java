// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testkit.history;

import java.util.Objects;

/**
 * Records what a guarded storage did with writes. Calls must come in the storage's own order: made where it decides, or
 * afterwards from its log, one by one. Entering a fence counts as a write: it raises the mark.
 */
public final class RecordedStorage {
    private final History history;
    private final String storage;

    RecordedStorage(History history, String storage) {
        this.history = history;
        this.storage = Objects.requireNonNull(storage, "storage");
    }

    /** A write under an exclusive hold was accepted. */
    public void accepted(long token) {
        written(HistoryMode.EXCLUSIVE, token, true);
    }

    /** A write (or entry) under a hold of the given mode was accepted. */
    public void accepted(HistoryMode mode, long token) {
        written(mode, token, true);
    }

    /** A write was refused as stale. Recorded for the reader: refusing too much is not a matter of safety. */
    public void refused(long token) {
        written(HistoryMode.EXCLUSIVE, token, false);
    }

    private void written(HistoryMode mode, long token, boolean accepted) {
        long operation = history.nextOperation();
        history.add(new Event.Written(history.elapsed(), operation, storage, mode, token, accepted));
    }
}
