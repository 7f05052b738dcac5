// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.StoreTime;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import java.util.Optional;

/** The short way to the end of a long queue, which need not load it. */
final class SqlQueue {
    /** Who is not the head looks again so many times within its patience. */
    private static final int LOOKS = 3;

    /** As in {@link io.lockkeeper.model.NameState}. */
    private static final Duration BETWEEN_LOOKS = Duration.ofMillis(100);

    private SqlQueue() {}

    /** How long a queued claim may rest before it looks again. */
    static Duration slowLook(Claim claim) {
        return claim.terms().patience().dividedBy(LOOKS);
    }

    /** Takes a place behind others; empty when the name is not held and awaited, or not in the same way. */
    static Optional<Answer> append(Connections connections, Sql sql, long incarnation, Claim claim) {
        Map<String, Object> values = ClaimColumns.of(claim);
        values.put("name", NameCode.encode(claim.name()));
        return sql.dialect().appendsAtOnce()
                ? connections.lazily(c -> unlessKnown(() -> ask(c, sql, "append", incarnation, claim, values)))
                : connections.lazily(c -> unlessKnown(() -> Transaction.run(
                        c, transaction -> inTransaction(transaction, sql, incarnation, claim, values))));
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
                // As those who come the general way: one after the other, from when the name may open.
                Duration opens = Duration.of(Math.max(0, row.getLong("expires") - at), ChronoUnit.MICROS)
                        .plus(BETWEEN_LOOKS.multipliedBy(ahead));
                Duration slow = slowLook(claim);
                return Optional.of(new Answer.Queued(
                        ahead, opens.compareTo(slow) < 0 ? opens : slow, new StoreTime(incarnation, at)));
            }
        }
    }
}
