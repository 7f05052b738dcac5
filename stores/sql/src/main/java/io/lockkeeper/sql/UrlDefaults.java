// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import java.util.Locale;
import java.util.Map;
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
    private static final int CONNECT_SECONDS = 3;

    static UrlDefaults of(String url, SqlOptions options) {
        int millis = options.timeoutMillis();
        int seconds = Math.max(1, (millis + 999) / 1_000);
        String[] words = url.toLowerCase(Locale.ROOT).split(":", 3);
        return switch (words[1]) {
            case "postgresql" ->
                new UrlDefaults(
                        Map.of(
                                "connectTimeout",
                                "" + CONNECT_SECONDS,
                                "loginTimeout",
                                "" + CONNECT_SECONDS,
                                "tcpKeepAlive",
                                "true",
                                "ApplicationName",
                                "lockkeeper"),
                        "SET statement_timeout = " + millis + "; SET lock_timeout = " + millis
                                + "; SET idle_in_transaction_session_timeout = " + 10 * millis
                                + (options.relaxed() ? "; SET synchronous_commit = off" : ""),
                        null,
                        null,
                        false);
            case "mariadb", "mysql" ->
                new UrlDefaults(
                        Map.of("connectTimeout", "" + 1_000 * CONNECT_SECONDS),
                        "SET SESSION innodb_lock_wait_timeout = " + seconds,
                        null,
                        null,
                        false);
            case "sqlite" ->
                new UrlDefaults(
                        Map.of(
                                "journal_mode",
                                "WAL",
                                "busy_timeout",
                                "" + millis,
                                "synchronous",
                                options.relaxed() ? "NORMAL" : "FULL"),
                        null,
                        options.relaxed() ? null : "PRAGMA synchronous = NORMAL",
                        options.relaxed() ? null : "PRAGMA synchronous = FULL",
                        true);
            case "h2" -> new UrlDefaults(Map.of("LOCK_TIMEOUT", "" + millis), null, null, null, false);
            default -> new UrlDefaults(Map.of(), null, null, null, false);
        };
    }
}
