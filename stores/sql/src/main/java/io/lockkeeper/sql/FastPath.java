// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.NameCodec;
import io.lockkeeper.spi.StoreTime;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import java.util.Optional;

/** The cases that take one statement: when nobody uses the name, and when many wait for it. */
final class FastPath {
    private final Connections connections;
    private final Sql sql;
    private final long incarnation;
    private final ContendedNames contended = new ContendedNames();

    FastPath(Connections connections, Sql sql, long incarnation) {
        this.connections = connections;
        this.sql = sql;
        this.incarnation = incarnation;
    }

    /** Tries the most likely statement first; empty when none succeeds. */
    Optional<Answer> claim(Claim claim) {
        if (claim.stray() || claim.deadline().incarnation() != incarnation) {
            return Optional.empty();
        }
        boolean mayQueue = claim.terms().queue();
        if (mayQueue && contended.contains(claim.name())) {
            Optional<Answer> queued = SqlQueue.append(connections, sql, incarnation, claim);
            if (queued.isPresent()) {
                return queued;
            }
        }
        Optional<Answer> granted = connections.autocommit(c -> claimFreeName(c, claim));
        if (granted.isPresent() || !mayQueue) {
            return granted;
        }
        Optional<Answer> queued = SqlQueue.append(connections, sql, incarnation, claim);
        queued.ifPresent(answer -> contended.add(claim.name()));
        return queued;
    }

    /** Ends a hold that nobody waits for; false when others wait, or probably do. */
    boolean release(Claim claim) {
        if (claim.stray() || contended.contains(claim.name())) {
            return false;
        }
        Map<String, String> which = Map.of(
                "name", NameCodec.encode(claim.name()), "claim", claim.id().toString());
        return connections.lazily(c -> sql.execute(c, "release", which)) == 1;
    }

    /** Notes whether others were found to wait. */
    void found(String name, boolean isCrowded) {
        if (isCrowded) {
            contended.add(name);
        } else {
            contended.remove(name);
        }
    }

    private Optional<Answer> claimFreeName(Connection connection, Claim claim) throws SQLException {
        Map<String, Object> values = ClaimColumns.of(claim);
        values.put("name", NameCodec.encode(claim.name()));
        boolean answersAtOnce = !sql.has("claimed");
        if (!answersAtOnce) {
            sql.execute(connection, "claim", values);
        }
        try (PreparedStatement s = sql.prepare(connection, answersAtOnce ? "claim" : "claimed", values);
                ResultSet row = s.executeQuery()) {
            if (!row.next() || !isOurs(row, claim)) {
                return Optional.empty();
            }
            Answer granted = new Answer.Granted(
                    row.getLong("token"),
                    row.getInt("block"),
                    Duration.of(row.getLong("remaining"), ChronoUnit.MICROS),
                    true,
                    new StoreTime(incarnation, row.getLong("at")));
            // SQLite gives the row first and commits when the rows are at their end: what fails then was never granted.
            if (row.next()) {
                throw new SQLException("a claim of one name has changed several rows");
            }
            return Optional.of(granted);
        } catch (SQLException e) {
            if (Failures.isDuplicate(e)) {
                return Optional.empty(); // another client used the name for the first time at the same moment
            }
            throw e;
        }
    }

    /** Some dialects return the row no matter which claim holds it. */
    private boolean isOurs(ResultSet row, Claim claim) throws SQLException {
        return !sql.dialect().returnsAnyHolder()
                || (claim.id().toString().equals(row.getString("claim"))
                        && row.getLong("remaining") > 0
                        && row.getInt("confirmed") != 0);
    }
}
