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
 * How places in queues are kept. All names that a client waits for, and those in front of their queues, are read together, in
 * one request per some hundreds. Where nobody has come or gone since a claim was last looked at, and what it waits for is
 * still watched, it stands where it stood: only who has overstayed in front must be noticed. Where somebody has, one listing
 * serves all claims of this client for the name, and only those that wait for another than before look further.
 */
final class Refreshing {
    private final Desk desk;
    private final Looking looking;
    private final Ending ending;

    Refreshing(Desk desk, Looking looking, Ending ending) {
        this.desk = desk;
        this.looking = looking;
        this.ending = ending;
    }

    /** Keeps places in queues, and says where each claim stands. */
    List<Answer> refresh(List<Claim> claims, Session session) {
        session.sync(); // what others did before this must be seen
        Map<String, OpResult.GetDataResult> seen = Names.readMany(session, paths(claims, session));
        Map<String, Listing> listings = new HashMap<>();
        List<Answer> answers = new ArrayList<>(claims.size());
        for (Claim claim : claims) {
            answers.add(refresh(claim, session, seen, listings));
        }
        return answers;
    }

    /** The names that are waited for, and who is in front of them as far as we know. */
    private Set<String> paths(List<Claim> claims, Session session) {
        Set<String> paths = new HashSet<>();
        for (Claim claim : claims) {
            Entry entry = desk.entries.get(claim.id());
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

    /** Whether a claim was seen to wait, and nothing has happened to what it waits for that we know of. */
    private static boolean stands(Entry entry, Session session) {
        return entry.state == Entry.State.QUEUED
                && entry.listed != 0
                && !entry.closed
                && session.watches.isAwaiting(entry);
    }

    private Answer refresh(
            Claim claim, Session session, Map<String, OpResult.GetDataResult> seen, Map<String, Listing> listings) {
        Entry entry = desk.entries.get(claim.id());
        if (entry == null || entry.state == Entry.State.NEW) {
            return desk.refused(Answer.Why.GONE, "");
        }
        entry.lock.lock();
        try {
            if (entry.state == Entry.State.ENDED || !entry.isIn(session)) {
                return desk.refused(Answer.Why.GONE, "");
            }
            if (claim.stray()) {
                entry.claim = entry.claim.asStray();
            }
            if (entry.endsAt <= desk.ticker.nanos() && ending.expire(entry, session)) {
                return desk.refused(Answer.Why.GONE, "");
            }
            if (entry.state == Entry.State.QUEUED) {
                desk.endsAt(
                        entry, desk.ticker.nanos() + claim.terms().patience().toNanos());
            }
            Supplier<Listing> listing =
                    () -> listings.computeIfAbsent(entry.parent, parent -> looking.list(entry, session));
            Answer same = waitsOn(entry, session, seen, listing);
            return same != null ? same : looking.look(entry, session, listing);
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
        if (name.getStat().getPzxid() != entry.listed && !looking.waitsOn(entry, listing.get())) {
            return null;
        }
        List<String> unread =
                entry.front.stream().filter(path -> !seen.containsKey(path)).toList();
        seen.putAll(Names.readMany(session, unread));
        List<Names.Seen> front = new ArrayList<>(entry.front.size());
        for (String path : entry.front) {
            OpResult.GetDataResult holder = seen.get(path);
            if (holder == null) {
                return null;
            }
            front.add(Names.seen(path, holder));
        }
        Names.Front now = desk.names.evictOverdue(session, front);
        return now.evicted() ? null : looking.queued(entry, now.nextEnd());
    }
}
