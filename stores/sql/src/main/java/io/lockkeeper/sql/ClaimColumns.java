// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import io.lockkeeper.Mode;
import io.lockkeeper.model.Held;
import io.lockkeeper.model.NameState;
import io.lockkeeper.model.Waiting;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.ClaimId;
import io.lockkeeper.spi.StoreTime;
import io.lockkeeper.spi.Terms;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A claim, granted or queued, as the columns of a row: the same columns in the name's row and in the table of claims. */
final class ClaimColumns {
    /** A hundred years. */
    private static final long LONGEST_MICROS = Duration.ofDays(36_500).toNanos() / 1_000;

    private ClaimColumns() {}

    static Map<String, Object> of(Claim claim) {
        Map<String, Object> columns = new HashMap<>();
        Terms terms = claim.terms();
        columns.put("claim", claim.id().toString());
        columns.put("client", printable(terms.client()));
        columns.put("label", printable(terms.label()));
        columns.put("mode", letter(terms.mode()));
        columns.put("permits", terms.permits());
        columns.put("permit_limit", terms.limit());
        columns.put("token", 0L);
        columns.put("block", Math.max(1, terms.block()));
        columns.put("since", 0L);
        columns.put("expires", 0L);
        columns.put("confirmed", 0);
        columns.put("recalled", Held.NOT_RECALLED);
        columns.put("lease", NameState.micros(terms.lease()));
        columns.put("lock_delay", NameState.micros(terms.lockDelay()));
        columns.put("patience", NameState.micros(terms.patience()));
        columns.put("deadline", claim.deadline().micros());
        columns.put("stray", claim.stray() ? 1 : 0);
        return columns;
    }

    static Map<String, Object> of(Held held) {
        Map<String, Object> columns = of(held.claim());
        columns.put("mode", letter(held.mode()));
        columns.put("token", held.token());
        columns.put("block", held.block());
        columns.put("since", held.since());
        columns.put("expires", held.expires());
        columns.put("confirmed", held.confirmed() ? 1 : 0);
        columns.put("recalled", held.recalledDelay());
        return columns;
    }

    /** A holder but the first, as it stands in the table of claims. */
    static Map<String, Object> entry(Held held) {
        Map<String, Object> columns = of(held);
        columns.put("state", "H");
        columns.put("until", 0L);
        return columns;
    }

    /** A waiter, as it stands in the table of claims. */
    static Map<String, Object> entry(Waiting waiting) {
        Map<String, Object> columns = of(waiting.claim());
        columns.put("state", "W");
        columns.put("until", waiting.until());
        return columns;
    }

    /** All columns empty: nobody holds the name. */
    static Map<String, @Nullable Object> none() {
        Map<String, @Nullable Object> columns = new HashMap<>();
        for (String column : new String[] {
            "claim",
            "client",
            "label",
            "mode",
            "permits",
            "permit_limit",
            "token",
            "block",
            "since",
            "expires",
            "confirmed",
            "recalled",
            "lease",
            "lock_delay",
            "patience",
            "deadline",
            "stray"
        }) {
            columns.put(column, null);
        }
        return columns;
    }

    static Held held(ResultSet row, String name, long incarnation) throws SQLException {
        return new Held(
                claim(row, name, incarnation),
                mode(row.getString("mode")),
                row.getLong("token"),
                row.getInt("block"),
                row.getLong("since"),
                row.getLong("expires"),
                row.getInt("confirmed") != 0,
                row.getLong("recalled"));
    }

    static Waiting waiting(ResultSet row, String name, long incarnation) throws SQLException {
        return new Waiting(claim(row, name, incarnation), row.getLong("until"));
    }

    private static Claim claim(ResultSet row, String name, long incarnation) throws SQLException {
        Terms terms = new Terms(
                mode(row.getString("mode")),
                row.getInt("permits"),
                row.getInt("permit_limit"),
                duration(row, "lease"),
                duration(row, "lock_delay"),
                duration(row, "patience"),
                row.getInt("block"),
                true,
                text(row, "client"),
                text(row, "label"));
        StoreTime deadline = new StoreTime(incarnation, row.getLong("deadline"));
        return new Claim(name, ClaimId.parse(row.getString("claim")), terms, deadline, row.getInt("stray") != 0);
    }

    /** PostgreSQL has no NUL in its texts; people are shown the sign for it. */
    private static String printable(String text) {
        return text.replace('\0', '\u2400');
    }

    private static Duration duration(ResultSet row, String column) throws SQLException {
        return Duration.of(within(row.getLong(column), column, LONGEST_MICROS), ChronoUnit.MICROS);
    }

    private static String text(ResultSet row, String column) throws SQLException {
        String text = row.getString(column);
        if (text == null) {
            throw new IllegalStateException(column + " is NULL");
        }
        return text;
    }

    /** A number that we may have written; others would surprise code that calculates with it. */
    static long within(long number, String column, long most) {
        if (number < 0 || number > most) {
            throw new IllegalStateException(column + " is " + number + "; allowed is 0 to " + most);
        }
        return number;
    }

    private static String letter(Mode mode) {
        return switch (mode) {
            case EXCLUSIVE -> "X";
            case SHARED -> "S";
            case PERMITS -> "P";
        };
    }

    private static Mode mode(String letter) {
        return switch (letter) {
            case "X" -> Mode.EXCLUSIVE;
            case "S" -> Mode.SHARED;
            case "P" -> Mode.PERMITS;
            default -> throw new IllegalStateException("unknown mode '" + letter + "' in the table");
        };
    }
}
