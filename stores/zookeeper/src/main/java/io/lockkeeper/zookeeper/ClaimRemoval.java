// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.zookeeper;

import io.lockkeeper.LeaseLost.Reason;
import io.lockkeeper.Mode;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.Grant;
import io.lockkeeper.spi.Terms;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.jspecify.annotations.Nullable;

/**
 * How a claim ends: released, withdrawn, or by itself. Its node is deleted only in the version that we know, so that a
 * break is never overlooked; the name's own node is deleted in the same transaction if no other claim is there.
 */
final class ClaimRemoval {
    private static final int ATTEMPTS = 100;

    private final ClientState clientState;

    ClaimRemoval(ClientState clientState) {
        this.clientState = clientState;
    }

    /** See {@link io.lockkeeper.spi.LockStore#release} and {@link io.lockkeeper.spi.LockStore#withdraw}. */
    boolean end(Claim claim, Sessions sessions) {
        Entry known = clientState.entries.get(claim.id());
        if (known == null) {
            if (claim.stray()) {
                clientState.refusedIds.keep(claim.id(), true, claim.deadline());
            }
            // Made by another client, or never: only the id identifies it.
            Entry other = new Entry(claim, clientState.layout.name(claim.name()));
            Session session = sessions.current();
            session.sync(); // what another did before this must be seen
            return find(other, session, true) && remove(other, session, false);
        }
        known.lock.lock();
        try {
            if (claim.stray()) {
                known.claim = known.claim.asStray();
            }
            if (known.state == Entry.State.ENDED) {
                return false;
            }
            Session session = sessions.current();
            boolean ended = false;
            if (known.state == Entry.State.NEW) {
                ended = resolve(known, session) && remove(known, session, false);
            } else if (known.isIn(session)) {
                ended = remove(known, session, false);
            }
            clientState.drop(known);
            return ended;
        } finally {
            known.lock.unlock();
        }
    }

    /**
     * Finds out what became of a claim whose outcome is unknown: raises the fence, so that no copy of it can be carried
     * out any more, then looks. If the connection breaks in between, a copy may have been on it, so this is repeated.
     */
    boolean resolve(Entry entry, Session session) {
        boolean found;
        do {
            session.settleFence();
            found = find(entry, session, false);
        } while (!found && !session.isSettled());
        entry.unknown = false;
        return found;
    }

    /**
     * Looks for the node of a claim.
     *
     * @param anybodys whether it counts no matter which session made it; otherwise only if this session did, and a node
     *     made by another session is removed
     */
    boolean find(Entry entry, Session session, boolean anybodys) {
        Listing listing = clientState.nameNodes.list(session, entry.parent).orElse(null);
        int index = listing == null ? -1 : listing.indexOf(entry.claim.id().toString());
        if (listing == null || index < 0) {
            return false;
        }
        ClaimNode node = listing.nodes().get(index);
        NameNodes.Seen seen = clientState
                .nameNodes
                .read(session, entry.parent + "/" + node.name())
                .orElse(null);
        if (seen == null) {
            return false;
        }
        entry.node = node;
        entry.czxid = seen.stat().getCzxid();
        entry.version = seen.stat().getVersion();
        entry.data = seen.data();
        entry.hasMarker = LockDelay.after(seen.data()) > 0;
        entry.unknown = false;
        entry.session = session;
        boolean ours = seen.stat().getEphemeralOwner() == session.id;
        if (ours || anybodys) {
            if (entry.state == Entry.State.NEW) {
                boolean held = seen.data().state() != NodeData.State.QUEUED;
                entry.state = held ? Entry.State.GRANTED : Entry.State.QUEUED;
                Terms terms = entry.claim.terms();
                // It was made no earlier than it was sent.
                clientState.endsAt(entry, entry.sent + (held ? terms.lease() : terms.patience()).toNanos());
            }
            return true;
        }
        remove(entry, session, false); // left over from a session that has ended
        return false;
    }

    /**
     * Deletes a claim's node and what belongs to it.
     *
     * @param overdue whether it ends by itself: then the name may stay closed
     * @return false when it was already gone
     */
    boolean remove(Entry entry, Session session, boolean overdue) {
        // Where the answer to a downgrade is missing, another node may be in its place, or come into it.
        if (entry.mayBeShared ? !resolve(entry, session) : !clientState.settle(entry, session)) {
            return false;
        }
        entry.mayBeShared = false;
        for (int i = 0; i < ATTEMPTS; i++) {
            NodeData data = entry.data;
            long delay = overdue ? LockDelay.after(data) : Math.max(0, data.recalled());
            boolean alone = delay == 0 && !clientState.isBusy(entry.parent);
            List<Op> ops = ops(entry, delay, alone);
            Reply reply = session.await(session.watches.delete(entry.path(), () -> session.multi(ops)), "release");
            switch (reply.code()) {
                case OK -> {
                    if (alone) {
                        clientState.idle(entry.parent);
                    } else if (delay == 0) {
                        session.delete(entry.parent, -1); // if no other claim is there
                    }
                    return true;
                }
                case NOTEMPTY -> clientState.busy(entry.parent);
                case BADVERSION -> {
                    if (!clientState.reread(entry, session)) {
                        return false;
                    }
                }
                case NONODE -> {
                    if (reply.failed() == 0 || !clientState.reread(entry, session)) {
                        return false;
                    }
                }
                default -> throw Failures.of(reply.code(), "release");
            }
        }
        throw new StoreUnavailableException("the name changed too often while it was released", null);
    }

