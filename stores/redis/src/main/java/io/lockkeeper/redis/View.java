// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis;

import io.lockkeeper.LockInfo;
import io.lockkeeper.Mode;
import io.lockkeeper.Sequencer;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What there is to see of a name at a moment: its record, as {@code inspect.lua} found it. Holds that are over may still be in
 * it; nothing has touched it since.
 */
final class View {
    private final String name;
    private final long now;
    private final long closed;
    private final long waiters;
    private final String[] firstWaiter;
    private final List<Held> holders = new ArrayList<>();

    private record Held(
            Mode mode,
            long token,
            int block,
            long since,
            long expires,
            boolean confirmed,
            long recalled,
            List<String> terms) {
        boolean covers(long candidate) {
            return candidate >= token && candidate - token < block;
        }

        /** Until when the name stays closed after this hold, if it ends by expiry. */
        long closedAfter() {
            if (recalled >= 0) {
                return expires + recalled;
            }
            return confirmed ? expires + Long.parseLong(terms.get(4)) : 0;
        }
    }

    private View(String name, List<?> answer) {
        this.name = name;
        this.now = Long.parseLong(Words.text(answer.get(0)));
        this.waiters = (Long) answer.get(1);
        this.firstWaiter = Words.text(answer.get(2)).split(" ");
        String[] lines = Words.text(answer.get(3)).split("\n");
        String[] head = lines[0].split(" ");
        Failures.requireFormat(head[0]);
        this.closed = Long.parseLong(head[1]);
        for (int i = 1; i < lines.length; i++) {
            String[] words = lines[i].split(" ", 10);
            holders.add(new Held(
                    Words.mode(words[1]),
                    Long.parseLong(words[3]),
                    Integer.parseInt(words[4]),
                    Long.parseLong(words[5]),
                    Long.parseLong(words[6]),
                    words[7].equals("1"),
                    Long.parseLong(words[8]),
                    List.of(words[9].split(" "))));
        }
    }

    /** Reads what {@code inspect.lua} said; empty when there is nothing. */
    static Optional<View> of(String name, Object answer) {
        List<?> parts = Words.list(answer);
        return parts.size() < 2 ? Optional.empty() : Optional.of(new View(name, parts));
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
        Mode mode = Mode.EXCLUSIVE;
        int limit = 0;
        long closedUntil = closed;
        if (waiters > 0 && firstWaiter.length > 3) {
            mode = Words.mode(firstWaiter[0]);
            limit = Integer.parseInt(firstWaiter[3]);
        }
        for (Held held : holders) {
            if (held.expires <= now) {
                closedUntil = Math.max(closedUntil, held.closedAfter());
            } else {
                mode = held.mode;
                limit = Integer.parseInt(held.terms.get(1));
                holds.add(new LockInfo.Hold(
                        Code.decode(held.terms.get(8)),
                        Code.decode(held.terms.get(9)),
                        held.token,
                        Integer.parseInt(held.terms.get(0)),
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
