// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import io.lockkeeper.LeaseLost.Reason;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.ClaimId;
import io.lockkeeper.spi.Renewal;
import io.lockkeeper.spi.Renewals;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * Keeps alive what this keeper has in the store: all holds and all queued claims, in one pass of one timer, one request a
 * lane. A pass first ends what is past its validity (a late timer tells loss, it never renews and hopes), then what
 * nobody can release any more, and then sends what is due, taking along what soon will be. While a lane does not answer,
 * its holds run towards their end; other lanes are not touched.
 */
final class Renewer implements Timer.Pass {
    private static final long SHORTEST_PAUSE = 20_000_000;
    private static final long LONGEST_PAUSE = 500_000_000;

    private final Keeper keeper;
    private final Map<ClaimId, Hold> holds = new ConcurrentHashMap<>();
    private final Map<ClaimId, Pending> queued = new ConcurrentHashMap<>();
    private final Set<Object> busyLanes = ConcurrentHashMap.newKeySet();

    private static final class Batch {
        final List<Hold> holds = new ArrayList<>();
        final List<Pending> queued = new ArrayList<>();
        boolean isDue;
    }

    Renewer(Keeper keeper) {
        this.keeper = keeper;
    }

    void add(Hold hold) {
        holds.put(hold.grant.claim().id(), hold);
        keeper.timer().wakeBy(Math.min(hold.renewAt, hold.tellsAt()));
    }

    void remove(Hold hold) {
        holds.remove(hold.grant.claim().id(), hold);
    }

    void addQueued(Pending p) {
        p.isRefreshed = true;
        queued.put(p.claim.id(), p);
        keeper.timer().wakeBy(p.refreshAt);
    }

    void removeQueued(Pending p) {
        queued.remove(p.claim.id(), p);
    }

    @Nullable
    Hold hold(ClaimId id) {
        return holds.get(id);
    }

    List<Hold> holds() {
        return List.copyOf(holds.values());
    }

    List<Pending> queued() {
        return List.copyOf(queued.values());
    }

    /** Signals may have been lost: ask about everything that is queued. */
    void refreshAll() {
        queued.values().forEach(p -> p.refreshAt = 0);
        keeper.timer().wakeBy(0);
    }

    @Override
    public long run(long now) {
        Map<Object, Batch> batches = new HashMap<>();
        long next = Long.MAX_VALUE;
        for (Hold hold : holds.values()) {
            if (now >= hold.tellAt || hold.isCutOff(now)) {
                hold.runOut(hold.reasonAtEnd());
            } else if (isAbandoned(hold)) {
                hold.runOut(Reason.OWNER_DIED);
            } else {
                if (hold.becomesLate(now)) {
                    atRisk(hold, now);
                }
                next = Math.min(next, Math.min(hold.tellsAt(), hold.expectedBy(now)));
                if (!hold.renewing && hold.renewAt != Long.MAX_VALUE) {
                    next = Math.min(next, consider(hold, now, batches));
                }
            }
        }
        for (Pending p : queued.values()) {
            if (!p.refreshing) {
                next = Math.min(next, consider(p, now, batches));
            }
        }
        for (Map.Entry<Object, Batch> entry : batches.entrySet()) {
            Batch batch = entry.getValue();
            if (batch.isDue && busyLanes.add(entry.getKey())) {
                send(entry.getKey(), batch);
            }
        }
        return next;
    }

    private static boolean isAbandoned(Hold hold) {
        synchronized (hold.queue) {
            for (Possession possession : hold.possessions()) {
                if (!possession.isAbandoned()) {
                    return false;
                }
            }
            return !hold.possessions().isEmpty();
        }
    }

    /** Puts a hold into its lane's batch if it is due, or soon will be; answers when it is. */
    private long consider(Hold hold, long now, Map<Object, Batch> batches) {
        long soon = hold.settings.lease().toNanos() / 10;
        return put(hold.lane, hold.renewAt, soon, now, batches, batch -> batch.holds.add(hold));
    }

    private long consider(Pending p, long now, Map<Object, Batch> batches) {
        long soon = keeper.config().patience().toNanos() / 10;
        return put(p.lane, p.refreshAt, soon, now, batches, batch -> batch.queued.add(p));
    }

