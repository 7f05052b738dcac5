// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis;

import io.lockkeeper.Mode;
import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.NameCodec;
import io.lockkeeper.spi.StoreTime;
import io.lockkeeper.spi.Terms;
import java.time.Duration;
import java.time.temporal.ChronoUnit;

/** The arguments and answers of the scripts: lines of plain words. */
final class ScriptProtocol {
    /** Longer than any meaningful duration, and far below 2^53. */
    private static final long MOST_MICROS = 4_000_000_000_000_000L;

    /** An empty label in a record, where a word must not be empty. */
    private static final String EMPTY = "%";

    private ScriptProtocol() {}

    static String mode(Mode mode) {
        return switch (mode) {
            case EXCLUSIVE -> "X";
            case SHARED -> "S";
            case PERMITS -> "P";
        };
    }

    static Mode mode(String word) {
        return switch (word) {
            case "X" -> Mode.EXCLUSIVE;
            case "S" -> Mode.SHARED;
            default -> Mode.PERMITS;
        };
    }

    static String flag(boolean flag) {
        return flag ? "1" : "0";
    }

    static long micros(Duration duration) {
        return duration.toSeconds() >= MOST_MICROS / 1_000_000 ? MOST_MICROS : duration.toNanos() / 1_000;
    }

    static Duration duration(String micros) {
        return Duration.of(Long.parseLong(micros), ChronoUnit.MICROS);
    }

    /** A deadline on the store's clock; on any other it has passed. */
    static String deadline(StoreTime deadline, long incarnation) {
        return deadline.incarnation() == incarnation ? Long.toString(Math.max(0, deadline.micros())) : "0";
    }

    /** A claim, as {@code claim.lua} takes it. */
    static String[] claim(Claim claim, long incarnation) {
        Terms terms = claim.terms();
        String delay = Long.toString(micros(terms.lockDelay()));
        String deadline = deadline(claim.deadline(), incarnation);
        return new String[] {
            claim.id().toString(),
            mode(terms.mode()),
            flag(claim.stray()),
            flag(terms.queue()),
            Long.toString(micros(terms.lease())),
            delay,
            deadline,
            Integer.toString(Math.max(1, terms.block())),
            Integer.toString(terms.limit()),
            Long.toString(micros(terms.firstLease())),
            Long.toString(micros(terms.patience())),
            delay + " " + deadline + " " + terms.permits() + " " + word(terms.client()) + " " + word(terms.label())
        };
    }

    /** A queued claim, as {@code renew.lua} takes it. */
    static String refresh(Claim claim, long incarnation) {
        return flag(claim.stray()) + " " + micros(claim.terms().patience()) + " "
                + deadline(claim.deadline(), incarnation);
    }

    static Answer answer(String line, long incarnation) {
        String[] words = line.split(" ");
        return switch (words[0]) {
            case "G" -> granted(words, 1, incarnation);
            case "Q" -> new Answer.Queued(Integer.parseInt(words[1]), duration(words[2]), time(words[3], incarnation));
            default ->
                new Answer.Refused(
                        Answer.Why.valueOf(words[1]), detail(words), Duration.ZERO, time(words[2], incarnation));
        };
    }

    static Answer.Granted granted(String[] words, int from, long incarnation) {
        return new Answer.Granted(
                Long.parseLong(words[from]),
                Integer.parseInt(words[from + 1]),
                duration(words[from + 2]),
                words[from + 3].equals("1"),
                time(words[from + 4], incarnation));
    }

    static StoreTime time(String micros, long incarnation) {
        return new StoreTime(incarnation, Long.parseLong(micros));
    }

    /** A text as one word of plain ASCII; no other text than the empty one is encoded as {@link #EMPTY}. */
    private static String word(String text) {
        return text.isEmpty() ? EMPTY : NameCodec.encode(text);
    }

    /**
     * The text of a word.
     *
     * @throws IllegalArgumentException if it is not the word of any text
     */
    static String text(String word) {
        return word.equals(EMPTY) ? "" : NameCodec.decode(word);
    }

    /** How a name is in use, to a claim that would use it in another way. */
    private static String detail(String[] words) {
        return switch (words.length > 3 ? words[3] : "") {
            case "semaphore" -> "a semaphore of " + words[4];
            case "lock" -> "a lock";
            default -> "";
        };
    }
}
