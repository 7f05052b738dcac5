// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.zookeeper;

import io.lockkeeper.Guarantee;
import io.lockkeeper.LeaseLost.Reason;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.Renewal;
import io.lockkeeper.spi.Renewals;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.jspecify.annotations.Nullable;

/**
 * Renews holds. A hold whose lease is longer than the session says so in its node, as <em>kept</em>: its session keeps
 * it, and no clock but ours ends it earlier. A renewal only looks whether its node is still there, and as we wrote it,
 * together with the session's own nodes, in one request per some hundreds of holds. A hold with a shorter lease says by
 * a write how long it lasts. What is not renewed we end ourselves.
 */
final class ZooKeeperRenewal {
    private static final Renewal.Outcome EXPIRED = new Renewal.Lost(Reason.EXPIRED);

    private final ClientState clientState;
    private final ClaimRemoval claimRemoval;
    private final QueueRefresh queueRefresh;
    private final SessionMailbox mailbox;

    ZooKeeperRenewal(
            ClientState clientState, ClaimRemoval claimRemoval, QueueRefresh queueRefresh, SessionMailbox mailbox) {
        this.clientState = clientState;
        this.claimRemoval = claimRemoval;
        this.queueRefresh = queueRefresh;
        this.mailbox = mailbox;
    }

    Renewal renew(Renewals batch, Sessions sessions) {
        if (batch.holds().stream().anyMatch(hold -> hold.raiseTo() > 0)) {
            throw new UnsupportedOperationException("tokens are ZooKeeper's own: no " + Guarantee.RAISES_TOKENS);
        }
        long sent = clientState.ticker.nanos();
        Session session = sessions.current();
        List<Renewal.Outcome> holds = batch.holds().isEmpty() ? List.of() : renewHolds(batch.holds(), session, sent);
        List<Answer> queued = batch.queued().isEmpty() ? List.of() : queueRefresh.refresh(batch.queued(), session);
        return new Renewal(holds, queued, clientState.time());
    }

    private List<Renewal.Outcome> renewHolds(List<Renewals.Hold> batch, Session session, long sent) {
        Set<String> unwritten = new LinkedHashSet<>();
        for (Renewals.Hold hold : batch) {
            write(hold, session, sent, unwritten);
        }
        Map<String, OpResult.GetDataResult> there = look(unwritten, session);
        mailbox.readIfDue(session);
        List<Renewal.Outcome> outcomes = new ArrayList<>(batch.size());
        for (Renewals.Hold hold : batch) {
            outcomes.add(outcome(hold, session, sent, unwritten, there));
        }
        return outcomes.contains(EXPIRED) ? withReasons(outcomes, batch, session) : outcomes;
    }

    /** A message that a hold was broken arrives before the answer that its node is gone: now it can be read. */
    private List<Renewal.Outcome> withReasons(
            List<Renewal.Outcome> outcomes, List<Renewals.Hold> batch, Session session) {
        try {
            mailbox.readIfDue(session);
        } catch (StoreUnavailableException e) {
            return outcomes; // that they are lost is certain
        }
        List<Renewal.Outcome> all = new ArrayList<>(batch.size());
        for (int i = 0; i < batch.size(); i++) {
            all.add(outcomes.get(i).equals(EXPIRED) ? lost(batch.get(i)) : outcomes.get(i));
        }
        return all;
    }

    /** Those of these nodes that are there; ends the session if its own are not. */
    private Map<String, OpResult.GetDataResult> look(Set<String> nodes, Session session) {
        if (nodes.isEmpty()) {
            return Map.of();
        }
        List<String> own = List.of(clientState.layout.fence(session.id), clientState.layout.mailbox(session.id));
        Set<String> all = new LinkedHashSet<>(own);
        all.addAll(nodes);
        Map<String, OpResult.GetDataResult> there = NameNodes.readMany(session, all);
        if (!there.keySet().containsAll(own)) {
            session.end();
            throw new StoreUnavailableException("the session has expired, or nodes of it were deleted", null);
        }
        return there;
    }

