// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.nemesis;

import io.lockkeeper.KeeperListener;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.testkit.FaultyStore;
import java.lang.ref.WeakReference;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * One keeper of a {@link NemesisRun}, from its opening to its closing. It has a client name that nothing else has, so that
 * its threads can be found, and a listener that only its engine refers to, so that what the engine leaves in memory can be
 * found.
 */
final class NemesisKeeper {
    final Lockkeeper keeper;
    final String clientName;

    /** Cleared when no part of the engine is in memory any more. */
    final WeakReference<KeeperListener> trace;

    final Life life = new Life();

    /** What the {@link NemesisBook} has to know of it; apart from it, so that the book keeps no engine in memory. */
    static final class Life {
        /** When its closing began, on the clock of the history; guarded by the book. */
        @Nullable
        Long closingAt;
    }

    /** A listener without interest; not a lambda, which would be one object for all keepers. */
    private static final class Trace implements KeeperListener {}

    NemesisKeeper(FaultyStore store, String clientName, Duration operationTimeout, Duration patience) {
        KeeperListener listener = new Trace();
        this.clientName = clientName;
        this.trace = new WeakReference<>(listener);
        this.keeper = Lockkeeper.builder(store)
                .clientName(clientName)
                .operationTimeout(operationTimeout)
                .patience(patience)
                .listener(listener)
                .build();
    }
}
