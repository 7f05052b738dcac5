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
import java.util.Map;
import java.util.Optional;

/** The short way to the end of a long queue, which need not load it. */
final class SqlQueue {
    /** Who is not the head looks again so many times within its patience. */
    private static final int LOOKS = 3;

    private SqlQueue() {}

    /** Takes a place behind others; empty when the name is not held and awaited, or not in the same way. */
    static Optional<Answer> append(Connections connections, Sql sql, long incarnation, Claim claim) {
        Map<String, Object> values = ClaimColumns.of(claim);
        values.put("name", NameCode.encode(claim.name()));
        return sql.dialect().appendsAtOnce()
                ? connections.lazily(c -> unlessKnown(() -> ask(c, sql, "append", incarnation, claim, values)))
                : connections.lazily(c -> unlessKnown(() -> Connections.inTransaction(
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
        if (sql.execute(connection, "append", values) == 0) {
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
                Duration retryAfter = claim.terms().patience().dividedBy(LOOKS);
                return Optional.of(new Answer.Queued(
                        row.getInt("ahead"), retryAfter, new StoreTime(incarnation, row.getLong("at"))));
            }
        }
    }
}
