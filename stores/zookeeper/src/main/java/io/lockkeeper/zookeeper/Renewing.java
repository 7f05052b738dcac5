// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.zookeeper;

import io.lockkeeper.Guarantee;
import io.lockkeeper.LeaseLost.Reason;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.Renewal;
import io.lockkeeper.spi.Renewals;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.Op;
import org.jspecify.annotations.Nullable;

/**
 * How holds and places in queues are kept. A hold whose lease is longer than the session is written once, as <em>kept</em>:
 * from then on its session keeps it, and a renewal is one {@code sync} for all of them together. A hold with a shorter
 * lease, or one that is renewed for the last time, says by a write how long it lasts. What is not renewed we end ourselves.
 */
final class Renewing {
    private final Desk desk;
    private final Looking looking;
    private final Ending ending;
    private final Mail mail;

    Renewing(Desk desk, Looking looking, Ending ending, Mail mail) {
        this.desk = desk;
        this.looking = looking;
        this.ending = ending;
        this.mail = mail;
    }

    Renewal renew(Renewals batch, Sessions sessions) {
        if (batch.holds().stream().anyMatch(hold -> hold.raiseTo() > 0)) {
            throw new UnsupportedOperationException("tokens are ZooKeeper's own: no " + Guarantee.RAISES_TOKENS);
        }
        long sent = desk.ticker.nanos();
        Session session = sessions.current();
        boolean written = false;
        for (Renewals.Hold hold : batch.holds()) {
            written |= write(hold, session, sent);
        }
        CompletableFuture<Reply> sync = written && batch.queued().isEmpty() ? null : session.sync();
        if (sync != null) {
            session.await(sync, "renewal");
        }
        mail.readIfDue(session);
        List<Renewal.Outcome> holds = new ArrayList<>(batch.holds().size());
        for (Renewals.Hold hold : batch.holds()) {
            holds.add(outcome(hold, session, sent));
        }
        List<Answer> queued = new ArrayList<>(batch.queued().size());
        for (Claim claim : batch.queued()) {
            queued.add(refresh(claim, session));
        }
        return new Renewal(holds, queued, desk.time());
    }

    /** Sends what the hold's node has to say from now on; false when it is nothing new. */
    private boolean write(Renewals.Hold hold, Session session, long sent) {
        Entry entry = held(hold, session);
        if (entry == null) {
            return false;
        }
        entry.lock.lock();
        try {
            if (entry.state != Entry.State.GRANTED || entry.recalled || isOver(entry) || !desk.settle(entry, session)) {
                return false;
            }
            // A keeper that goes on renewing asks for the same lease each time; another one is an end that others must
            // know.
            boolean kept = hold.lease().toNanos() > session.timeout
                    && hold.lease().equals(entry.claim.terms().lease());
            if (kept && entry.data.kept() && entry.isConfirmed()) {
                return false;
            }
            long ends = Math.max(entry.endsAt, sent + hold.lease().toNanos());
            NodeData data = entry.data.as(NodeData.State.GRANTED, NodeData.millis(Duration.ofNanos(ends - sent)), kept);
            if (data.lockDelay() > 0 && !entry.hasMarker) {
                entry.pending = session.multi(List.of(
                        Names.arm(session, entry.marker(), data.lockDelay()),
                        Op.setData(entry.path(), data.bytes(), entry.version)));
                entry.hasMarker = true;
            } else {
                entry.pending = session.write(entry.path(), data.bytes(), entry.version);
            }
            entry.data = data;
            return true;
        } finally {
            entry.lock.unlock();
        }
    }

    private Renewal.Outcome outcome(Renewals.Hold hold, Session session, long sent) {
        Entry entry = held(hold, session);
        if (entry == null) {
            return new Renewal.Lost(Reason.EXPIRED);
        }
        entry.lock.lock();
        try {
            if (entry.state == Entry.State.GRANTED && isOver(entry)) {
                ending.expire(entry, session);
            }
            CompletableFuture<Reply> written = entry.pending;
            if (entry.state == Entry.State.GRANTED && !desk.settle(entry, session)) {
                desk.drop(entry);
            }
            if (entry.state != Entry.State.GRANTED) {
                return new Renewal.Lost(Reason.EXPIRED);
            }
            if (entry.recalled) {
                return new Renewal.Lost(Reason.BROKEN);
            }
            if (written != null && !written.join().isOk()) {
                // An earlier write of ours came first, whose outcome we did not know: now the version is right.
                throw new StoreUnavailableException("the renewal was not written", null);
            }
            desk.endsAt(entry, Math.max(entry.endsAt, sent + hold.lease().toNanos()));
            return new Renewal.Kept(Duration.ofNanos(entry.endsAt - sent));
        } finally {
            entry.lock.unlock();
        }
    }

    private boolean isOver(Entry entry) {
        return entry.endsAt <= desk.ticker.nanos();
    }

    private @Nullable Entry held(Renewals.Hold hold, Session session) {
        Entry entry = desk.entries.get(hold.grant().claim().id());
        return entry != null && entry.isIn(session) ? entry : null;
    }

    /** Keeps a place in the queue, and says where the claim stands. */
    private Answer refresh(Claim claim, Session session) {
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
            if (isOver(entry) && ending.expire(entry, session)) {
                return desk.refused(Answer.Why.GONE, "");
            }
            if (entry.state == Entry.State.QUEUED) {
                desk.endsAt(
                        entry, desk.ticker.nanos() + claim.terms().patience().toNanos());
            }
            return looking.look(entry, session, null);
        } finally {
            entry.lock.unlock();
        }
    }
}
