// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis;

import io.lockkeeper.LockInfo;
import io.lockkeeper.Mode;
import io.lockkeeper.Sequencer;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.redis.server.Reply;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * The state of a name at one moment, as {@code inspect.lua} found it. Holds that are over may still be in it, if
 * nothing has touched the name since. The line of a hold is described in {@code format.lua}, where scripts read and
 * write it; this is the only place in Java that reads it.
 */
final class NameSnapshot {
    private final String name;
    private final long now;
    private final long closed;
    private final long waiters;
    private final Mode waiterMode;
    private final int waiterLimit;
    private final List<Holder> holders = new ArrayList<>();

    private record Holder(
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
        static Holder of(String line) {
            String[] words = line.split(" ");
            return new Holder(
                    ScriptProtocol.mode(words[6]),
                    Long.parseLong(words[7]),
                    Integer.parseInt(words[8]),
                    Long.parseLong(words[9]),
                    Long.parseLong(words[0]),
                    words[3].equals("1"),
                    Long.parseLong(words[1]),
                    Long.parseLong(words[10]),
                    Integer.parseInt(words[12]),
                    Integer.parseInt(words[4]),
                    ScriptProtocol.text(words[13]),
                    ScriptProtocol.text(words[14]));
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

    private NameSnapshot(String name, List<?> answer) {
        this.name = name;
        this.now = Long.parseLong(Reply.text(answer.get(0)));
        this.closed = Long.parseLong(Reply.text(answer.get(1)));
        this.waiters = (Long) answer.get(2);
        String[] firstWaiter = Reply.text(answer.get(3)).split(" ");
        boolean isKnown = waiters > 0 && firstWaiter.length > 1;
        this.waiterMode = isKnown ? ScriptProtocol.mode(firstWaiter[0]) : Mode.EXCLUSIVE;
        this.waiterLimit = isKnown ? Integer.parseInt(firstWaiter[1]) : 0;
        for (Object line : answer.subList(4, answer.size())) {
            holders.add(Holder.of(Reply.text(line)));
        }
        holders.sort(Comparator.comparingLong(Holder::since).thenComparingLong(Holder::token));
    }

    /**
     * Reads the answer of {@code inspect.lua}; empty when there is nothing.
     *
     * @param damaged what to throw when the record makes no sense
     */
    static Optional<NameSnapshot> of(
            String name, Object answer, Function<RuntimeException, StoreUnavailableException> damaged) {
        List<?> parts = Reply.list(answer);
        try {
            return parts.size() < 2 ? Optional.empty() : Optional.of(new NameSnapshot(name, parts));
        } catch (IllegalArgumentException | IndexOutOfBoundsException e) {
            throw damaged.apply(e);
        }
    }

    /** Whether the hold that the sequencer names is in force. */
    boolean has(Sequencer sequencer) {
        for (Holder holder : holders) {
            if (holder.covers(sequencer.token()) && holder.expires > now) {
                return holder.mode == sequencer.mode() && holder.recalled < 0;
            }
        }
        return false;
    }

    /** The description for people; empty when nothing of it is in force. */
    Optional<LockInfo> describe() {
        List<LockInfo.Hold> holds = new ArrayList<>();
        Mode mode = waiterMode;
        int limit = waiterLimit;
        long closedUntil = closed;
        for (Holder holder : holders) {
            if (holder.expires <= now) {
                closedUntil = Math.max(closedUntil, holder.closedAfter());
            } else {
                mode = holder.mode;
                limit = holder.limit;
                holds.add(new LockInfo.Hold(
                        holder.client,
                        holder.label,
                        holder.token,
                        holder.permits,
                        Instant.EPOCH.plus(holder.since, ChronoUnit.MICROS),
                        Duration.of(holder.expires - now, ChronoUnit.MICROS)));
            }
        }
        Duration closedFor = Duration.of(Math.max(0, closedUntil - now), ChronoUnit.MICROS);
        if (holds.isEmpty() && waiters == 0 && closedFor.isZero()) {
            return Optional.empty();
        }
        return Optional.of(new LockInfo(name, mode, limit, holds, (int) waiters, closedFor));
    }
}