    private static List<Op> ops(Entry entry, long delay, boolean alone) {
        List<Op> ops = new ArrayList<>(4);
        if (delay > 0) {
            // The write informs those that watch the node that this is not a release: they check again.
            ops.add(Op.setData(entry.path(), entry.data.bytes(), entry.version));
            ops.add(Op.delete(entry.path(), entry.version + 1));
            ops.add(Op.setData(entry.marker(), LockDelay.closed(delay), -1));
        } else {
            ops.add(Op.delete(entry.path(), entry.version));
            if (entry.hasMarker) {
                ops.add(Op.delete(entry.marker(), -1));
            }
            if (alone) {
                ops.add(Op.delete(entry.parent, -1));
            }
        }
        return ops;
    }

    /**
     * Ends a claim whose time is over: a hold that was not renewed, or a place in the queue that nobody refreshes.
     *
     * @return false when it could not be done now
     */
    boolean expire(Entry entry, @Nullable Session session) {
        if (!entry.lock.tryLock()) {
            return false;
        }
        try {
            if (entry.state == Entry.State.ENDED || entry.endsAt > clientState.ticker.nanos()) {
                return true;
            }
            if (session == null) {
                return false;
            }
            if (entry.state == Entry.State.NEW) {
                if (resolve(entry, session)) {
                    remove(entry, session, false);
                }
                clientState.drop(entry);
                return true;
            }
            boolean unconfirmed = entry.state == Entry.State.GRANTED && !entry.isConfirmed() && !entry.recalled;
            if (unconfirmed) {
                // Nobody took the grant up: do not grant the client's other claims one by one.
                dropOthers(entry, session);
            }
            if (entry.isIn(session) && remove(entry, session, entry.state == Entry.State.GRANTED)) {
                clientState.lost(entry, entry.recalled ? Reason.BROKEN : Reason.EXPIRED);
            } else {
                clientState.drop(entry); // released by another, or evicted
            }
            return true;
        } catch (StoreUnavailableException e) {
            return false;
        } finally {
            entry.lock.unlock();
        }
    }

    private void dropOthers(Entry entry, Session session) {
        for (Entry other : clientState.entries.values()) {
            if (other.parent.equals(entry.parent)
                    && other.state == Entry.State.QUEUED
                    && other.claim.id().client().equals(entry.claim.id().client())
                    && other.lock
                            .tryLock()) { // otherwise another thread is asking for it right now, so it is not forgotten
                try {
                    if (other.state == Entry.State.QUEUED && other.isIn(session)) {
                        remove(other, session, false);
                        clientState.drop(other);
                    }
                } finally {
                    other.lock.unlock();
                }
            }
        }
    }

    /** See {@link io.lockkeeper.spi.LockStore#downgrade}. */
    Optional<Grant> downgrade(Grant grant, Sessions sessions) {
        Entry entry = clientState.entries.get(grant.claim().id());
        if (entry == null) {
            return Optional.empty();
        }
        entry.lock.lock();
        try {
            Session session = sessions.current();
            if (entry.state != Entry.State.GRANTED || !entry.isIn(session) || !clientState.settle(entry, session)) {
                return Optional.empty();
            }
            if (entry.endsAt <= clientState.ticker.nanos() || entry.recalled) {
                return Optional.empty();
            }
            if (!share(entry, grant, session)) {
                return Optional.empty();
            }
            return Optional.of(
                    new Grant(grant.claim(), Mode.SHARED, entry.data.token(entry.czxid), entry.data.block()));
        } finally {
            entry.lock.unlock();
        }
    }

    /**
     * Puts a shared node in the very place of the exclusive one; if that was done before, checks whether it is still
     * there.
     */
    private boolean share(Entry entry, Grant grant, Session session) {
        if (entry.theNode().mode() == Mode.SHARED) {
            Op isThere = Op.check(entry.path(), entry.version);
            Reply reply = session.await(session.multi(List.of(session.checkFence(), isThere)), "downgrade");
            if (reply.is(Code.BADVERSION) && reply.failed() == 0) {
                session.readFence();
                return share(entry, grant, session);
            }
            return reply.isOk() || isShared(entry, session);
        }
        String name = entry.theNode().downgraded(entry.czxid);
        long left = NodeData.millis(java.time.Duration.ofNanos(entry.endsAt - clientState.ticker.nanos()));
        NodeData data = entry.data
                .as(entry.data.state(), left, entry.data.kept())
                .withTokens(grant.token() + 1, Math.max(1, grant.block() - 1), entry.data.since());
        entry.mayBeShared = true;
        Reply reply = session.await(
                session.multi(List.of(
                        session.checkFence(),
                        Op.setData(entry.path(), entry.data.bytes(), entry.version),
                        Op.delete(entry.path(), entry.version + 1),
                        Op.create(entry.parent + "/" + name, data.bytes(), session.acl(), CreateMode.EPHEMERAL))),
                "downgrade");
        if (reply.is(Code.BADVERSION) && reply.failed() == 0) {
            session.readFence();
            return share(entry, grant, session);
        }
        if (!reply.isOk()) {
            return isShared(entry, session); // an earlier copy of this step may have done it
        }
        entry.mayBeShared = false;
        entry.node = ClaimNode.parse(name).orElseThrow();
        entry.version = 0;
        entry.data = data;
        return true;
    }

    private boolean isShared(Entry entry, Session session) {
        return find(entry, session, false) && entry.theNode().mode() == Mode.SHARED && !entry.data.isRecalled();
    }
}
