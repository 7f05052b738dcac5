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
import java.util.function.Supplier;
import org.apache.zookeeper.Op;
import org.jspecify.annotations.Nullable;

/**
 * How a claim that has a node finds out whether it is its turn: a listing says who is before it, and it watches the
 * nearest one that conflicts. It is granted when nothing is left before it, according to a listing or because that node
 * was deleted, and in no other way.
 */
final class TurnCheck {
    /** How long after the waiter before it a waiter checks whether the name has opened. */
    private static final long BETWEEN_LOOKS = 100_000_000;

    /** Steps of others can make us start again, but not forever. */
    private static final int ATTEMPTS = 100;

    private final ClientState clientState;
    private final ClaimRemoval claimRemoval;

    TurnCheck(ClientState clientState, ClaimRemoval claimRemoval) {
        this.clientState = clientState;
        this.claimRemoval = claimRemoval;
    }

    Answer conflict(ClaimNode other) {
        String use = other.mode() == Mode.PERMITS ? "a semaphore of " + other.limit() : "a lock";
        return clientState.refused(Answer.Why.CONFLICT, use);
    }

    /** To a claim that would not wait. Nobody reads who is in its way, so nothing is read to find that out. */
    Answer busy() {
        return clientState.refused(Answer.Why.BUSY, "");
    }

    /**
     * Finds the place of a claim whose node was created just now, by a listing that was requested right after it: a
     * grant needs no confirmation, and a claim that would not wait, or uses the name in another way than those before
     * it, is removed again.
     */
    Answer enter(Entry entry, Session session, CompletableFuture<Reply> asked) {
        return look(entry, session, true, () -> listed(entry, session, asked));
    }

    /** Finds the place of a claim that has a node, and watches what it waits for. */
    Answer look(Entry entry, Session session) {
        return look(entry, session, () -> list(entry, session));
    }

    /**
     * As {@link #look(Entry, Session)}.
     *
     * @param first the listing to begin with: younger than the claim's node, and perhaps used for other claims as well
     */
    Answer look(Entry entry, Session session, Supplier<Listing> first) {
        return look(entry, session, false, first);
    }

    Listing list(Entry entry, Session session) {
        return listed(entry, session, session.children(entry.parent));
    }

    private Listing listed(Entry entry, Session session, CompletableFuture<Reply> asked) {
        return clientState.nameNodes.listed(session, entry.parent, asked).orElse(Listing.EMPTY);
    }

    private Answer look(Entry entry, Session session, boolean entering, Supplier<Listing> first) {
        if (!clientState.settle(entry, session)) {
            clientState.gone(entry);
            return clientState.refused(Answer.Why.GONE, "");
        }
        for (int i = 0; i < ATTEMPTS; i++) {
            Listing listing = i == 0 ? first.get() : list(entry, session);
            int index = listing.indexOf(entry.theNode());
            if (index < 0) {
                clientState.gone(entry);
                return clientState.refused(Answer.Why.GONE, "");
            }
            if (entry.state == Entry.State.GRANTED) {
                return clientState.granted(entry);
            }
            Answer decided = decide(entry, session, entering, listing, index);
            if (decided != null) {
                return decided;
            }
        }
        throw new StoreUnavailableException("the queue changed too often while it was looked at", null);
    }

