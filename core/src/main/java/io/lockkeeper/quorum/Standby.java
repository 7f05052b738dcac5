// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.quorum;

import io.lockkeeper.LockInfo;
import io.lockkeeper.Mode;
import io.lockkeeper.spi.Claim;
import java.time.Duration;
import java.util.BitSet;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * Standing by for names that others hold. Members are never queued on, so those who wait have to ask again and again; this keeps
 * that cheap.
 *
 * <p><b>Asking one.</b> A claim that waits for a name that a majority has refused does not claim again at all members. It asks
 * one, each time another, who holds the name, which changes nothing there. Only when that one does not know, or does not answer,
 * is it claimed again. So a member that has a leftover delays nobody for long.
 *
 * <p><b>Backing off.</b> The longer the same holder has had the name, the less often it is asked for: after an eighth of that
 * time again, so that a release is noticed after a fraction of the time for which the name was held. A new holder, or a vote that nobody has
 * won, starts from the beginning. Nobody waits past the end of the lease that a member has told.
 *
 * <p><b>Taking turns.</b> Claims of one client that wait for the same name are given times one after the other, so that many ask no
 * more often than one would; and with many names each is asked for less often.
 */
final class Standby {
    private static final long MILLI = 1_000_000;

    /** A name that has just been taken is asked for after this. */
    private static final long SHORTEST = 30 * MILLI;

    /** One name is asked for once in this time at least. */
    private static final long LONGEST = 1_000 * MILLI;

    /** With many names, each is asked for so much less often: in all some twenty times a second. */
    private static final long FOR_EACH_NAME = 50 * MILLI;

    /** However many there are, nobody waits for longer than this. */
    private static final long VERY_LONGEST = 5_000 * MILLI;

    private static final int PART_OF_AGE = 8;

    private final Ensemble all;
    private final Map<String, Watch> watches = new ConcurrentHashMap<>();
    private long tidiedAt;

    /** What is known of a name that is held by others. Guarded by itself. */
    private static final class Watch {
        /** Since when we have seen this holder. */
        long since;

        /** The greatest token that any member has told. One member may have another token for the same hold than the rest. */
        long greatest;

        /** Which members have been asked. */
        final BitSet asked = new BitSet();

        /** When the last of those who wait will come. */
        long last;

        /** How often somebody was asked. */
        int looks;
    }

    Standby(Ensemble all) {
        this.all = all;
    }

    /** When to come again, if the name is still held; null when the claim is to be made. */
    @Nullable
    Duration look(Claim claim) {
        Watch watch = watches.get(claim.name());
        if (watch == null) {
            return null;
        }
        int turn;
        synchronized (watch) {
            turn = watch.looks++;
        }
        Member one = all.members().get(turn % all.size());
        Round<Optional<LockInfo>> asked =
                all.ask(List.of(one), Member.Kind.STEP, member -> member.step(store -> store.inspect(claim.name())));
        asked.await(all.patience(), () -> asked.settled() == 1);
        Optional<LockInfo> info = asked.answer(one.number());
        if (info == null || info.isEmpty() || isOpenTo(claim.terms().mode(), info.get())) {
            return null;
        }
        return heldBy(watch, one.number(), info.get());
    }

    private static boolean isOpenTo(Mode mode, LockInfo info) {
        return info.closedFor().isZero()
                && (info.holders().isEmpty() || (mode == Mode.SHARED && info.mode() == Mode.SHARED));
    }

    private Duration heldBy(Watch watch, int member, LockInfo info) {
        long holder =
                info.holders().stream().mapToLong(LockInfo.Hold::token).max().orElse(0);
        Duration opensIn = info.holders().stream()
                .map(LockInfo.Hold::expiresIn)
                .max(Comparator.naturalOrder())
                .orElse(info.closedFor());
        synchronized (watch) {
            boolean isNew = watch.asked.get(member) && holder > watch.greatest;
            watch.asked.set(member);
            watch.greatest = Math.max(watch.greatest, holder);
            return next(watch, isNew, opensIn.toNanos());
        }
    }

    /** A majority has refused the claim: somebody holds the name. When to come again. */
    Duration refused(String name) {
        long now = all.now();
        tidy(now);
        Watch watch = watches.computeIfAbsent(name, n -> {
            Watch begun = new Watch();
            begun.since = now;
            begun.looks = ThreadLocalRandom.current().nextInt(all.size());
            return begun;
        });
        synchronized (watch) {
            return next(watch, false, Long.MAX_VALUE);
        }
    }

    /** The time for one who waits: after the others, not after the end of the lease. */
    private Duration next(Watch watch, boolean isNew, long opensIn) {
        long now = all.now();
        if (isNew) {
            watch.since = now;
            watch.last = now;
        }
        long longest = Math.min(VERY_LONGEST, Math.max(LONGEST, watches.size() * FOR_EACH_NAME));
        long pause = Math.min(Math.max((now - watch.since) / PART_OF_AGE, SHORTEST), longest);
        pause = ThreadLocalRandom.current().nextLong(pause / 2, pause + pause / 2);
        long at = Math.min(Math.max(now, watch.last) + pause, now + VERY_LONGEST);
        watch.last = Math.max(watch.last, at);
        // A moment later, and not all at the same one.
        long end = ThreadLocalRandom.current().nextLong(MILLI, 10 * MILLI);
        return Duration.ofNanos(Math.min(at - now, opensIn > VERY_LONGEST ? VERY_LONGEST : opensIn + end));
    }

    /** Something has happened to the name: it was granted, given back, or voted for without a winner. */
    void changed(String name) {
        watches.remove(name);
    }

    /** Forgets names that nobody has come for when it was time. */
    private void tidy(long now) {
        synchronized (this) {
            if (now - tidiedAt < VERY_LONGEST) {
                return;
            }
            tidiedAt = now;
        }
        watches.values().removeIf(watch -> {
            synchronized (watch) {
                return now - watch.last > 2 * VERY_LONGEST;
            }
        });
    }
}
