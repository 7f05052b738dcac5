// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import io.lockkeeper.model.NameState;
import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.Claim;
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
import org.jspecify.annotations.Nullable;

/**
 * One renewal, on the connection that is kept for it. First all holds that are alone in their names, with one UPDATE for all;
 * then, name by name, what that did not find: one of several holders, a hold that is lost, a queued claim.
 */
final class SqlRenewal {
    private static final int AT_ONCE = 256;

    private final Connections connections;
    private final Sql sql;
    private final long incarnation;
    private final Wakes wakes;
    private final Map<String, Duration> kept = new HashMap<>();
    private @Nullable StoreTime at;

    private static final class OfName {
        final List<Renewals.Hold> holds = new ArrayList<>();
        final List<Claim> queued = new ArrayList<>();
    }

    SqlRenewal(Connections connections, Sql sql, long incarnation, Wakes wakes) {
        this.connections = connections;
        this.sql = sql;
        this.incarnation = incarnation;
        this.wakes = wakes;
    }

    Renewal run(Renewals batch) {
        Map<Duration, List<Claim>> byLease = new LinkedHashMap<>();
        for (Renewals.Hold hold : batch.holds()) {
            if (hold.raiseTo() == 0) {
                byLease.computeIfAbsent(hold.lease(), l -> new ArrayList<>())
                        .add(hold.grant().claim());
            }
        }
        byLease.forEach((lease, claims) -> {
            for (int i = 0; i < claims.size(); i += AT_ONCE) {
                List<Claim> part = claims.subList(i, Math.min(claims.size(), i + AT_ONCE));
                connections.renewal(c -> renewAll(c, lease, part));
            }
        });
        Map<String, OfName> rest = new LinkedHashMap<>();
        for (Renewals.Hold hold : batch.holds()) {
            Claim claim = hold.grant().claim();
            if (!kept.containsKey(claim.id().toString())) {
                rest.computeIfAbsent(claim.name(), n -> new OfName()).holds.add(hold);
            }
        }
        for (Claim claim : batch.queued()) {
            rest.computeIfAbsent(claim.name(), n -> new OfName()).queued.add(claim);
        }
        Map<Renewals.Hold, Renewal.Outcome> outcomes = new HashMap<>();
        Map<Claim, Answer> answers = new HashMap<>();
        rest.forEach((name, what) -> inName(name, what, outcomes, answers));

        List<Renewal.Outcome> holds = new ArrayList<>(batch.holds().size());
        for (Renewals.Hold hold : batch.holds()) {
            Duration remaining = kept.get(hold.grant().claim().id().toString());
            Renewal.Outcome outcome = remaining != null ? new Renewal.Kept(remaining) : outcomes.get(hold);
            if (outcome instanceof Renewal.Kept still) {
                wakes.holds(still.remaining());
            }
            holds.add(Objects.requireNonNull(outcome));
        }
        List<Answer> queued = new ArrayList<>(batch.queued().size());
        for (Claim claim : batch.queued()) {
            Answer answer = Objects.requireNonNull(answers.get(claim));
            if (!(answer instanceof Answer.Queued)) {
                wakes.forget(claim);
            }
            queued.add(answer);
        }
        StoreTime time = at;
        return new Renewal(
                holds, queued, time != null ? time : connections.renewal(c -> SqlStore.clock(c, sql, incarnation)));
    }

    private boolean renewAll(Connection connection, Duration lease, List<Claim> part) throws SQLException {
        List<String> names = new ArrayList<>(part.size());
        List<String> claims = new ArrayList<>(part.size());
        for (Claim claim : part) {
            names.add(NameCode.encode(claim.name()));
            claims.add(claim.id().toString());
        }
        Map<String, Object> values = Map.of("lease", NameState.micros(lease), "names", names, "claims", claims);
        boolean tellsAtOnce = !sql.dialect().has("renewed");
        if (!tellsAtOnce) {
            sql.execute(connection, "renew", values);
        }
        try (PreparedStatement s = sql.prepare(connection, tellsAtOnce ? "renew" : "renewed", values);
                ResultSet row = s.executeQuery()) {
            while (row.next()) {
                kept.put(row.getString("claim"), Duration.of(row.getLong("remaining"), ChronoUnit.MICROS));
                at = new StoreTime(incarnation, row.getLong("at"));
            }
        }
        return true;
    }

    private void inName(
            String name, OfName what, Map<Renewals.Hold, Renewal.Outcome> outcomes, Map<Claim, Answer> answers) {
        NameTransaction.Result<StoreTime> result = connections.renewalTransaction(c -> {
            NameTransaction.Result<StoreTime> r = NameTransaction.run(c, sql, incarnation, name, (state, ledger) -> {
                for (Renewals.Hold hold : what.holds) {
                    Renewal.Outcome outcome = state.renew(hold, ledger);
                    if (hold.raiseTo() > 0 && outcome instanceof Renewal.Kept) {
                        ((NameTransaction) ledger).raise(hold.raiseTo());
                    }
                    outcomes.put(hold, outcome);
                }
                what.queued.forEach(claim -> answers.put(claim, state.refresh(claim, ledger)));
                return ledger.time();
            });
            wakes.tellOthers(c, r.signals());
            return r;
        });
        at = result.answer();
        wakes.tellHere(result.signals());
    }
}
