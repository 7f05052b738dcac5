// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import io.lockkeeper.model.Held;
import io.lockkeeper.model.NameState;
import io.lockkeeper.model.Waiting;
import io.lockkeeper.spi.ClaimId;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Names in use as they are seen from outside, which locks and changes nothing. */
final class SqlView {
    private final String code;
    private final String name;
    private final long closedUntil;
    private final long at;
    private final List<Held> holders = new ArrayList<>();
    private final List<Waiting> queue = new ArrayList<>();

    /** A name, and the store's time when it was looked at. */
    record Seen(NameState state, long at) {
        /** The hold of this claim, unless it has expired. */
        @Nullable
        Held holder(ClaimId claim) {
            for (Held held : state.holders()) {
                if (held.claim().id().equals(claim) && held.expires() > at) {
                    return held;
                }
            }
            return null;
        }

        Duration remaining(Held held) {
            return Duration.of(held.expires() - at, ChronoUnit.MICROS);
        }
    }

    private SqlView(ResultSet row, long incarnation) throws SQLException {
        Format.check(row.getInt("format"));
        this.code = row.getString("name");
        this.name = NameCode.decode(code);
        this.closedUntil = row.getLong("closed_until");
        this.at = row.getLong("at");
        if (row.getInt("holders") > 0) {
            holders.add(ClaimColumns.held(row, name, incarnation));
        }
    }

    static Optional<Seen> one(Connection connection, Sql sql, long incarnation, String name) throws SQLException {
        String code = NameCode.encode(name);
        return select(connection, sql, incarnation, code, code + "!").stream().findFirst();
    }

    static List<Seen> all(Connection connection, Sql sql, long incarnation, String prefix) throws SQLException {
        String code = NameCode.encode(prefix);
        return select(connection, sql, incarnation, code, code + "\u007f");
    }

    private static List<Seen> select(Connection connection, Sql sql, long incarnation, String from, String to)
            throws SQLException {
        List<SqlView> found = new ArrayList<>();
        try (PreparedStatement s = sql.prepare(connection, "select", Map.of("from", from, "to", to));
                ResultSet row = s.executeQuery()) {
            SqlView last = null;
            while (row.next()) {
                if (row.getString("state").isEmpty()) {
                    last = new SqlView(row, incarnation);
                    found.add(last);
                } else {
                    add(last, row, incarnation);
                }
            }
        }
        return found.stream()
                .map(v -> new Seen(new NameState(v.name, v.holders, v.queue, v.closedUntil), v.at))
                .toList();
    }

    /** Adds a claim to its name, the last one; a claim without a name in use is nobody's. */
    private static void add(@Nullable SqlView last, ResultSet row, long incarnation) throws SQLException {
        if (last == null || !last.code.equals(row.getString("name"))) {
            return;
        }
        if (row.getString("state").equals("H")) {
            last.holders.add(ClaimColumns.held(row, last.name, incarnation));
        } else {
            last.queue.add(ClaimColumns.waiting(row, last.name, incarnation));
        }
    }
}
