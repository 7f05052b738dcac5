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
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Takes and keeps a place in a long queue without loading the queue. */
final class SqlQueue {
    /** A claim that is not the head looks again this many times within its patience. */
    private static final int LOOKS = 3;

    /** As in {@link io.lockkeeper.model.NameState}. */
    private static final Duration BETWEEN_LOOKS = Duration.ofMillis(100);

    private SqlQueue() {}

    /** How long a queued claim may rest before it looks again. */
    static Duration slowLook(Claim claim) {
        return claim.terms().patience().dividedBy(LOOKS);
    }

    /** Takes a place at the end of the queue; empty when the name is not held and awaited, or not in the same way. */
    static Optional<Answer> append(Connections connections, Sql sql, long incarnation, Claim claim) {
        Map<String, Object> values = ClaimColumns.of(claim);
        values.put("name", NameCodec.encode(claim.name()));
        return sql.dialect().appendsAtOnce()
                ? connections.lazily(c -> unlessKnown(() -> ask(c, sql, "append", incarnation, claim, values)))
                : connections.lazily(c -> unlessKnown(() -> Transaction.run(
                        c,
                        transaction -> inTransaction(transaction, sql, incarnation, claim, values),
                        connections::discard)));
    }

    /**
     * Keeps places in queues, with two statements, where the dialect has them. Those in names that need nothing else to be done
     * (held, with nobody overdue) are answered; the others are left to the general way.
     *
     * @param claims not more than fit into a statement
     */
    static Map<Claim, Answer> refresh(Connection connection, Sql sql, long incarnation, List<Claim> claims)
            throws SQLException {
        Map<String, Claim> byId = new HashMap<>();
        claims.forEach(claim -> byId.put(claim.id().toString(), claim));
        Map<String, Object> which = Map.of(
                "names",
                claims.stream()
                        .map(c -> NameCodec.encode(c.name()))
                        .distinct()
                        .sorted()
                        .toList(),
                "claims",
                List.copyOf(byId.keySet()));
        sql.execute(connection, "refresh", which);
        Map<Claim, Answer> answers = new HashMap<>();
        sql.query(connection, new Sql.Step("stands", which), row -> {
            while (row.next()) {
                Claim claim = byId.get(row.getString("claim"));
                long now = row.getLong("now");
                long expires = Math.min(row.getLong("expires"), otherwise(row, "others_expire", Long.MAX_VALUE));
                boolean isQuiet = row.getInt("holders") > 0
                        && expires > now
                        && row.getLong("first_until") > now
                        && row.getInt("counted") == row.getInt("waiters");
                if (claim != null && isQuiet) {
                    StoreTime at = new StoreTime(incarnation, row.getLong("at"));
                    answers.put(claim, queued(claim, row.getInt("ahead"), expires, at));
                }
            }
        });
        return answers;
    }

    private static long otherwise(ResultSet row, String column, long value) throws SQLException {
        long found = row.getLong(column);
        return row.wasNull() ? value : found;
    }

    /** As in the general way: one after the other, from when the name may open. */
    private static Answer queued(Claim claim, int ahead, long expires, StoreTime at) {
        Duration opens = Duration.of(Math.max(0, expires - at.micros()), ChronoUnit.MICROS)
                .plus(BETWEEN_LOOKS.multipliedBy(ahead));
        Duration slow = slowLook(claim);
        return new Answer.Queued(ahead, opens.compareTo(slow) < 0 ? opens : slow, at);
    }

    private interface Step {
        Optional<Answer> run() throws SQLException;
    }

    /** A claim that is in the queue already is not appended again. */
    private static Optional<Answer> unlessKnown(Step step) throws SQLException {
        try {
            return step.run();
        } catch (SQLException e) {
            if (Failures.isDuplicate(e)) {
                return Optional.empty();
            }
            throw e;
        }
    }

    private static Optional<Answer> inTransaction(
            Connection connection, Sql sql, long incarnation, Claim claim, Map<String, Object> values)
            throws SQLException {
        if (sql.execute(connection, "append_row", values) == 0) {
            return Optional.empty();
        }
        sql.execute(connection, "append_claim", values);
        return ask(connection, sql, "appended", incarnation, claim, values);
    }

    private static Optional<Answer> ask(
            Connection connection, Sql sql, String statement, long incarnation, Claim claim, Map<String, Object> values)
            throws SQLException {
        try (PreparedStatement s = sql.prepare(connection, statement, values)) {
            boolean isResult = s.execute();
            while (!isResult && s.getUpdateCount() >= 0) {
                isResult = s.getMoreResults();
            }
            if (!isResult) {
                return Optional.empty();
            }
            try (ResultSet row = s.getResultSet()) {
                if (!row.next()) {
                    return Optional.empty();
                }
                int ahead = row.getInt("ahead");
                long at = row.getLong("at");
                return Optional.of(queued(claim, ahead, row.getLong("expires"), new StoreTime(incarnation, at)));
            }
        }
    }
}
