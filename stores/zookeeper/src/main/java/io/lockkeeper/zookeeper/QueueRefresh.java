// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.zookeeper;

import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.Claim;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import org.apache.zookeeper.OpResult;
import org.jspecify.annotations.Nullable;

/**
 * Refreshes places in queues. All names that a client waits for, and those in front of their queues, are read together,
 * in one request per a few hundred. If the claims of a name are the same as when a claim was last looked at, and what it
 * waits for is still watched, its place is unchanged: only overdue holders in front must be noticed. Otherwise one
 * listing serves all claims of this client for the name, and only those that now wait for another node look further.
 */
final class QueueRefresh {
    private final ClientState clientState;
    private final TurnCheck turnCheck;
    private final ClaimRemoval claimRemoval;

    QueueRefresh(ClientState clientState, TurnCheck turnCheck, ClaimRemoval claimRemoval) {
        this.clientState = clientState;
        this.turnCheck = turnCheck;
        this.claimRemoval = claimRemoval;
    }

    /** Keeps places in queues, and says where each claim stands. */
    List<Answer> refresh(List<Claim> claims, Session session) {
        session.sync(); // what others did before this must be seen
        Map<String, OpResult.GetDataResult> seen = NameNodes.readMany(session, paths(claims, session));
        Map<String, Listing> listings = new HashMap<>();
        List<Answer> answers = new ArrayList<>(claims.size());
        for (Claim claim : claims) {
            answers.add(refresh(claim, session, seen, listings));
        }
        return answers;
    }

    /** The names that are waited for, and the holders in front as far as we know. */
    private Set<String> paths(List<Claim> claims, Session session) {
        Set<String> paths = new HashSet<>();
        for (Claim claim : claims) {
            Entry entry = clientState.entries.get(claim.id());
            if (entry != null && entry.state == Entry.State.QUEUED && entry.isIn(session) && entry.lock.tryLock()) {
                try {
                    if (stands(entry, session)) {
                        paths.add(entry.parent);
                        paths.addAll(entry.front);
                    }
                } finally {
                    entry.lock.unlock();
                }
            }
        }
        return paths;
    }

    /** Whether a claim was seen to wait, and nothing that we know of has happened to what it waits for. */
    private static boolean stands(Entry entry, Session session) {
        return entry.state == Entry.State.QUEUED
                && entry.listed != 0
                && !entry.closed
                && session.watches.isAwaiting(entry);
    }

    private Answer refresh(
            Claim claim, Session session, Map<String, OpResult.GetDataResult> seen, Map<String, Listing> listings) {
        Entry entry = clientState.entries.get(claim.id());
        if (entry == null || entry.state == Entry.State.NEW) {
            return clientState.refused(Answer.Why.GONE, "");
        }
        entry.lock.lock();
        try {
            if (entry.state == Entry.State.ENDED || !entry.isIn(session)) {
                return clientState.refused(Answer.Why.GONE, "");
            }
            if (claim.stray()) {
                entry.claim = entry.claim.asStray();
            }
            if (entry.endsAt <= clientState.ticker.nanos() && claimRemoval.expire(entry, session)) {
                return clientState.refused(Answer.Why.GONE, "");
            }
            if (entry.state == Entry.State.QUEUED) {
                clientState.endsAt(
                        entry,
                        clientState.ticker.nanos() + claim.terms().patience().toNanos());
            }
            Supplier<Listing> listing =
                    () -> listings.computeIfAbsent(entry.parent, parent -> turnCheck.list(entry, session));
            Answer same = waitsOn(entry, session, seen, listing);
            return same != null ? same : turnCheck.look(entry, session, listing);
        } finally {
            entry.lock.unlock();
        }
    }

    /** That the claim waits for the same as before; null when that is not known. */
    private @Nullable Answer waitsOn(
            Entry entry, Session session, Map<String, OpResult.GetDataResult> seen, Supplier<Listing> listing) {
        OpResult.GetDataResult name = seen.get(entry.parent);
        if (name == null || !stands(entry, session)) {
            return null;
        }
        if (name.getStat().getPzxid() != entry.listed && !turnCheck.waitsOn(entry, listing.get())) {
            return null;
        }
        List<String> unread =
                entry.front.stream().filter(path -> !seen.containsKey(path)).toList();
        seen.putAll(NameNodes.readMany(session, unread));
        List<NameNodes.Seen> front = new ArrayList<>(entry.front.size());
        for (String path : entry.front) {
            OpResult.GetDataResult holder = seen.get(path);
            if (holder == null) {
                return null;
            }
            front.add(NameNodes.seen(path, holder));
        }
        NameNodes.Front now = clientState.nameNodes.evictOverdue(session, front);
        return now.evicted() ? null : turnCheck.queued(entry, now.nextEnd());
    }
}
