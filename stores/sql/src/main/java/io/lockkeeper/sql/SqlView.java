// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import io.lockkeeper.model.Held;
import io.lockkeeper.model.NameState;
import io.lockkeeper.model.Waiting;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Names in use as they are seen from outside, which locks and changes nothing. */
final class SqlView {
    private final String name;
    private final long closedUntil;
    private final long at;
    private final List<Held> holders = new ArrayList<>();
    private final List<Waiting> queue = new ArrayList<>();

    /** A name, and the store's time when it was looked at. */
    record Seen(NameState state, long at) {}

    private SqlView(String name, long closedUntil, long at) {
        this.name = name;
        this.closedUntil = closedUntil;
        this.at = at;
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
        Map<String, SqlView> found = new LinkedHashMap<>();
        Map<String, String> range = Map.of("from", from, "to", to);
        boolean more = false;
        try (PreparedStatement s = sql.prepare(connection, "select", range);
                ResultSet row = s.executeQuery()) {
            while (row.next()) {
                Format.check(row.getInt("format"));
                String code = row.getString("name");
                SqlView view = new SqlView(NameCode.decode(code), row.getLong("closed_until"), row.getLong("at"));
                if (row.getInt("holders") > 0) {
                    view.holders.add(ClaimColumns.held(row, view.name, incarnation));
                }
                more |= row.getInt("waiters") > 0 || row.getInt("holders") > 1;
                found.put(code, view);
            }
        }
        if (more) {
            addClaims(connection, sql, incarnation, range, found);
        }
        return found.values().stream()
                .map(v -> new Seen(new NameState(v.name, v.holders, v.queue, v.closedUntil), v.at))
                .toList();
    }

    private static void addClaims(
            Connection connection, Sql sql, long incarnation, Map<String, String> range, Map<String, SqlView> found)
            throws SQLException {
        try (PreparedStatement s = sql.prepare(connection, "select_claims", range);
                ResultSet row = s.executeQuery()) {
            while (row.next()) {
                SqlView view = found.get(row.getString("name"));
                if (view == null) {
                    continue; // it came into use between the two statements
                }
                if (row.getString("state").equals("H")) {
                    view.holders.add(ClaimColumns.held(row, view.name, incarnation));
                } else {
                    view.queue.add(ClaimColumns.waiting(row, view.name, incarnation));
                }
            }
        }
    }
}