    /** Sends what the hold's node has to say from now on; adds its path to {@code unwritten} when that is nothing new. */
    private void write(Renewals.Hold hold, Session session, long sent, Set<String> unwritten) {
        Entry entry = held(hold, session);
        if (entry == null) {
            return;
        }
        entry.lock.lock();
        try {
            if (entry.state != Entry.State.GRANTED
                    || entry.recalled
                    || isOver(entry)
                    || !clientState.settle(entry, session)) {
                return;
            }
            long ends = Math.max(entry.endsAt, sent + hold.lease().toNanos());
            Duration lasts = Duration.ofNanos(ends - sent);
            boolean kept = session.keeps(lasts);
            boolean isSaid = entry.isConfirmed()
                    && (ends == entry.endsAt
                            || (kept && entry.data.kept() && entry.data.lease() == NodeData.millis(lasts)));
            if (isSaid) {
                unwritten.add(entry.path());
                return;
            }
            NodeData data = entry.data.as(NodeData.State.GRANTED, NodeData.millis(lasts), kept);
            if (data.lockDelay() > 0 && !entry.hasMarker) {
                entry.pending = session.multi(List.of(
                        LockDelay.arm(session, entry.marker(), data.lockDelay()),
                        Op.setData(entry.path(), data.bytes(), entry.version)));
                entry.hasMarker = true;
            } else {
                entry.pending = session.write(entry.path(), data.bytes(), entry.version);
            }
            entry.data = data;
        } finally {
            entry.lock.unlock();
        }
    }

    private Renewal.Outcome outcome(
            Renewals.Hold hold,
            Session session,
            long sent,
            Set<String> looked,
            Map<String, OpResult.GetDataResult> there) {
        Entry entry = held(hold, session);
        if (entry == null) {
            return lost(hold);
        }
        entry.lock.lock();
        try {
            if (entry.state == Entry.State.GRANTED && isOver(entry)) {
                claimRemoval.expire(entry, session);
            }
            CompletableFuture<Reply> written = entry.pending;
            if (entry.state == Entry.State.GRANTED && isGone(entry, session, looked, there)) {
                clientState.gone(entry);
                return new Renewal.Lost(entry.data.kept() ? Reason.BROKEN : Reason.EXPIRED);
            }
            if (entry.state != Entry.State.GRANTED) {
                return lost(hold);
            }
            if (entry.recalled) {
                return new Renewal.Recalled();
            }
            if (written != null && !(written.isDone() && written.join().isOk())) {
                // One of our earlier writes came first, or this one's outcome is not known: now the version is right.
                throw new StoreUnavailableException("the renewal was not written", null);
            }
            clientState.endsAt(entry, Math.max(entry.endsAt, sent + hold.lease().toNanos()));
            return new Renewal.Kept(Duration.ofNanos(entry.endsAt - sent));
        } finally {
            entry.lock.unlock();
        }
    }

    private Renewal.Outcome lost(Renewals.Hold hold) {
        return new Renewal.Lost(clientState.isBroken(hold.grant().claim().id()) ? Reason.BROKEN : Reason.EXPIRED);
    }

    /**
     * Whether the hold's node was deleted by hand; it has another if it was downgraded since we looked. If it
     * was written to, we learn here whether that was a break: the message about it may have been lost.
     */
    private boolean isGone(
            Entry entry, Session session, Set<String> looked, Map<String, OpResult.GetDataResult> there) {
        if (!clientState.settle(entry, session)) {
            return true;
        }
        String path = entry.path();
        OpResult.GetDataResult found = there.get(path);
        boolean isAsWritten = found != null && found.getStat().getVersion() == entry.version;
        return looked.contains(path) && !isAsWritten && !clientState.reread(entry, session);
    }

    private boolean isOver(Entry entry) {
        return entry.endsAt <= clientState.ticker.nanos();
    }

    private @Nullable Entry held(Renewals.Hold hold, Session session) {
        Entry entry = clientState.entries.get(hold.grant().claim().id());
        return entry != null && entry.isIn(session) ? entry : null;
    }
}
