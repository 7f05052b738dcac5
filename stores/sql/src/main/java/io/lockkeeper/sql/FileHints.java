// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import io.lockkeeper.spi.ClaimId;
import io.lockkeeper.spi.Signals;
import io.lockkeeper.sql.file.IncomingMessages;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What arrives on the sockets beside a file of locks. Anyone who may use the file may write there, and may be mistaken:
 * a message only says which claim to ask the file about. Claims that are said to be granted are asked about here, with
 * one query for all that came together; about holds, the client asks. What cannot be read counts as something missed,
 * and is logged once.
 *
 * <p>Used by one thread.
 */
final class FileHints implements IncomingMessages.Receiver {
    private static final System.Logger LOG = System.getLogger("io.lockkeeper.sql");

    private final Path folder;
    private final Connections connections;
    private final AwaitedClaims awaitedClaims;
    private final Map<String, Signals> listeners;
    private final Set<ClaimId> granted = new LinkedHashSet<>();
    private final Set<String> missed = new HashSet<>();
    private boolean reportedUnknown;

    FileHints(Path folder, Connections connections, AwaitedClaims awaitedClaims, Map<String, Signals> listeners) {
        this.folder = folder;
        this.connections = connections;
        this.awaitedClaims = awaitedClaims;
        this.listeners = listeners;
    }

    @Override
    public void received(String client, String line) {
        Signals listener = listeners.get(client);
        if (listener == null || line.isEmpty()) {
            return; // an empty one only tries whether somebody is there
        }
        try {
            SignalText.Hint hint = SignalText.hint(client, line);
            ClaimId claim = hint.claim();
            if (claim == null) {
                listener.opened(String.valueOf(hint.latch()));
            } else if (hint.isGrant() && awaitedClaims.isQueued(claim)) {
                granted.add(claim);
            } else {
                listener.changed(claim);
            }
        } catch (RuntimeException e) {
            unreadable(client, "it says nothing that this version knows"); // nor is it repeated in a log
        }
    }

    @Override
    public void unreadable(String client, String why) {
        missed.add(client);
        if (!reportedUnknown) {
            reportedUnknown = true;
            LOG.log(
                    System.Logger.Level.WARNING,
                    "a message in " + folder + " is not understood: " + why
                            + ". It is ignored, and not reported again");
        }
    }

    /** Asks the file about what has arrived, and reports what proves true. */
    void ask() {
        for (String client : missed) {
            Signals listener = listeners.get(client);
            if (listener != null) {
                listener.missed();
            }
        }
        missed.clear();
        List<ClaimId> all = List.copyOf(granted);
        granted.clear();
        for (int i = 0; i < all.size(); i += AwaitedClaims.AT_ONCE) {
            ask(all.subList(i, Math.min(all.size(), i + AwaitedClaims.AT_ONCE)));
        }
    }

    private void ask(List<ClaimId> claims) {
        try {
            connections.autocommit(c -> awaitedClaims.look(c, claims, listeners));
        } catch (RuntimeException e) {
            // The file cannot be read now: the client asks when it can.
            for (ClaimId claim : claims) {
                Signals listener = listeners.get(claim.client());
                if (listener != null) {
                    listener.changed(claim);
                }
            }
        }
    }
}
