// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import io.lockkeeper.LeaseLost.Reason;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.model.Held;
import io.lockkeeper.model.NameState;
import io.lockkeeper.model.Waiting;
import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.NameCodec;
import io.lockkeeper.spi.Renewal;
import io.lockkeeper.spi.Renewals;
import io.lockkeeper.spi.StoreTime;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One renewal, on the connection that is kept for it. First all holds that are the first of their names, with one
 * UPDATE for all; places in queues with another; then what these did not find (one of several holders, a hold that is
 * lost, a claim that was granted), many names in one transaction. Of a name with many holders only those that are
 * renewed are loaded, so that hundreds of clients that hold it do not load each other.
 *
 * <p>A name that somebody else keeps locked holds up the others once, for the operation timeout at most: from then on
 * locked names are left out, and what is true of them in any case is reported.
 */
final class SqlRenewal {
    private static final int AT_ONCE = 256;

    /** Fewer where others must wait for us. */
    private static final int NAMES_AT_ONCE = 64;

    private final Connections connections;
    private final Sql sql;
    private final long incarnation;
    private final WakeUps wakeUps;
    private final Map<Renewals.Hold, Renewal.Outcome> outcomes = new HashMap<>();
    private final Map<Claim, Answer> answers = new HashMap<>();
    private @Nullable StoreTime at;
    private boolean isAlone;
    private boolean isRefresh;
    private boolean hurries;

    private static final class OfName {
        final List<Renewals.Hold> holds = new ArrayList<>();
        final List<Claim> queued = new ArrayList<>();
    }

    SqlRenewal(Connections connections, Sql sql, long incarnation, WakeUps wakeUps) {
        this.connections = connections;
        this.sql = sql;
        this.incarnation = incarnation;
        this.wakeUps = wakeUps;
    }

    Renewal run(Renewals batch) {
        if (!batch.holds().isEmpty()) {
            connections.keepOne();
        }
        isRefresh = batch.holds().isEmpty();
        isAlone = batch.holds().size() + batch.queued().size() == 1;
        Map<Duration, List<Renewals.Hold>> byLease = new LinkedHashMap<>();
        for (Renewals.Hold hold : batch.holds()) {
            if (hold.raiseTo() == 0) {
                byLease.computeIfAbsent(hold.lease(), l -> new ArrayList<>()).add(hold);
            }
        }
        byLease.forEach((lease, holds) -> inParts(holds, AT_ONCE, part -> renewAll(lease, part)));

        List<Claim> plain =
                batch.queued().stream().filter(claim -> !claim.stray()).toList();
        inParts(plain, AT_ONCE, this::refresh);

        Map<String, OfName> rest = new LinkedHashMap<>();
        for (Renewals.Hold hold : batch.holds()) {
            if (!outcomes.containsKey(hold)) {
                rest.computeIfAbsent(hold.grant().claim().name(), n -> new OfName())
                        .holds
                        .add(hold);
            }
        }
        for (Claim claim : batch.queued()) {
            if (!answers.containsKey(claim)) {
                rest.computeIfAbsent(claim.name(), n -> new OfName()).queued.add(claim);
            }
        }
        inParts(List.copyOf(rest.keySet()), NAMES_AT_ONCE, part -> inNames(part, rest));
        return answer(batch);
    }

    private Renewal answer(Renewals batch) {
        List<Renewal.Outcome> holds = new ArrayList<>(batch.holds().size());
        for (Renewals.Hold hold : batch.holds()) {
            Renewal.Outcome outcome = Objects.requireNonNull(outcomes.get(hold));
            if (outcome instanceof Renewal.Kept still) {
                wakeUps.holds(still.remaining());
            }
            holds.add(outcome);
        }
        List<Answer> queued = new ArrayList<>(batch.queued().size());
        for (Claim claim : batch.queued()) {
            Answer answer = Objects.requireNonNull(answers.get(claim));
            if (answer instanceof Answer.Queued stands) {
                wakeUps.stands(claim, stands.ahead());
            } else {
                wakeUps.forget(claim);
            }
            queued.add(answer);
        }
        if (!queued.isEmpty()) {
            wakeUps.refreshed(queued.size());
        }
        return new Renewal(holds, queued, time());
    }

