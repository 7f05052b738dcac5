// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.sql.file.FileCrowdedException;
import java.sql.SQLException;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What a database's error means. */
final class Failures {
    /** MariaDB and MySQL: too many connections of the user. Its state says "syntax error or access violation", but it passes. */
    private static final Set<Integer> PASSING = Set.of(1203, 1226);

    private static final int SQLITE_CORRUPT = 11;

    /** SQLite: the file is damaged, or none of SQLite's. */
    private static final Set<Integer> SQLITE_LASTING = Set.of(SQLITE_CORRUPT, 26);

    /** MariaDB and MySQL: lock wait timeout, statement timeout. */
    private static final Set<Integer> MARIADB_CONTENTION = Set.of(1020, 1205, 1969, 3024);

    private static final int SQLITE_CONSTRAINT = 19;

    /** The state that we give to what should be there, as after a TRUNCATE; treated as a missing table. */
    static final String VANISHED = "42S02";

    private Failures() {}

    /**
     * The failure of a step. Most may pass: lost connections, deadlocks, lock waits, a server that is read-only, full or
     * restarting. A refused login, a missing right, a missing table and wrong SQL will not.
     */
    static StoreUnavailableException of(SQLException e) {
        String message = e instanceof NotConnectedException
                ? String.valueOf(e.getMessage())
                : "the database failed (" + describe(e) + "): " + e.getMessage();
        return lasts(e) ? StoreUnavailableException.lasting(message, e) : new StoreUnavailableException(message, e);
    }

    /** Whether repeating cannot cure it. */
    static boolean lasts(SQLException e) {
        String state = state(e);
        if (PASSING.contains(e.getErrorCode())) {
            return false;
        }
        return state.startsWith("28")
                || state.startsWith("3D")
                || state.startsWith("3F")
                || state.startsWith("42")
                || isMissingTable(e)
                || (isSqlite(e) && SQLITE_LASTING.contains(e.getErrorCode() & 0xff));
    }

    /** Its state or, where there is none, its code. */
    static String describe(SQLException e) {
        String state = state(e);
        return state.isEmpty() ? "code " + e.getErrorCode() : state;
    }

    /** Whether a table is not there. */
    static boolean isMissingTable(SQLException e) {
        return switch (state(e)) {
            case "42P01", "42S02", "42S03", "42S04" -> true;
            default -> isSqlite(e) && String.valueOf(e.getMessage()).contains("no such table");
        };
    }

    /** Whether others were in the way, and the connection is as good as before: a deadlock, a row that stays locked. */
    static boolean isContention(StoreUnavailableException e) {
        return e.getCause() instanceof SQLException cause && !isSqlite(cause) && isContention(cause);
    }

    /**
     * Whether others used a file all the time, so that nothing was done: it is intact, and those that retry get a turn.
     */
    static boolean isCrowd(StoreUnavailableException e) {
        return e.getCause() instanceof FileCrowdedException;
    }

    /** Whether SQLite found the file damaged. */
    static boolean isDamaged(Throwable e) {
        Throwable cause = e.getCause();
        return cause instanceof SQLException sql
                ? isSqlite(sql) && (sql.getErrorCode() & 0xff) == SQLITE_CORRUPT
                : cause != null && isDamaged(cause);
    }

    private static boolean isContention(SQLException e) {
        return switch (state(e)) {
            // PostgreSQL: lock not available, statement cancelled; all: deadlock, serialization; H2: lock timeout
            case "55P03", "57014", "40001", "40P01", "HYT00" -> true;
            default -> MARIADB_CONTENTION.contains(e.getErrorCode());
        };
    }

    /** Whether a key is there already. */
    static boolean isDuplicate(SQLException e) {
        return state(e).startsWith("23") || (isSqlite(e) && (e.getErrorCode() & 0xff) == SQLITE_CONSTRAINT);
    }

    /** Whether it was an interrupt that ended the wait for a connection. */
    static boolean isInterrupt(SQLException e) {
        for (Throwable t = e; t != null; t = t.getCause()) {
            if (t instanceof InterruptedException) {
                return true;
            }
        }
        return false;
    }

    private static boolean isSqlite(SQLException e) {
        return e.getClass().getName().startsWith("org.sqlite");
    }

    private static String state(SQLException e) {
        @Nullable String state = e.getSQLState();
        return state == null ? "" : state;
    }
}
