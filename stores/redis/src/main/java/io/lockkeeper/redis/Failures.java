// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis;

import io.lockkeeper.StoreUnavailableException;
import java.util.Set;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisException;

/** What an error of Redis means. */
final class Failures {
    /** What passes by itself, or when somebody does something about the server; all else that a server says will not. */
    private static final Set<String> PASSING = Set.of(
            "BUSY",
            "CLUSTERDOWN",
            "LOADING",
            "MASTERDOWN",
            "MISCONF",
            "MOVED",
            "ASK",
            "NOREPLICAS",
            "NOSCRIPT",
            "OOM",
            "READONLY",
            "TRYAGAIN",
            "UNBLOCKED",
            "UNKILLABLE");

    private static final Set<String> OF_THIS_SERVER = Set.of("READONLY", "MASTERDOWN", "CLUSTERDOWN", "LOADING");

    /** The format of records, as the scripts write it. */
    private static final String FORMAT = "1";

    private Failures() {}

    static StoreUnavailableException of(JedisException e) {
        String said = said(e);
        String message = "Redis failed: " + explain(said);
        return lasts(e, said)
                ? StoreUnavailableException.lasting(message, e)
                : new StoreUnavailableException(message, e);
    }

    /** Whether another server may be the right one. */
    static boolean isOfThisServer(JedisException e) {
        return e instanceof JedisConnectionException || OF_THIS_SERVER.contains(word(said(e)));
    }

    private static boolean lasts(JedisException e, String said) {
        if (isRefusal(said) || isCertificate(e)) {
            return true;
        }
        if (e instanceof JedisConnectionException || said.contains("max number of clients")) {
            return false;
        }
        return !PASSING.contains(word(said));
    }

    private static boolean isRefusal(String said) {
        return switch (word(said)) {
            case "NOAUTH", "WRONGPASS", "NOPERM" -> true;
            default ->
                isDenied(said) || said.contains("invalid password") || said.contains("invalid username-password");
        };
    }

    /** Whether a permission is missing; Redis says it in another way when it is a script that lacks it. */
    static boolean isDenied(String said) {
        return word(said).equals("NOPERM") || said.contains("user executing the script");
    }

    private static boolean isCertificate(Throwable e) {
        for (Throwable t = e; t != null; t = t.getCause()) {
            if (t instanceof java.security.cert.CertificateException
                    || t instanceof java.security.cert.CertPathValidatorException) {
                return true;
            }
        }
        return false;
    }

    /** Refuses records that a newer Lockkeeper has written. */
    static void requireFormat(String format) {
        if (!format.equals(FORMAT)) {
            throw StoreUnavailableException.lasting(newer(format), null);
        }
    }

    private static String newer(String format) {
        return "Redis holds a record of format " + format + ", written by a newer Lockkeeper; this one knows format "
                + FORMAT;
    }

    private static String explain(String said) {
        int format = said.indexOf("LKFORMAT");
        if (format >= 0) {
            return newer(said.substring(format).split("[ ,]")[1]);
        }
        return switch (word(said)) {
            case "OOM" -> "it is full (maxmemory is reached, and nothing may be evicted): " + said;
            case "READONLY" -> "it is a replica: " + said;
            default ->
                isDenied(said)
                        ? "the user lacks a permission (docs/stores/redis.md has the rule that suffices): " + said
                        : said;
        };
    }

    private static String said(Throwable e) {
        return String.valueOf(e.getMessage());
    }

    private static String word(String said) {
        int blank = said.indexOf(' ');
        return blank < 0 ? said : said.substring(0, blank);
    }
}