    private StoreTime time() {
        StoreTime time = at;
        return time != null ? time : step(c -> SqlStore.clock(c, sql, incarnation));
    }

    private <T> T step(Connections.Work<T> work) {
        return isRefresh ? connections.refresh(wakeUps.spare(), work) : connections.renewal(work);
    }

    private <T> T transaction(Connections.Work<T> work) {
        return isRefresh ? connections.refreshTransaction(wakeUps.spare(), work) : connections.renewalTransaction(work);
    }

    private static <T> void inParts(List<T> all, int size, Consumer<List<T>> step) {
        for (int i = 0; i < all.size(); i += size) {
            step.accept(all.subList(i, Math.min(all.size(), i + size)));
        }
    }

    // ---- First holders ----

    private void renewAll(Duration lease, List<Renewals.Hold> part) {
        if (hurries && !sql.dialect().skipsInUpdates()) {
            return;
        }
        try {
            Map<String, Duration> kept = connections.renewal(c -> renewAll(c, lease, part));
            for (Renewals.Hold hold : part) {
                Duration remaining = kept.get(hold.grant().claim().id().toString());
                if (remaining != null) {
                    outcomes.put(hold, new Renewal.Kept(remaining));
                }
            }
        } catch (StoreUnavailableException e) {
            hurryOrThrow(e);
        }
    }

    private Map<String, Duration> renewAll(Connection connection, Duration lease, List<Renewals.Hold> part)
            throws SQLException {
        List<String> names = new ArrayList<>(part.size());
        List<String> claims = new ArrayList<>(part.size());
        for (Renewals.Hold hold : part) {
            names.add(NameCodec.encode(hold.grant().claim().name()));
            claims.add(hold.grant().claim().id().toString());
        }
        Map<String, Object> values = Map.of("lease", NameState.micros(lease), "names", names, "claims", claims);
        boolean answersAtOnce = !sql.has("renewed");
        if (!answersAtOnce) {
            sql.execute(connection, "renew", values);
        }
        Map<String, Duration> kept = new HashMap<>();
        try (PreparedStatement s = sql.prepare(connection, answersAtOnce ? "renew" : "renewed", values);
                ResultSet row = s.executeQuery()) {
            while (row.next()) {
                kept.put(row.getString("claim"), Duration.of(row.getLong("remaining"), ChronoUnit.MICROS));
                at = new StoreTime(incarnation, row.getLong("at"));
            }
        }
        return kept;
    }

    // ---- Places in queues ----

    private void refresh(List<Claim> part) {
        if (hurries || !sql.has("refresh")) {
            return;
        }
        try {
            Map<Claim, Answer> found = step(connections.lazy(c -> SqlQueue.refresh(c, sql, incarnation, part)));
            found.forEach((claim, answer) -> {
                answers.put(claim, answer);
                at = answer.at();
            });
        } catch (StoreUnavailableException e) {
            hurryOrThrow(e);
        }
    }

    /** Somebody keeps a row locked: do not wait for another one. */
    private void hurryOrThrow(StoreUnavailableException e) {
        if (isAlone || hurries || !Failures.isContention(e)) {
            throw e; // a single claim harms no other
        }
        hurries = true;
    }

    // ---- The rest ----

    private void inNames(List<String> names, Map<String, OfName> rest) {
        Map<String, StoreTime> done = inNames(names, rest, parts(names, rest));
        List<String> unclear = names.stream()
                .filter(name -> done.containsKey(name)
                        && !outcomes.keySet().containsAll(Objects.requireNonNull(rest.get(name)).holds))
                .toList();
        if (!unclear.isEmpty()) {
            done.keySet().removeAll(unclear);
            done.putAll(inNames(unclear, rest, Map.of()));
        }
        for (String name : names) {
            StoreTime then = done.get(name);
            if (then != null) {
                at = then;
            } else {
                look(name, Objects.requireNonNull(rest.get(name)));
            }
        }
    }

    /** The claims of those names for which it is enough to load them: nothing but leases is to be lengthened there. */
    private static Map<String, List<String>> parts(List<String> names, Map<String, OfName> rest) {
        Map<String, List<String>> parts = new HashMap<>();
        for (String name : names) {
            OfName what = Objects.requireNonNull(rest.get(name));
            if (what.queued.isEmpty() && what.holds.stream().allMatch(hold -> hold.raiseTo() == 0)) {
                parts.put(
                        name,
                        what.holds.stream()
                                .map(hold -> hold.grant().claim().id().toString())
                                .toList());
            }
        }
        return parts;
    }