    /** What a listing says of a claim; null when it must be listed again. */
    private @Nullable Answer decide(Entry entry, Session session, boolean entering, Listing listing, int index) {
        Terms terms = entry.claim.terms();
        ClaimNode first = listing.nodes().get(0);
        if (entering && index > 0 && !first.agreesWith(terms.mode(), terms.limit())) {
            claimRemoval.remove(entry, session, false);
            clientState.forget(entry);
            return conflict(first);
        }
        long closed = clientState.lockDelay.closedFor(session, entry.parent, listing);
        if (closed <= 0 && listing.isOpenTo(entry.theNode(), index)) {
            grant(entry, session, entering);
            return clientState.granted(entry);
        }
        if (!terms.queue()) {
            claimRemoval.remove(entry, session, false);
            clientState.forget(entry);
            return busy();
        }
        List<NameNodes.Seen> holders = watch(entry, session, listing, index).orElse(null);
        if (holders == null && !entering) {
            return null;
        }
        entry.ahead = ahead(session, entry.parent, listing, index, closed);
        entry.closed = closed > 0;
        if (holders == null) {
            // It joined the queue after another claim, and others have seen it there: it is notified later, like all
            // waiters.
            entry.listed = 0;
            clientState.lookLater(entry);
            return queued(entry, NameNodes.NEVER);
        }
        entry.listed = listing.changed();
        NameNodes.Front front = clientState.nameNodes.evictOverdue(session, holders);
        return front.evicted() ? null : queued(entry, closed > 0 ? closed : front.nextEnd());
    }

    /**
     * Applies a new listing to a waiting claim that still waits for exactly the nodes that it watches; false when there
     * is more to find out.
     */
    boolean waitsOn(Entry entry, Listing listing) {
        int index = listing.indexOf(entry.theNode());
        if (index < 0 || !listing.orphans().isEmpty() || listing.isOpenTo(entry.theNode(), index)) {
            return false;
        }
        List<String> awaited = paths(entry, listing.awaitedBy(entry.theNode(), index));
        if (awaited.size() != entry.awaited.size() || !entry.awaited.containsAll(awaited)) {
            return false;
        }
        entry.ahead = index - Math.min(index, listing.front());
        entry.front = paths(entry, NameNodes.front(listing));
        entry.listed = listing.changed();
        return true;
    }

    /** The answer that the claim has to wait for as many others as were found at the last check. */
    Answer queued(Entry entry, long opens) {
        long slow = entry.claim.terms().patience().toNanos() / 3;
        long wait = Math.min(slow, Math.max(0, opens) + entry.ahead * BETWEEN_LOOKS);
        return new Answer.Queued(entry.ahead, Duration.ofNanos(wait), clientState.time());
    }

    /** How many wait before the claim at this place. */
    private int ahead(Session session, String parent, Listing listing, int index, long closed) {
        int front = Math.min(index, listing.front());
        if (closed <= 0) {
            return index - front;
        }
        long holders = clientState
                .nameNodes
                .readAll(session, parent, listing.nodes().subList(0, front))
                .stream()
                .filter(seen -> seen.data().state() != NodeData.State.QUEUED)
                .count();
        return index - (int) holders;
    }

    /**
     * Watches what the claim waits for, and reads the front, at the same time; empty when one that is awaited has gone.
     * Nodes that this client watches already are not read again, except one that is the only one awaited: its data
     * decides whether its deletion is the grant.
     */
    private Optional<List<NameNodes.Seen>> watch(Entry entry, Session session, Listing listing, int index) {
        List<ClaimNode> awaited = listing.awaitedBy(entry.theNode(), index);
        List<String> paths = paths(entry, awaited);
        entry.front = paths(entry, NameNodes.front(listing));
        entry.lastBefore = null;
        entry.lastBeforeSince = session.watches.disconnects();
        List<String> unwatched = session.watches.await(entry, paths);
        Map<String, NameNodes.Seen> seen = new LinkedHashMap<>();
        try {
            if (!read(entry, session, paths.size() == 1 ? paths : unwatched, seen)) {
                return Optional.empty();
            }
        } catch (StoreUnavailableException e) {
            unwatched.forEach(session.watches::unwatched);
            session.watches.await(entry, List.of());
            throw e;
        }
        NameNodes.Seen last = paths.size() == 1 ? seen.get(paths.get(0)) : null;
        if (last != null
                && last.data().lockDelay() == 0
                && listing.isNextAfter(awaited.get(0), entry.theNode(), index)) {
            entry.lastBefore = last.path();
            entry.lastBeforeIsOurs = last.stat().getEphemeralOwner() == session.id;
        }
        seen.keySet().retainAll(entry.front);
        return Optional.of(List.copyOf(seen.values()));
    }

