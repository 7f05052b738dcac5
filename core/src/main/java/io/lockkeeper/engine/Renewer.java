// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import io.lockkeeper.LeaseLost.Reason;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.Renewal;
import io.lockkeeper.spi.Renewals;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/**
 * Keeps alive what this keeper has in the store: all holds and all queued claims, in one pass of one timer. A pass first
 * ends what is past its validity (a late timer reports loss, it never renews and hopes), then what nobody can release any
 * more, and then sends what is due, taking along what soon will be. Holds go in one request per lane; queued claims go in
 * others, on another thread, so that many waiters never delay a renewal. A record that cannot be renewed, such as a damaged
 * one, costs the others of its request nothing: from then on it is asked about alone. While a lane does not answer, its holds run
 * towards their end; other lanes are not touched.
 */
final class Renewer implements Timer.Pass {
    private static final long SHORTEST_PAUSE = 20_000_000;
    private static final long LONGEST_PAUSE = 500_000_000;

    /** More queued claims than this are refreshed in several requests, so that each is answered in time. */
    private static final int MOST_QUEUED = 500;

    /**
     * A request that fails because of one record is divided until that one is found; after that many failures in a row it is
     * the store that fails.
     */
    private static final int MOST_FAILURES = 16;

    private final Keeper keeper;

    private static final class Batch {
        final List<Hold> holds = new ArrayList<>();
        final List<OpenClaim> queued = new ArrayList<>();
        boolean holdsAreDue;
        boolean queuedAreDue;
    }

    Renewer(Keeper keeper) {
        this.keeper = keeper;
    }

    /** A hold is to be renewed; until then nobody looked after it. */
    void keep(Hold hold) {
        hold.claim.hold = hold;
        if (hold.validity.renewAt() != Long.MAX_VALUE) {
            hold.lane.renewals.prepare();
        }
        keeper.timer().wakeBy(Math.min(hold.validity.renewAt(), hold.validity.deadline()));
    }

    /** A claim is queued, and to be refreshed. */
    void refresh(OpenClaim c) {
        keeper.timer().wakeBy(c.refreshAt);
    }

    /** Signals may have been lost, and with a restart of the store whatever it had: ask about everything. */
    void askAboutAll() {
        long now = keeper.ticker().nanos();
        for (OpenClaim c : keeper.claims().all()) {
            c.doubt(now);
            Hold hold = c.hold;
            if (hold != null) {
                hold.validity.ask(now);
            } else {
                c.ask(now);
            }
        }
        keeper.timer().wakeBy(0);
    }

    @Override
    public long run(long now) {
        Map<Lane, Batch> batches = new HashMap<>();
        long next = Long.MAX_VALUE;
        for (OpenClaim c : keeper.claims().all()) {
            try {
                Hold hold = c.hold;
                long due = hold != null ? consider(hold, now, batches) : consider(c, now, batches);
                next = Math.min(next, due);
            } catch (Throwable e) {
                Log.error("could not look after " + Printable.quoted(c.claim.name()), e);
                next = Math.min(next, now + LONGEST_PAUSE);
            }
        }
        batches.forEach(this::send);
        return next;
    }

    /** Ends a hold, or puts it into its lane's batch if it is due or soon will be; answers when to look at it again. */
    private long consider(Hold hold, long now, Map<Lane, Batch> batches) {
        if (hold.state != Hold.State.HELD) {
            return Long.MAX_VALUE; // it is being released
        }
        if (!hold.validity.lasts(now)) {
            hold.runOut(hold.reasonAtEnd());
            return Long.MAX_VALUE;
        }
        if (hold.isAbandoned(now)) {
            hold.runOut(Reason.OWNER_DIED);
            return Long.MAX_VALUE;
        }
        if (hold.validity.becomesLate(now)) {
            keeper.events().atRisk(hold, now);
        }
        long next = Math.min(hold.validity.deadline(), hold.validity.expectedBy(now));
        long at = hold.validity.renewAt();
        if (at == Long.MAX_VALUE || hold.renewing || hold.lane.renewing) {
            return next; // what waits for its lane wakes us when that is back
        }
        if (at - hold.settings.lease().toNanos() / 10 <= now) {
            Batch batch = batches.computeIfAbsent(hold.lane, l -> new Batch());
            batch.holds.add(hold);
            batch.holdsAreDue |= at <= now;
        }
        return at <= now ? next : Math.min(next, at);
    }

    private long consider(OpenClaim c, long now, Map<Lane, Batch> batches) {
        long at = c.refreshAt;
        if (at == Long.MAX_VALUE || c.refreshing || c.lane.refreshing || c.isEnding()) {
            return Long.MAX_VALUE;
        }
        if (at - keeper.config().patience().toNanos() / 20 <= now) {
            Batch batch = batches.computeIfAbsent(c.lane, l -> new Batch());
            batch.queued.add(c);
            batch.queuedAreDue |= at <= now;
        }
        return at <= now ? Long.MAX_VALUE : at;
    }

    private void send(Lane lane, Batch batch) {
        if (batch.holdsAreDue) {
            lane.renewing = true;
            batch.holds.forEach(h -> h.renewing = true);
            boolean accepted = false;
            try {
                accepted = lane.renewals.execute(() -> renewAll(lane, batch.holds));
            } finally {
                if (!accepted) {
                    renewalIsOver(lane, batch.holds);
                }
            }
        }
        if (batch.queuedAreDue) {
            lane.refreshing = true;
            batch.queued.forEach(c -> c.refreshing = true);
            boolean accepted = false;
            try {
                accepted = lane.refreshes.execute(() -> refreshAll(lane, batch.queued));
            } finally {
                if (!accepted) {
                    refreshIsOver(lane, batch.queued);
                }
            }
        }
    }

