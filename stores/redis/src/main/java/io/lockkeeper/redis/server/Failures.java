// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis.server;

import io.lockkeeper.StoreUnavailableException;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisException;

/** What an error of Redis means. */
public final class Failures {
    /** Errors that pass by themselves, or when an operator fixes the server; no other error of a server does. */
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
    private static final String FORMAT = "2";

    private static final String OTHER_FORMAT = "Redis holds a record of format ";

    static final String DAMAGED = "the record of this name is damaged, or was not written by Lockkeeper";

    /** An error of a command inside a script, after what such servers put before it. */
    private static final Pattern WRAPPED = Pattern.compile(
            "^.*@user_script: ?\\d*:? ?-?([A-Z]{2,}(?: .*)?|.*ser executing the script.*)$", Pattern.DOTALL);

    private Failures() {}

    static StoreUnavailableException of(JedisException e) {
        return of(e, "Redis failed");
    }

    /** @param what failed where, as a message begins with it */
    static StoreUnavailableException of(JedisException e, String what) {
        String said = said(e);
        String message = what + ": " + explain(said);
        if (lasts(e, said)) {
            return StoreUnavailableException.lasting(message, e);
        }
        return word(said).equals("TRYAGAIN") // the keys of some names are on the way to another server
                ? StoreUnavailableException.ofOneName(message, e)
                : new StoreUnavailableException(message, e);
    }

    /** Whether it concerns one record or key, which is damaged or was not written by us. */
    public static boolean isOfOneRecord(StoreUnavailableException e) {
        String message = String.valueOf(e.getMessage());
        return message.contains("WRONGTYPE")
                || message.contains("LKDAMAGED")
                || message.contains(DAMAGED)
                || message.contains(OTHER_FORMAT);
    }

    /** Whether a step was not carried out because its slot is being moved, and some of its keys are missing. */
    public static boolean isMovingSlot(StoreUnavailableException e) {
        return e.getCause() instanceof JedisException cause && word(said(cause)).equals("TRYAGAIN");
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

    /** Whether a step failed because a permission is missing. */
    public static boolean isDenied(StoreUnavailableException e) {
        return e.getCause() instanceof JedisException cause && isDenied(said(cause));
    }

    /** Whether a permission is missing; Redis reports it in another way when it is a script that lacks it. */
    public static boolean isDenied(String said) {
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

    private static String newer(String format) {
        return OTHER_FORMAT + format
                + ", written by another version of Lockkeeper, most likely a newer one; this one knows format "
                + FORMAT;
    }

    private static String explain(String said) {
        int format = said.indexOf("LKFORMAT");
        if (format >= 0) {
            return newer(said.substring(format).split("[ ,]")[1]);
        }
        if (said.contains("LKDAMAGED")) {
            return DAMAGED + ": " + said;
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

    /**
     * What the server meant. Before version 7, Redis wraps the errors of commands in a script: {@code ERR Error running script (call
     * to f_…): @user_script:5: @user_script: 5: -OOM command not allowed …}; some later ones say {@code @user_script: 5: OOM …}.
     */
    public static String said(Throwable e) {
        String said = String.valueOf(e.getMessage());
        if (!said.contains("user_script")) {
            return said;
        }
        Matcher wrapped = WRAPPED.matcher(said);
        return wrapped.find() ? wrapped.group(1) : said;
    }

    /** Whether the server has no room for what a script would write. */
    static boolean isFull(JedisDataException e) {
        return word(said(e)).equals("OOM");
    }

    private static String word(String said) {
        int blank = said.indexOf(' ');
        return blank < 0 ? said : said.substring(0, blank);
    }
}
