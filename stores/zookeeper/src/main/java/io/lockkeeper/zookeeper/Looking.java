// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.zookeeper;

import io.lockkeeper.Mode;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.Terms;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.Op;
import org.jspecify.annotations.Nullable;

/**
 * How a claim that has a node finds out whether it is its turn: a listing says who is before it, and it watches the nearest who
 * conflicts. It is let in when nobody is left, by what the listing says or by that one's going, and by nothing else.
 */
final class Looking {
    /** How long after the one before it a waiter looks whether the name has opened. */
    private static final long BETWEEN_LOOKS = 100_000_000;

    /** Steps of others can make us start again, but not for ever. */
    private static final int ATTEMPTS = 100;

    private final Desk desk;
    private final Ending ending;

    Looking(Desk desk, Ending ending) {
        this.desk = desk;
        this.ending = ending;
    }

    Answer conflict(ClaimNode other) {
        String use = other.mode() == Mode.PERMITS ? "a semaphore of " + other.limit() : "a lock";
        return desk.refused(Answer.Why.CONFLICT, use);
    }

    Answer busy(Session session, String parent, Listing listing, long closed) {
        if (listing.nodes().isEmpty()) {
            return desk.refused(Answer.Why.BUSY, closed > 0 ? "closed by a lock-delay" : "awaited by others");
        }
        String detail = desk.names.readAll(session, parent, listing.nodes().subList(0, 1)).stream()
                .findFirst()
                .map(seen -> "held by " + seen.data().client() + " since "
                        + Math.max(0, (session.leaderTime().now(desk.ticker.nanos()) - since(seen)) / 1_000) + " s")
                .orElse("awaited by others");
        return desk.refused(Answer.Why.BUSY, detail);
    }

    static long since(Names.Seen seen) {
        return seen.data().since() == 0 ? seen.stat().getCtime() : seen.data().since();
    }

    /**
     * Looks where a claim that has a node stands, and watches whom it waits for.
     *
     * @param asked a listing that has been asked for, if the claim was made just now: then a grant needs no confirmation, and
     *     a claim that would not wait, or uses the name in another way than those before it, goes again
     */
    Answer look(Entry entry, Session session, @Nullable CompletableFuture<Reply> asked) {
        if (!desk.settle(entry, session)) {
            desk.drop(entry);
            return desk.refused(Answer.Why.GONE, "");
        }
        Terms terms = entry.claim.terms();
        boolean entering = asked != null;
        CompletableFuture<Reply> children = asked;
        for (int i = 0; i < ATTEMPTS; i++) {
            children = children == null ? session.children(entry.parent) : children;
            Listing listing =
                    desk.names.listed(session, entry.parent, children).orElse(new Listing(List.of(), List.of()));
            children = null;
            int index = listing.indexOf(entry.theNode());
            if (index < 0) {
                desk.drop(entry);
                return desk.refused(Answer.Why.GONE, "");
            }
            if (entry.state == Entry.State.GRANTED) {
                return desk.granted(entry);
            }
            ClaimNode node = entry.theNode();
            if (entering && index > 0 && !listing.nodes().get(0).agreesWith(terms.mode(), terms.limit())) {
                ClaimNode other = listing.nodes().get(0);
                ending.remove(entry, session, false);
                desk.forget(entry);
                return conflict(other);
            }
            long closed = desk.names.closedFor(session, entry.parent, listing);
            if (closed <= 0 && listing.isOpenTo(node, index)) {
                letIn(entry, session, entering);
                return desk.granted(entry);
            }
            if (!terms.queue()) {
                Answer busy = busy(session, entry.parent, listing, closed);
                ending.remove(entry, session, false);
                desk.forget(entry);
                return busy;
            }
            List<Names.Seen> holders = watch(entry, session, listing, index).orElse(null);
            if (holders == null && !entering) {
                continue;
            }
            if (holders == null) {
                // It was put behind another, and others have seen it there: so it is told, as all who wait are.
                desk.lookLater(entry);
                return queued(entry, ahead(session, entry.parent, listing, index, closed), Names.NEVER);
            }
            Names.Front front = desk.names.evictOverdue(session, holders);
            if (!front.evicted()) {
                long opens = closed > 0 ? closed : front.nextEnd();
                return queued(entry, ahead(session, entry.parent, listing, index, closed), opens);
            }
        }
        throw new StoreUnavailableException("the queue changed too often while it was looked at", null);
    }

