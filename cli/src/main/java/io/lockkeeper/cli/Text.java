// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.cli;

import io.lockkeeper.LeaseLost;
import io.lockkeeper.LockInfo;
import java.time.Duration;
import java.time.Instant;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Values as people write and read them. */
final class Text {
    private static final Pattern DURATION = Pattern.compile("(\\d{1,9})(ms|s|m|h)");

    /** As {@link Duration#toString} writes it; not inside a name or a value, which are anybody's. */
    private static final Pattern ISO = Pattern.compile(
            "(?<![\\w'\"./-])PT(?=\\d)(?:\\d{1,9}H)?(?:\\d{1,2}M)?(?:\\d{1,2}(?:\\.\\d{1,9})?S)?(?![\\w'\"])");

    private Text() {}

    /**
     * Reads {@code 500ms}, {@code 10s}, {@code 1m30s}, {@code 2h} or {@code 0}.
     *
     * @param range what the option takes, as in "1s to 24h", for the message; empty if it takes any duration
     */
    static Duration duration(String option, String range, String text) {
        if (text.equals("0")) {
            return Duration.ZERO;
        }
        Duration sum = Duration.ZERO;
        Matcher m = DURATION.matcher(text);
        int at = 0;
        while (m.find() && m.start() == at) {
            long n = Long.parseLong(m.group(1));
            sum = sum.plus(
                    switch (m.group(2)) {
                        case "ms" -> Duration.ofMillis(n);
                        case "s" -> Duration.ofSeconds(n);
                        case "m" -> Duration.ofMinutes(n);
                        default -> Duration.ofHours(n);
                    });
            at = m.end();
        }
        if (at == 0 || at != text.length()) {
            throw new Failure(
                    Exit.USAGE,
                    option + " is '" + text + "'; it takes a duration" + (range.isEmpty() ? "" : " of " + range)
                            + " with the units ms, s, m and h, as in 10s, 500ms or 1m30s");
        }
        return sum;
    }

    /** As {@link #duration} reads it; in ISO form if that cannot be. */
    static String written(Duration duration) {
        if (duration.isZero()) {
            return "0";
        }
        if (duration.isNegative() || duration.toNanosPart() % 1_000_000 != 0) {
            return duration.toString();
        }
        return part(duration.toHours(), "h")
                + part(duration.toMinutesPart(), "m")
                + part(duration.toSecondsPart(), "s")
                + part(duration.toMillisPart(), "ms");
    }

    private static String part(long n, String unit) {
        return n == 0 ? "" : n + unit;
    }

    /** A message of the library, with durations as the command line takes them. */
    static String withDurations(@Nullable String message) {
        return ISO.matcher(String.valueOf(message)).replaceAll(found -> written(Duration.parse(found.group())));
    }

    /** Why a lock was lost. */
    static String reason(LeaseLost.Reason reason) {
        return switch (reason) {
            case BROKEN -> "somebody broke it";
            case EXPIRED -> "its lease had ended, or the store no longer knew it";
            case SESSION_LOST -> "the session at the store ended, or the file of locks was removed or replaced";
            case STORE_UNREACHABLE -> "the store could not be reached";
            case MAX_HOLD -> "it was held for the longest time that is allowed";
            case OWNER_DIED -> "its holder has ended without releasing it";
            case CLOSED -> "lockkeeper has closed its connection to the store";
        };
    }

    static String brief(Duration duration) {
        long seconds = duration.toSeconds();
        if (seconds < 10 && duration.toMillisPart() > 0) {
            return String.format(java.util.Locale.ROOT, "%.1f s", duration.toMillis() / 1000.0);
        }
        if (seconds < 120) {
            return seconds + " s";
        }
        if (seconds < 7200) {
            return seconds / 60 + " min " + seconds % 60 + " s";
        }
        return seconds / 3600 + " h " + seconds / 60 % 60 + " min";
    }

    /** How long ago; the store's clock may be ahead of ours. */
    static String age(Instant since) {
        Duration age = Duration.between(since, Instant.now());
        return brief(age.isNegative() ? Duration.ZERO : Duration.ofSeconds(age.toSeconds()));
    }

    /** {@code billing-7 (pid 4711)} for a client that is named {@code billing-7:4711}. */
    static String client(LockInfo.Hold hold) {
        String client = hold.client();
        int colon = client.lastIndexOf(':');
        boolean hasPid = colon > 0
                && colon < client.length() - 1
                && client.substring(colon + 1).chars().allMatch(c -> c >= '0' && c <= '9');
        return safe(hasPid ? client.substring(0, colon) + " (pid " + client.substring(colon + 1) + ")" : client);
    }

    /** Without anything that a terminal might obey: names are anybody's. */
    static String safe(String text) {
        return escape(text, false);
    }

    static String safeLines(String text) {
        return escape(text, true);
    }

    private static String escape(String text, boolean lines) {
        StringBuilder out = new StringBuilder(text.length());
        text.codePoints().forEach(c -> {
            if (lines && c == '\n') {
                out.append('\n');
            } else if (isHarmless(c)) {
                out.appendCodePoint(c);
            } else {
                out.append(String.format("\\u%04x", c));
            }
        });
        return out.toString();
    }

    private static boolean isHarmless(int c) {
        return switch (Character.getType(c)) {
            case Character.CONTROL,
                    Character.FORMAT,
                    Character.SURROGATE,
                    Character.UNASSIGNED,
                    Character.LINE_SEPARATOR,
                    Character.PARAGRAPH_SEPARATOR -> false;
            default -> true;
        };
    }
}