    private long put(
            Object lane,
            long at,
            long soon,
            long now,
            Map<Object, Batch> batches,
            java.util.function.Consumer<Batch> into) {
        boolean isBusy = busyLanes.contains(lane);
        if (!isBusy && at - soon <= now) {
            Batch batch = batches.computeIfAbsent(lane, l -> new Batch());
            into.accept(batch);
            batch.isDue |= at <= now;
        }
        return at <= now || isBusy
                ? Long.MAX_VALUE
                : at; // what is sent, or waits for its lane, wakes us when it is back
    }

    private void send(Object lane, Batch batch) {
        batch.holds.forEach(h -> h.renewing = true);
        batch.queued.forEach(p -> p.refreshing = true);
        try {
            keeper.lanes().executeRenewal(lane, () -> {
                try {
                    renew(lane, batch);
                } finally {
                    batch.holds.forEach(h -> h.renewing = false);
                    batch.queued.forEach(p -> p.refreshing = false);
                    busyLanes.remove(lane);
                    keeper.timer().wakeBy(0);
                }
            });
        } catch (RejectedExecutionException e) {
            busyLanes.remove(lane); // the keeper is being closed, and ends all of it
        }
    }

    private void renew(Object lane, Batch batch) {
        long sent = keeper.ticker().nanos();
        List<Renewals.Hold> held = new ArrayList<>(batch.holds.size());
        batch.holds.removeIf(h -> h.state != Hold.State.HELD);
        for (Hold hold : batch.holds) {
            held.add(new Renewals.Hold(hold.grant, hold.cap(hold.settings.lease(), sent), 0));
        }
        List<io.lockkeeper.spi.Claim> waiting = new ArrayList<>(batch.queued.size());
        for (Pending p : batch.queued) {
            waiting.add(p.claim);
        }
        if (held.isEmpty() && waiting.isEmpty()) {
            return; // all have been released meanwhile
        }
        Renewal renewal;
        try {
            renewal = keeper.steps().renew(lane, new Renewals(held, waiting), sent);
        } catch (StoreUnavailableException e) {
            failed(batch, e);
            return;
        } catch (RuntimeException | Error e) {
            Events.LOG.log(Level.ERROR, "a renewal failed", e);
            failed(batch, new StoreUnavailableException("a renewal failed: " + e, e));
            return;
        }
        for (int i = 0; i < batch.holds.size(); i++) {
            Hold hold = batch.holds.get(i);
            hold.failing = false;
            hold.renewed(new Steps.Renewed(renewal.holds().get(i), sent));
        }
        for (int i = 0; i < batch.queued.size(); i++) {
            refreshed(batch.queued.get(i), renewal.queued().get(i), sent);
        }
    }

    private void refreshed(Pending p, Answer answer, long sent) {
        if (answer instanceof Answer.Queued stands) {
            p.queued(stands, sent, keeper.ticker().nanos());
        } else if (answer instanceof Answer.Granted granted) {
            p.queue.granted(p, granted, sent);
        } else {
            p.queue.evicted(p);
        }
    }

    private void atRisk(Hold hold, long now) {
        Duration left = Duration.ofNanos(Math.max(0, hold.tellsAt() - now));
        keeper.events().tell(l -> l.atRisk(hold.grant.claim().name(), hold.grant.token(), left));
    }

    private void failed(Batch batch, StoreUnavailableException e) {
        long now = keeper.ticker().nanos();
        for (Hold hold : batch.holds) {
            long pause = hold.settings.lease().toNanos() / 20;
            hold.renewAt = now + Math.max(SHORTEST_PAUSE, Math.min(pause, LONGEST_PAUSE));
            if (!hold.failing) {
                hold.failing = true;
                atRisk(hold, now);
            }
        }
        for (Pending p : batch.queued) {
            p.refreshAt = now + LONGEST_PAUSE / 2;
            if (!e.worthRepeating()
                    || now - p.lastContact >= keeper.config().patience().toNanos()) {
                p.queue.giveUp(p, e);
            }
        }
    }
}