    private Map<String, StoreTime> inNames(
            List<String> names, Map<String, OfName> rest, Map<String, List<String>> parts) {
        try {
            return inNames(names, rest, parts, hurries);
        } catch (StoreUnavailableException e) {
            hurryOrThrow(e);
            return inNames(names, rest, parts, true);
        }
    }

    private Map<String, StoreTime> inNames(
            List<String> names, Map<String, OfName> rest, Map<String, List<String>> parts, boolean skip) {
        NameTransaction.Result<Map<String, StoreTime>> result = transaction(c -> {
            NameTransaction.Result<Map<String, StoreTime>> r = NameTransaction.runAll(
                    c, sql, incarnation, names, skip, parts, n -> renew(n, Objects.requireNonNull(rest.get(n.name))));
            return wakeUps.finish(c, sql, r);
        });
        wakeUps.notifyHere(result.signals());
        return result.answer();
    }

    private StoreTime renew(LoadedName name, OfName what) {
        if (name.isPart()) {
            for (Renewals.Hold hold : what.holds) {
                Renewal.Outcome outcome = name.renewInPart(hold);
                if (outcome != null) {
                    outcomes.put(hold, outcome);
                } else {
                    outcomes.remove(hold);
                }
            }
            return name.time();
        }
        for (Renewals.Hold hold : what.holds) {
            Renewal.Outcome outcome = name.state().renew(hold, name);
            if (hold.raiseTo() > 0 && outcome instanceof Renewal.Kept) {
                name.raise(hold.raiseTo());
            }
            outcomes.put(hold, outcome);
        }
        what.queued.forEach(claim -> answers.put(claim, name.state().refresh(claim, name)));
        return name.time();
    }

    // ---- What cannot be renewed now: until it expires a hold is in force, whatever the row's lock is held for ----

    private void look(String name, OfName what) {
        Optional<SqlView.Seen> seen;
        try {
            seen = step(c -> SqlView.one(c, sql, incarnation, name));
        } catch (StoreUnavailableException e) {
            if (e.getCause() != null) {
                throw e;
            }
            // Of a newer format: we cannot read what it says, and cannot keep it.
            what.holds.forEach(hold -> outcomes.put(hold, new Renewal.Lost(Reason.STORE_UNREACHABLE)));
            what.queued.forEach(claim -> answers.put(claim, gone()));
            return;
        }
        for (Renewals.Hold hold : what.holds) {
            Renewal.Outcome outcome = standing(seen, hold);
            if (hold.raiseTo() > 0 && outcome instanceof Renewal.Kept) {
                throw new StoreUnavailableException("the row of '" + name + "' is locked", null);
            }
            outcomes.put(hold, outcome);
        }
        what.queued.forEach(claim -> answers.put(claim, standing(seen, claim)));
    }

    private static Renewal.Outcome standing(Optional<SqlView.Seen> seen, Renewals.Hold hold) {
        Held held = seen.map(s -> s.holder(hold.grant().claim().id())).orElse(null);
        if (seen.isEmpty() || held == null) {
            return new Renewal.Lost(Reason.EXPIRED);
        }
        return held.recalledDelay() == Held.NOT_RECALLED
                ? new Renewal.Kept(seen.get().remaining(held))
                : new Renewal.Recalled();
    }

    private Answer standing(Optional<SqlView.Seen> seen, Claim claim) {
        if (seen.isEmpty()) {
            return gone();
        }
        StoreTime then = new StoreTime(incarnation, seen.get().at());
        Held held = seen.get().holder(claim.id());
        if (held != null) {
            Duration remaining = seen.get().remaining(held);
            return new Answer.Granted(held.token(), held.block(), remaining, held.confirmed(), then);
        }
        int ahead = 0;
        for (Waiting waiting : seen.get().state().queue()) {
            if (waiting.claim().id().equals(claim.id())) {
                return new Answer.Queued(ahead, SqlQueue.slowLook(claim), then);
            }
            ahead++;
        }
        return gone();
    }

    private Answer gone() {
        return new Answer.Refused(Answer.Why.GONE, "", Duration.ZERO, time());
    }
}
