// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis;

import io.lockkeeper.LockInfo;
import io.lockkeeper.Mode;
import io.lockkeeper.Sequencer;
import io.lockkeeper.StoreUnavailableException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * What there is to see of a name at a moment, as {@code inspect.lua} found it. Holds that are over may still be in it; nothing
 * has touched it since. With {@code record.lua}, which describes the words of a hold, this is the only reader of records.
 */
final class View {
    private final String name;
    private final long now;
    private final long closed;
    private final long waiters;
    private final Mode waiterMode;
    private final int waiterLimit;
    private final List<Held> holders = new ArrayList<>();

    private record Held(
            Mode mode,
            long token,
            int block,
            long since,
            long expires,
            boolean confirmed,
            long recalled,
            long lockDelay,
            int permits,
            int limit,
            String client,
            String label) {
        static Held of(String line) {
            String[] words = line.split(" ");
            return new Held(
                    Words.mode(words[6]),
                    Long.parseLong(words[7]),
                    Integer.parseInt(words[8]),
                    Long.parseLong(words[9]),
                    Long.parseLong(words[0]),
                    words[3].equals("1"),
                    Long.parseLong(words[1]),
                    Long.parseLong(words[10]),
                    Integer.parseInt(words[12]),
                    Integer.parseInt(words[4]),
                    Code.decode(words[13]),
                    Code.decode(words[14]));
        }

        boolean covers(long candidate) {
            return candidate >= token && candidate - token < block;
        }

        /** Until when the name stays closed after this hold, if it ends by expiry. */
        long closedAfter() {
            if (recalled >= 0) {
                return expires + recalled;
            }
            return confirmed ? expires + lockDelay : 0;
        }
    }

    private View(String name, List<?> answer) {
        this.name = name;
        this.now = Long.parseLong(Words.text(answer.get(0)));
        this.closed = Long.parseLong(Words.text(answer.get(1)));
        this.waiters = (Long) answer.get(2);
        String[] firstWaiter = Words.text(answer.get(3)).split(" ");
        boolean isKnown = waiters > 0 && firstWaiter.length > 1;
        this.waiterMode = isKnown ? Words.mode(firstWaiter[0]) : Mode.EXCLUSIVE;
        this.waiterLimit = isKnown ? Integer.parseInt(firstWaiter[1]) : 0;
        for (Object line : answer.subList(4, answer.size())) {
            holders.add(Held.of(Words.text(line)));
        }
        holders.sort(Comparator.comparingLong(Held::since).thenComparingLong(Held::token));
    }

    /**
     * Reads what {@code inspect.lua} said; empty when there is nothing.
     *
     * @param damaged what to throw when the record makes no sense
     */
    static Optional<View> of(
            String name, Object answer, Function<RuntimeException, StoreUnavailableException> damaged) {
        List<?> parts = Words.list(answer);
        try {
            return parts.size() < 2 ? Optional.empty() : Optional.of(new View(name, parts));
        } catch (IllegalArgumentException | IndexOutOfBoundsException e) {
            throw damaged.apply(e);
        }
    }

    /** Whether the hold that the sequencer names is in force. */
    boolean has(Sequencer sequencer) {
        for (Held held : holders) {
            if (held.covers(sequencer.token()) && held.expires > now) {
                return held.mode == sequencer.mode() && held.recalled < 0;
            }
        }
        return false;
    }

    /** What people are shown; empty when nothing of it is in force. */
    Optional<LockInfo> describe() {
        List<LockInfo.Hold> holds = new ArrayList<>();
        Mode mode = waiterMode;
        int limit = waiterLimit;
        long closedUntil = closed;
        for (Held held : holders) {
            if (held.expires <= now) {
                closedUntil = Math.max(closedUntil, held.closedAfter());
            } else {
                mode = held.mode;
                limit = held.limit;
                holds.add(new LockInfo.Hold(
                        held.client,
                        held.label,
                        held.token,
                        held.permits,
                        Instant.EPOCH.plus(held.since, ChronoUnit.MICROS),
                        Duration.of(held.expires - now, ChronoUnit.MICROS)));
            }
        }
        Duration closedFor = Duration.of(Math.max(0, closedUntil - now), ChronoUnit.MICROS);
        if (holds.isEmpty() && waiters == 0 && closedFor.isZero()) {
            return Optional.empty();
        }
        return Optional.of(new LockInfo(name, mode, limit, holds, (int) waiters, closedFor));
    }
}
