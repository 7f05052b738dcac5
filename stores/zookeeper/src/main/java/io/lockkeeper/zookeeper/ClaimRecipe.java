// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.zookeeper;

import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.Terms;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;

/**
 * How a claim is made and granted.
 *
 * <p>A name that nobody uses has no node. So one transaction that creates the name's node and the claim's below it
 * succeeds exactly when no other claim is there: an uncontended claim is granted in one round trip. Otherwise the claim's node
 * is put at the end of those that are there, and one listing, sent right after it on the same connection, says which
 * ones it has to wait for: it watches the nearest one that conflicts, and lists again when that one is deleted, or takes
 * the deletion for the grant where no other claim can have come between.
 *
 * <p>Every transaction that makes a claim checks the session's fence and is made in that session. A grant is read off a
 * node that this session made, in this session: a node of an earlier session does not count.
 */
final class ClaimRecipe {
    private static final byte[] NAME_DATA = NodeData.VERSION.getBytes(StandardCharsets.UTF_8);

    /** Steps of others can make us start again, but not forever. */
    private static final int ATTEMPTS = 100;

    private final ClientState clientState;
    private final ClaimRemoval claimRemoval;
    private final TurnCheck turnCheck;

    ClaimRecipe(ClientState clientState, ClaimRemoval claimRemoval, TurnCheck turnCheck) {
        this.clientState = clientState;
        this.claimRemoval = claimRemoval;
        this.turnCheck = turnCheck;
    }

    /** See {@link io.lockkeeper.spi.LockStore#claim}. */
    Answer claim(Claim claim, Sessions sessions) {
        Entry entry;
        do {
            entry = clientState.entries.computeIfAbsent(
                    claim.id(), id -> new Entry(claim, clientState.layout.name(claim.name())));
            entry.lock.lock();
            if (entry.state == Entry.State.ENDED) {
                entry.lock.unlock();
            }
        } while (entry.state == Entry.State.ENDED);
        try {
            entry.claim = entry.claim.stray() ? claim.asStray() : claim;
            return entry.state == Entry.State.NEW ? first(entry, sessions) : again(entry, sessions.current());
        } finally {
            if (entry.state == Entry.State.NEW && !entry.unknown) {
                clientState.forget(entry);
            }
            entry.lock.unlock();
        }
    }

    private Answer first(Entry entry, Sessions sessions) {
        Claim claim = entry.claim;
        if (!entry.unknown) {
            if (clientState.refusedIds.of(claim.id()).isPresent()) {
                return clientState.refused(Answer.Why.GONE, "");
            }
            if (claim.deadline().isPast(clientState.time())) {
                return clientState.refused(Answer.Why.LATE, "");
            }
        }
        Session session = sessions.current();
        if (entry.unknown) {
            if (claimRemoval.resolve(entry, session)) {
                return again(entry, session);
            }
            if (claim.deadline().isPast(clientState.time())) {
                return clientState.refused(Answer.Why.LATE, "");
            }
        }
        entry.session = session;
        if (entry.reserved.get() == 0) {
            clientState.reserve(entry);
        }
        return enter(entry, session);
    }

    /** Where a claim that has already been made stands. */
    private Answer again(Entry entry, Session session) {
        if (!entry.isIn(session)) {
            clientState.drop(entry);
            return clientState.refused(Answer.Why.GONE, "");
        }
        return turnCheck.look(entry, session);
    }

    private Answer enter(Entry entry, Session session) {
        boolean alone = !clientState.isBusy(entry.parent);
        for (int i = 0; i < ATTEMPTS; i++) {
            if (alone) {
                Reply reply = alone(entry, session);
                if (reply.isOk()) {
                    return clientState.granted(entry, entry.sent);
                }
                alone = !putRight(reply, entry, session);
            } else {
                Terms terms = entry.claim.terms();
                if (!terms.queue()) {
                    Optional<Answer> answer = tried(entry, session);
                    if (answer.isPresent()) {
                        return answer.get();
                    }
                }
                CompletableFuture<Reply> joined = send(entry, session, join(entry, session));
                CompletableFuture<Reply> listed = session.children(entry.parent);
                Reply reply = outcome(entry, session, joined);
                if (reply.isOk()) {
                    queued(entry, reply);
                    return turnCheck.enter(entry, session, listed);
                }
                alone = !putRight(reply, entry, session);
            }
        }
        throw new StoreUnavailableException("the name changed too often while it was claimed", null);
    }

    /** Claims a name that nobody uses. */
    private Reply alone(Entry entry, Session session) {
        Terms terms = entry.claim.terms();
        NodeData data = NodeData.of(terms, NodeData.State.GRANTED, session.keeps(terms.lease()));
        List<Op> ops = new ArrayList<>(5);
        ops.add(session.checkFence());
        ops.add(Op.create(entry.parent, NAME_DATA, session.acl(), CreateMode.CONTAINER));
        ops.add(create(entry, data, session));
        if (data.lockDelay() > 0) {
            ops.add(LockDelay.arm(session, entry.marker(), data.lockDelay()));
        }
        ops.add(Op.setData(entry.parent, NAME_DATA, -1)); // its result has the transaction's number and time
        Reply reply = outcome(entry, session, send(entry, session, ops));
        if (reply.isOk()) {
            made(entry, reply, 2);
            entry.hasMarker = data.lockDelay() > 0;
            entry.data = data;
            entry.state = Entry.State.GRANTED;
            clientState.endsAt(entry, entry.sent + terms.lease().toNanos());
        }
        return reply;
    }

