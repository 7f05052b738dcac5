// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.nemesis;

import io.lockkeeper.KeeperListener;
import io.lockkeeper.testkit.FaultyStore;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** A connection that fails, and the keepers that come and go on it, one at a time. */
final class NemesisClient {
    final FaultyStore store;
    final Duration operationTimeout;
    private final Duration patience;
    private final String name;
    private final NemesisBook book;
    private volatile NemesisKeeper current;

    // Guarded by itself: of keepers that are closed, or being closed.
    private final List<String> closedNames = new ArrayList<>();
    private final List<WeakReference<KeeperListener>> traces = new ArrayList<>();

    NemesisClient(FaultyStore store, String name, Duration operationTimeout, Duration patience, NemesisBook book) {
        this.store = store;
        this.name = name;
        this.operationTimeout = operationTimeout;
        this.patience = patience;
        this.book = book;
        this.current = open(0);
    }

    NemesisKeeper current() {
        return current;
    }

    /** Opens another keeper and closes this one, in this order: workers are never without one. */
    void replace() {
        NemesisKeeper old = current;
        current = open(closedNames().size() + 1);
        close(old);
    }

    /** Closes the last one. */
    void close() {
        close(current);
    }

    private NemesisKeeper open(int number) {
        return new NemesisKeeper(store, name + "." + number, operationTimeout, patience);
    }

    private void close(NemesisKeeper old) {
        synchronized (traces) {
            closedNames.add(old.clientName);
            traces.add(old.trace);
        }
        book.closing(old);
        old.keeper.close();
    }

    List<String> closedNames() {
        synchronized (traces) {
            return List.copyOf(closedNames);
        }
    }

    /** How many closed keepers, but for the last one, which this object refers to, are still in memory. */
    long remembered() {
        synchronized (traces) {
            return traces.stream()
                    .filter(trace -> trace != current.trace && trace.get() != null)
                    .count();
        }
    }
}