    private static List<String> paths(Entry entry, List<ClaimNode> nodes) {
        return nodes.stream().map(node -> entry.parent + "/" + node.name()).toList();
    }

    /** Reads nodes with a watch, and the front without; false when one of those to be watched has gone. */
    private boolean read(Entry entry, Session session, List<String> watched, Map<String, NameNodes.Seen> seen) {
        Map<String, CompletableFuture<Reply>> reads = new LinkedHashMap<>();
        watched.forEach(path -> reads.put(path, session.read(path, session.watches)));
        List<String> others =
                entry.front.stream().filter(path -> !reads.containsKey(path)).toList();
        boolean isThere = true;
        for (Map.Entry<String, CompletableFuture<Reply>> read : reads.entrySet()) {
            Optional<NameNodes.Seen> found = NameNodes.seen(session, read.getKey(), read.getValue());
            found.ifPresent(s -> seen.put(read.getKey(), s));
            if (found.isEmpty()) {
                session.watches.gone(read.getKey(), entry);
                isThere = false;
            }
        }
        if (isThere) {
            NameNodes.readMany(session, others).forEach((path, found) -> seen.put(path, NameNodes.seen(path, found)));
        }
        return isThere;
    }

    /** It is the claim's turn. */
    void grant(Entry entry, Session session, boolean confirmed) {
        Terms terms = entry.claim.terms();
        long now = clientState.ticker.nanos();
        long since = session.leaderTime().now(now);
        NodeData data = entry.data
                .as(
                        confirmed ? NodeData.State.GRANTED : NodeData.State.UNCONFIRMED,
                        terms.lease().toMillis(),
                        confirmed && session.keeps(terms.lease()))
                .withTokens(entry.data.token(), entry.data.block(), since);
        if (confirmed) {
            // Anyone who inspects the name from now on sees a hold.
            List<Op> ops = new ArrayList<>(2);
            if (data.lockDelay() > 0) {
                ops.add(LockDelay.arm(session, entry.marker(), data.lockDelay()));
            }
            ops.add(Op.setData(entry.path(), data.bytes(), entry.version));
            entry.hasMarker = data.lockDelay() > 0;
            entry.pending = session.multi(ops);
            if (!clientState.settle(entry, session)) {
                throw new StoreUnavailableException("the claim was deleted while it was being granted", null);
            }
        } else if (terms.mode() != Mode.EXCLUSIVE) {
            // For those that inspect the name or wait for us; there is no need to wait for the answer.
            entry.pending = session.write(entry.path(), data.bytes(), entry.version);
        }
        entry.data = data;
        entry.state = Entry.State.GRANTED;
        clientState.endsAt(entry, now + (confirmed ? terms.lease() : terms.firstLease()).toNanos());
    }

    /**
     * A node that we wait for has changed, or gone; notifies the client if that grants the claim. Its deletion is the
     * grant only on the connection on which it was read: after a disconnect it may have been written before it was
     * deleted, and a listing decides. And a node of our own session may go because the session ends, and our claim's
     * node with it: so there only our own release is a grant.
     */
    void wake(Entry entry, Session session, Watches.Change change) {
        entry.lock.lock();
        try {
            if (entry.state != Entry.State.QUEUED || !entry.isIn(session)) {
                return;
            }
            if (entry.endsAt <= clientState.ticker.nanos()) {
                return; // nobody waits any more: it is removed soon
            }
            String deleted = change.deleted();
            boolean isGrant = deleted != null
                    && deleted.equals(entry.lastBefore)
                    && change.disconnects() == entry.lastBeforeSince
                    && (change.byUs() || !entry.lastBeforeIsOurs);
            if (isGrant) {
                grant(entry, session, false);
            } else {
                look(entry, session);
            }
            if (entry.state == Entry.State.GRANTED) {
                Answer.Granted granted = clientState.granted(entry);
                clientState.tell(entry.claim.id().client(), s -> s.granted(entry.claim.id(), granted));
            }
        } finally {
            entry.lock.unlock();
        }
    }
}