    private Answer queued(Entry entry, int ahead, long opens) {
        long slow = entry.claim.terms().patience().toNanos() / 3;
        long wait = Math.min(slow, Math.max(0, opens) + ahead * BETWEEN_LOOKS);
        return new Answer.Queued(ahead, Duration.ofNanos(wait), desk.time());
    }

    /** How many wait before the claim at this place. */
    private int ahead(Session session, String parent, Listing listing, int index, long closed) {
        int front = Math.min(index, listing.front());
        if (closed <= 0) {
            return index - front;
        }
        long holders = desk.names.readAll(session, parent, listing.nodes().subList(0, front)).stream()
                .filter(seen -> seen.data().state() != NodeData.State.QUEUED)
                .count();
        return index - (int) holders;
    }

    /** Watches whom the claim waits for, and reads who is in front, at once; empty when one that is awaited has gone. */
    private Optional<List<Names.Seen>> watch(Entry entry, Session session, Listing listing, int index) {
        List<ClaimNode> awaited = listing.awaitedBy(entry.theNode(), index);
        List<String> paths = new ArrayList<>(awaited.size());
        awaited.forEach(node -> paths.add(entry.parent + "/" + node.name()));
        desk.watches.await(entry, paths);
        entry.lastBefore = null;
        Map<String, CompletableFuture<Reply>> reads = new LinkedHashMap<>();
        paths.forEach(path -> reads.put(path, session.read(path, desk.watches)));
        List<String> front = new ArrayList<>();
        for (ClaimNode node : Names.front(listing)) {
            String path = entry.parent + "/" + node.name();
            front.add(path);
            reads.computeIfAbsent(path, p -> session.read(p, null));
        }
        Map<String, Names.Seen> seen = new LinkedHashMap<>();
        reads.forEach((path, read) -> Names.seen(session, path, read).ifPresent(s -> seen.put(path, s)));
        if (!seen.keySet().containsAll(paths)) {
            return Optional.empty();
        }
        Names.Seen last = paths.size() == 1 ? seen.get(paths.get(0)) : null;
        if (last != null
                && last.data().lockDelay() == 0
                && listing.isNextAfter(awaited.get(0), entry.theNode(), index)) {
            entry.lastBefore = last.path();
        }
        seen.keySet().retainAll(front);
        return Optional.of(List.copyOf(seen.values()));
    }

    /** It is the claim's turn. */
    void letIn(Entry entry, Session session, boolean confirmed) {
        Terms terms = entry.claim.terms();
        long now = desk.ticker.nanos();
        long since = session.leaderTime().now(now);
        NodeData data = entry.data
                .as(
                        confirmed ? NodeData.State.GRANTED : NodeData.State.UNCONFIRMED,
                        terms.lease().toMillis(),
                        false)
                .withTokens(entry.data.token(), entry.data.block(), since);
        if (confirmed) {
            // Whoever inspects the name from now on sees a hold.
            List<Op> ops = new ArrayList<>(2);
            if (data.lockDelay() > 0) {
                ops.add(Names.arm(session, entry.marker(), data.lockDelay()));
            }
            ops.add(Op.setData(entry.path(), data.bytes(), entry.version));
            entry.hasMarker = data.lockDelay() > 0;
            entry.pending = session.multi(ops);
            if (!desk.settle(entry, session)) {
                throw new StoreUnavailableException("the claim has gone while it was let in", null);
            }
        } else if (terms.mode() != Mode.EXCLUSIVE) {
            // Told to those who look or wait behind us; nobody needs to wait for it.
            entry.pending = session.write(entry.path(), data.bytes(), entry.version);
        }
        entry.data = data;
        entry.state = Entry.State.GRANTED;
        desk.endsAt(entry, now + (confirmed ? terms.lease() : terms.firstLease()).toNanos());
    }

    /** One that we wait for has changed, or gone; tells if that lets us in. */
    void wake(Entry entry, Session session, @Nullable String deleted) {
        entry.lock.lock();
        try {
            if (entry.state != Entry.State.QUEUED || !entry.isIn(session)) {
                return;
            }
            if (entry.endsAt <= desk.ticker.nanos()) {
                return; // nobody waits any more: it goes soon
            }
            if (deleted != null && deleted.equals(entry.lastBefore)) {
                letIn(entry, session, false);
            } else {
                look(entry, session, null);
            }
            if (entry.state == Entry.State.GRANTED) {
                Answer.Granted granted = desk.granted(entry);
                desk.tell(entry.claim.id().client(), s -> s.granted(entry.claim.id(), granted));
            }
        } finally {
            entry.lock.unlock();
        }
    }
}
