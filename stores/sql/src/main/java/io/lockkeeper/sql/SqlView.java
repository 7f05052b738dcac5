// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.model.Held;
import io.lockkeeper.model.NameState;
import io.lockkeeper.model.Waiting;
import io.lockkeeper.spi.ClaimId;
import io.lockkeeper.spi.NameCodec;
import java.sql.Connection;
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
    /** Less than all that codes consist of, and so what follows a code. */
    private static final String NEXT = "!";

    /** Greater than all that codes consist of. */
    private static final String LAST = "\u007f";

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
        this.name = NameCodec.decode(code);
        this.closedUntil = row.getLong("closed_until");
        this.at = row.getLong("at");
        if (row.getInt("holders") > 0) {
            holders.add(ClaimColumns.held(row, name, incarnation));
        }
    }

    /**
     * Some names in use.
     *
     * @param next where the next ones begin; null when there are none
     */
    record Page(List<Seen> names, @Nullable String next) {}

    /** @throws io.lockkeeper.StoreUnavailableException if its row cannot be read */
    static Optional<Seen> one(Connection connection, Sql sql, long incarnation, String name) throws SQLException {
        String code = NameCodec.encode(name);
        return new Reading(sql, incarnation, true)
                .page(connection, code, code + NEXT, 1).names().stream().findFirst();
    }

    /** The first names from a code to before another, in the order of their codes. Those that cannot be read are left out. */
    static Page page(Connection connection, Sql sql, long incarnation, String from, String to, int limit)
            throws SQLException {
        return new Reading(sql, incarnation, false).page(connection, from, to, limit);
    }

    /** Where the codes of names that begin so end. */
    static String end(String prefix) {
        return prefix + LAST;
    }

    /** What a query gives, row by row. */
    private static final class Reading {
        private final Sql sql;
        private final long incarnation;
        private final boolean strict;
        private final List<SqlView> found = new ArrayList<>();
        private @Nullable SqlView last;
        private @Nullable String lastCode;
        private int count;

        Reading(Sql sql, long incarnation, boolean strict) {
            this.sql = sql;
            this.incarnation = incarnation;
            this.strict = strict;
        }

        Page page(Connection connection, String from, String to, int limit) throws SQLException {
            sql.query(connection, new Sql.Step("select", Map.of("from", from, "to", to, "limit", limit)), row -> {
                while (row.next()) {
                    if (row.getString("state").isEmpty()) {
                        addName(row);
                    } else {
                        addClaim(row);
                    }
                }
            });
            List<Seen> names = found.stream()
                    .map(v -> new Seen(new NameState(v.name, v.holders, v.queue, v.closedUntil), v.at))
                    .toList();
            return new Page(names, count < limit ? null : lastCode + NEXT);
        }

        private void addName(ResultSet row) throws SQLException {
            count++;
            last = null;
            lastCode = row.getString("name");
            try {
                last = new SqlView(row, incarnation);
                found.add(last);
            } catch (StoreUnavailableException e) {
                if (strict) {
                    throw e; // of a newer format
                }
                sql.damaged().report(lastCode, e);
            } catch (RuntimeException e) {
                if (strict) {
                    throw sql.damaged().unreadable(lastCode, e);
                }
                sql.damaged().report(lastCode, e);
            }
        }

        /** Adds a claim to its name, the last one; a claim without a name in use is nobody's. */
        private void addClaim(ResultSet row) throws SQLException {
            SqlView name = last;
            if (name == null || !name.code.equals(row.getString("name"))) {
                return;
            }
            try {
                if (row.getString("state").equals("H")) {
                    name.holders.add(ClaimColumns.held(row, name.name, incarnation));
                } else {
                    name.queue.add(ClaimColumns.waiting(row, name.name, incarnation));
                }
            } catch (RuntimeException e) {
                sql.damaged().report(name.code, e);
            }
        }
    }
}
