// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What our own connections get unless the URL says otherwise: no statement and no wait for a row outlasts the operation timeout.
 *
 * @param properties for the driver
 * @param initial what each connection begins with
 * @param lazy after this, commits of a connection do not wait for the disk
 * @param eager after this, they do again
 * @param isOneWriter whether the database has one writer at a time: then our threads queue here, in order, and not there
 */
record UrlDefaults(
        Map<String, String> properties,
        @Nullable String initial,
        @Nullable String lazy,
        @Nullable String eager,
        boolean isOneWriter) {
    /** The driver's parameter that has settings of the server in it. */
    static final String SETTINGS = "options";

    /** SQLite's parameter that says how long a writer waits for another. */
    static final String BUSY = "busy_timeout";

    private static final Set<String> RELAXABLE = Set.of("postgresql", "sqlite");
    private static final int CONNECT_SECONDS = 3;

    /** One of our transactions is a few round trips; after this many timeouts without one, its client has stopped. */
    private static final int IDLE_TIMEOUTS = 3;

    static UrlDefaults of(String url, SqlOptions options) {
        int millis = options.timeoutMillis();
        // A client that stops in the middle of a transaction keeps its rows locked until the server ends it.
        int idleMillis = IDLE_TIMEOUTS * millis;
        String[] words = url.toLowerCase(Locale.ROOT).split(":", 3);
        if (options.relaxed() && !RELAXABLE.contains(words[1])) {
            throw new IllegalArgumentException("lockkeeper.durability is 'relaxed'; allowed is full for jdbc:"
                    + words[1] + ":, where only the whole database can be configured not to wait for the disk");
        }
        return switch (words[1]) {
            case "postgresql" -> postgresql(millis, idleMillis, options.relaxed());
            case "mariadb", "mysql" -> mariadb(millis, idleMillis);
            case "sqlite" -> sqlite(millis, options.relaxed());
            case "h2" -> new UrlDefaults(Map.of("LOCK_TIMEOUT", "" + millis), null, null, null, false);
            default -> new UrlDefaults(Map.of(), null, null, null, false);
        };
    }

    private static UrlDefaults postgresql(int millis, int idleMillis, boolean relaxed) {
        Map<String, String> properties = Map.of(
                "connectTimeout",
                "" + CONNECT_SECONDS,
                "loginTimeout",
                "" + CONNECT_SECONDS,
                "tcpKeepAlive",
                "true",
                "ApplicationName",
                "lockkeeper",
                // Not by SET: in a pooler that would stay, for the next user of the connection.
                SETTINGS,
                "-c statement_timeout=" + millis + " -c lock_timeout=" + millis
                        + " -c idle_in_transaction_session_timeout=" + idleMillis
                        + (relaxed ? " -c synchronous_commit=off" : ""));
        return new UrlDefaults(properties, null, null, null, false);
    }

    private static UrlDefaults mariadb(int millis, int idleMillis) {
        Map<String, String> properties = Map.of(
                "connectTimeout",
                "" + 1_000 * CONNECT_SECONDS,
                // Otherwise the server parses the text of each statement again, half of all that it has to do.
                "useServerPrepStmts",
                "true");
        // MySQL, which has no such settings, reads the end as a comment.
        String initial = "SET SESSION innodb_lock_wait_timeout = " + seconds(millis)
                + " /*M! , max_statement_time = " + millis / 1_000.0
                + ", idle_transaction_timeout = " + seconds(idleMillis) + " */"
                // From then on a row that has changed while one waited for it would be an error.
                + " /*M!110602 , innodb_snapshot_isolation = OFF */";
        return new UrlDefaults(properties, initial, null, null, false);
    }

    private static UrlDefaults sqlite(int millis, boolean relaxed) {
        Map<String, String> properties =
                Map.of("journal_mode", "WAL", BUSY, "" + millis, "synchronous", relaxed ? "NORMAL" : "FULL");
        return new UrlDefaults(
                properties,
                null,
                relaxed ? null : "PRAGMA synchronous = NORMAL",
                relaxed ? null : "PRAGMA synchronous = FULL",
                true);
    }

    private static int seconds(int millis) {
        return Math.max(1, (millis + 999) / 1_000);
    }
}