    /** The operations that put the claim at the end of the queue. */
    private static List<Op> join(Entry entry, Session session) {
        NodeData data = NodeData.of(entry.claim.terms(), NodeData.State.QUEUED, false);
        return List.of(session.checkFence(), create(entry, data, session), Op.setData(entry.parent, NAME_DATA, -1));
    }

    private void queued(Entry entry, Reply reply) {
        made(entry, reply, 1);
        entry.data = NodeData.of(entry.claim.terms(), NodeData.State.QUEUED, false);
        entry.state = Entry.State.QUEUED;
        clientState.endsAt(entry, entry.sent + entry.claim.terms().patience().toNanos());
    }

    private static Op create(Entry entry, NodeData data, Session session) {
        String prefix = ClaimNode.prefix(entry.claim.id(), entry.claim.terms());
        return Op.create(entry.parent + "/" + prefix, data.bytes(), session.acl(), CreateMode.EPHEMERAL_SEQUENTIAL);
    }

    private CompletableFuture<Reply> send(Entry entry, Session session, List<Op> ops) {
        entry.unknown = true;
        entry.sent = clientState.ticker.nanos();
        boolean sent = false;
        try {
            CompletableFuture<Reply> reply = session.multi(ops);
            sent = true;
            return reply;
        } finally {
            if (!sent) {
                lookForItLater(entry);
            }
        }
    }

    /** The client that made the claim withdraws it; if that fails, too, we look for it then. */
    private void lookForItLater(Entry entry) {
        clientState.endsAt(
                entry, clientState.ticker.nanos() + entry.claim.terms().lease().toNanos());
    }

    private Reply outcome(Entry entry, Session session, CompletableFuture<Reply> sent) {
        Reply reply;
        try {
            reply = session.await(sent, "claim");
        } catch (StoreUnavailableException e) {
            boolean refused = sent.isDone() && !Failures.isUnknown(sent.join().code());
            entry.unknown = !refused;
            if (!refused) {
                lookForItLater(entry);
            }
            throw e;
        }
        entry.unknown = false;
        return reply;
    }

    private static void made(Entry entry, Reply reply, int step) {
        String path = reply.path(step);
        entry.node = ClaimNode.parse(path.substring(entry.parent.length() + 1)).orElseThrow();
        entry.czxid = reply.stat(reply.results().size() - 1).getMzxid();
        entry.version = 0;
    }

    /** Makes the next attempt possible; true when the claim should join the queue. */
    private boolean putRight(Reply reply, Entry entry, Session session) {
        if (reply.is(Code.NODEEXISTS)) {
            clientState.busy(entry.parent);
            return true;
        }
        if (reply.is(Code.BADVERSION)) {
            session.readFence();
            return clientState.isBusy(entry.parent);
        }
        if (reply.is(Code.NONODE)) {
            if (reply.failed() == 0) {
                session.end();
                throw new StoreUnavailableException("the session has expired", null);
            }
            if (clientState.isBusy(entry.parent)) {
                clientState.idle(entry.parent); // its last user has just gone
            } else {
                session.mkdirs(Layout.parent(entry.parent));
            }
            return false;
        }
        throw Failures.of(reply.code(), "claim");
    }

    /** The answer to a claim that would not wait and cannot be granted; empty when it may be tried. */
    private Optional<Answer> tried(Entry entry, Session session) {
        Terms terms = entry.claim.terms();
        ClaimNode asked =
                ClaimNode.parse(ClaimNode.prefix(entry.claim.id(), terms)).orElseThrow();
        session.sync(); // what was released before this must not be in the way
        for (int i = 0; i < ATTEMPTS; i++) {
            Optional<Listing> found = clientState.nameNodes.list(session, entry.parent);
            if (found.isEmpty()) {
                return Optional.empty();
            }
            Listing listing = found.get();
            List<NameNodes.Seen> front = clientState.nameNodes.readAll(session, entry.parent, NameNodes.front(listing));
            if (clientState.nameNodes.evictOverdue(session, front).evicted()) {
                continue;
            }
            if (!listing.nodes().isEmpty() && !listing.nodes().get(0).agreesWith(terms.mode(), terms.limit())) {
                return Optional.of(turnCheck.conflict(listing.nodes().get(0)));
            }
            long closed = clientState.lockDelay.closedFor(session, entry.parent, listing);
            boolean open =
                    closed <= 0 && listing.isOpenTo(asked, listing.nodes().size());
            return open ? Optional.empty() : Optional.of(turnCheck.busy());
        }
        return Optional.empty();
    }
}