    private void renewalIsOver(Lane lane, List<Hold> all) {
        all.forEach(h -> h.renewing = false);
        lane.renewing = false;
    }

    private void refreshIsOver(Lane lane, List<OpenClaim> all) {
        all.forEach(c -> c.refreshing = false);
        lane.refreshing = false;
    }

    // ---- On the lane's threads ----

    private void renewAll(Lane lane, List<Hold> all) {
        try {
            renew(lane, all.stream().filter(h -> h.state == Hold.State.HELD).toList());
        } finally {
            renewalIsOver(lane, all);
            keeper.timer().wakeBy(0);
        }
    }

    private void renew(Lane lane, List<Hold> holds) {
        List<List<Hold>> parts = new ArrayList<>();
        parts.add(holds.stream().filter(h -> !h.alone).toList());
        holds.stream().filter(h -> h.alone).forEach(h -> parts.add(List.of(h)));
        inParts(parts, part -> renewTogether(lane, part), (part, e) -> {
            unavailable(e);
            part.forEach(hold -> failed(hold, part.size() == 1 && mayConcernOne(e)));
        });
    }

    private void renewTogether(Lane lane, List<Hold> holds) {
        long sent = keeper.ticker().nanos();
        List<Renewals.Hold> held = new ArrayList<>(holds.size());
        for (Hold hold : holds) {
            held.add(new Renewals.Hold(hold.grant, hold.validity.leaseToAsk(sent), 0));
        }
        Renewal renewal = keeper.calls().renew(lane, new Renewals(held, List.of()), sent);
        for (int i = 0; i < holds.size(); i++) {
            Hold hold = holds.get(i);
            hold.failing = false;
            hold.alone = false;
            hold.renewed(new StoreCalls.Renewed(renewal.holds().get(i), sent));
        }
    }

    /**
     * Makes the request of each part. One that fails for a reason that may lie in a single record is divided, so that the others
     * in it do not suffer. Halves come before what is left, so that a few failures lead to a single record, and to one that can
     * be renewed, even if many are bad.
     */
    private static <T> void inParts(
            List<List<T>> wanted, Consumer<List<T>> request, BiConsumer<List<T>, Throwable> failed) {
        ArrayDeque<List<T>> parts = new ArrayDeque<>(wanted);
        int failuresInARow = 0;
        for (List<T> part = parts.poll(); part != null; part = parts.poll()) {
            if (part.isEmpty()) {
                continue; // all have been released meanwhile
            }
            try {
                request.accept(part);
                failuresInARow = 0;
            } catch (Throwable e) {
                failuresInARow++;
                if (part.size() > 1 && mayConcernOne(e) && failuresInARow <= MOST_FAILURES) {
                    unavailable(e); // for the log
                    int middle = part.size() / 2;
                    parts.addFirst(part.subList(middle, part.size()));
                    parts.addFirst(part.subList(0, middle));
                } else {
                    failed.accept(part, e);
                }
            }
        }
    }

    /** Whether a request may have failed because of one of the records that it is about, and not because of the store. */
    private static boolean mayConcernOne(Throwable e) {
        return !(e instanceof StoreUnavailableException outage) || !outage.worthRepeating() || outage.concernsOneName();
    }

    private void failed(Hold hold, boolean byItself) {
        hold.alone = byItself;
        long now = keeper.ticker().nanos();
        long pause = hold.settings.lease().toNanos() / 20;
        hold.validity.renewAt(now + Math.max(SHORTEST_PAUSE, Math.min(pause, LONGEST_PAUSE)));
        if (!hold.failing) {
            hold.failing = true;
            keeper.events().atRisk(hold, now);
        }
    }

    private void refreshAll(Lane lane, List<OpenClaim> all) {
        try {
            for (int i = 0; i < all.size(); i += MOST_QUEUED) {
                refresh(lane, all.subList(i, Math.min(i + MOST_QUEUED, all.size())));
            }
        } finally {
            refreshIsOver(lane, all);
            keeper.timer().wakeBy(0);
        }
    }

    private void refresh(Lane lane, List<OpenClaim> claims) {
        inParts(List.of(claims), part -> refreshTogether(lane, part), (part, e) -> {
            StoreUnavailableException cause = unavailable(e);
            part.forEach(c -> failed(c, cause));
        });
    }

    private void refreshTogether(Lane lane, List<OpenClaim> claims) {
        long sent = keeper.ticker().nanos();
        List<Claim> sentClaims = claims.stream().map(c -> c.claim).toList();
        Renewal renewal = keeper.calls().renew(lane, new Renewals(List.of(), sentClaims), sent);
        for (int i = 0; i < claims.size(); i++) {
            OpenClaim c = claims.get(i);
            c.queue.pending().refreshed(c, renewal.queued().get(i), sent);
        }
    }

    private void failed(OpenClaim c, StoreUnavailableException cause) {
        long now = keeper.ticker().nanos();
        c.failure = cause;
        c.refreshAt = now + LONGEST_PAUSE / 2;
        c.queue.pending().couldNotAsk(c, cause);
        if (!cause.worthRepeating()
                || now - c.lastContact >= keeper.config().patience().toNanos()) {
            c.queue.pending().giveUp(c, cause);
        }
    }

    private static StoreUnavailableException unavailable(Throwable e) {
        if (e instanceof StoreUnavailableException cause) {
            return cause;
        }
        Log.error("a renewal failed", e);
        return new StoreUnavailableException("a renewal failed: " + e, e);
    }
}
