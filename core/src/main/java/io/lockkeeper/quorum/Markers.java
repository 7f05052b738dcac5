// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.quorum;

import io.lockkeeper.spi.ClaimId;
import io.lockkeeper.spi.LatchState;
import io.lockkeeper.spi.LatchStep;
import io.lockkeeper.spi.StoreTime;
import io.lockkeeper.spi.Ticker;
import java.util.Arrays;
import java.util.OptionalInt;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Who may be counted: a member whose {@link Marker} is final. One without it has lost its memory: it may have forgotten a
 * grant, and sits out the longest lease and the allowed clock lead. Then no lease that it could have forgotten is left, and
 * its tokens, which follow its clock, have passed those that it forgot.
 *
 * <p>A marker is looked for <em>after</em> a grant. What is there then was there when the grant was made, or has been sat
 * out since; so the grant was not made by a member that had forgotten something.
 *
 * <p><b>Sitting out</b> is counted from when the provisional marker was seen. That marker is what proves in the end that the
 * memory was not lost once more meanwhile: another loss would have taken it along, and whatever stands in its place is
 * another one, to be sat out from its own beginning. A client that finds that it has been sat out makes it final, for all.
 *
 * <p>The time is counted twice, and what is over first counts. A client that lives long enough counts on its own monotonic
 * clock. What clients see that live for seconds must outlive them: the first of them <em>dates</em> the provisional marker with
 * a second latch at the same member, named after it, whose count is a time that the clocks of a majority had not passed then;
 * it is over when the clocks of a majority have passed that time and {@link QuorumOptions#jointSitOut} more. See
 * {@link Clocks#notPassedByMajority}; no single clock can shorten it, the member's own least of all.
 */
final class Markers {
    private final QuorumOptions options;
    private final Ticker ticker;
    private final Clocks clocks;
    private final int members;
    private final @Nullable Out[] out;
    private final int[] quorums;
    private final String client = UUID.randomUUID().toString().replace("-", "");
    private final AtomicLong steps = new AtomicLong();

    /** What this client calls a quorum that has no number yet. */
    private final int ownNumber = ThreadLocalRandom.current().nextInt(Marker.QUORUMS);

    /** What a look found. */
    enum Standing {
        /** It remembers. */
        COUNTS,
        /** It has lost its memory and sits out. */
        SITS_OUT,
        /** It has no marker at all. */
        BLANK
    }

    /**
     * A look at a marker.
     *
     * @param standing what was found
     * @param at when, on the member's clock
     */
    record Look(Standing standing, StoreTime at) {}

    /**
     * A provisional marker that we have seen.
     *
     * @param since when we first saw it, on our own clock
     * @param date what it was dated with; 0 while we do not know
     */
    private record Out(long count, long generation, long since, long date) {
        boolean isOf(LatchState found) {
            return count == found.count() && generation == found.generation();
        }
    }

    /** What a date must stay below; see {@link Marker}. */
    private static final long MOST = 1L << 53;

    Markers(QuorumOptions options, Ticker ticker, Clocks clocks, int members) {
        this.options = options;
        this.ticker = ticker;
        this.clocks = clocks;
        this.members = members;
        this.out = new Out[members];
        this.quorums = new int[members];
        Arrays.fill(quorums, -1);
    }

    /** Looks whether the member remembers; makes the marker final if that is due. On the member's thread. */
    Look look(Member member) {
        LatchState found = step(member, new LatchStep.Look(Marker.NAME));
        Standing standing = standing(member, found);
        if (standing == Standing.SITS_OUT) {
            date(member, found);
            Out known = out(member);
            // Another client may have found another marker since.
            if (known != null && known.isOf(found) && left(known) == 0 && !clocks.lags(member)) {
                standing = confirm(member, found);
            }
        }
        return new Look(standing, found.at());
    }

    private Standing standing(Member member, LatchState found) {
        if (found.count() == 0) {
            note(member, null, -1);
            return Standing.BLANK;
        }
        Marker marker = Marker.of(found.count());
        marker.mustAgreeWith(new Marker(0, 0, options.longestLease(), members, member.number(), true));
        if (marker.isFinal()) {
            note(member, null, marker.quorum());
            return Standing.COUNTS;
        }
        synchronized (this) {
            Out known = out[member.number()];
            if (known == null || !known.isOf(found)) {
                note(member, new Out(found.count(), found.generation(), ticker.nanos(), 0), -1);
            }
        }
        return Standing.SITS_OUT;
    }

    /**
     * Finds out what the provisional marker was dated with, or dates it now: later than it was set, so that nothing is counted
     * that was before it. One without a date was left by a client that ended, or had not heard a majority of clocks.
     */
    private void date(Member member, LatchState found) {
        Out known = out(member);
        if (known == null || !known.isOf(found) || known.date > 0) {
            return;
        }
        String name = Marker.NAME + "-since-" + found.count() + "-" + found.generation();
        LatchState dated = step(member, new LatchStep.Look(name));
        Long date = clocks.notPassedByMajority(ticker.nanos());
        if (dated.count() == 0 && date != null && date < MOST) {
            dated = step(member, new LatchStep.Set(name, Math.max(1, date), newId(), soonAfter(found.at())));
        }
        synchronized (this) {
            if (known.equals(out[member.number()])) {
                out[member.number()] = new Out(known.count, known.generation, known.since, dated.count());
            }
        }
    }

    private synchronized @Nullable Out out(Member member) {
        return out[member.number()];
    }

    private synchronized void note(Member member, @Nullable Out since, int quorum) {
        out[member.number()] = since;
        quorums[member.number()] = quorum;
    }

    /** Looks at a member that is not known to remember, and has it sit out if it has no marker. On the member's thread. */
    void tend(Member member) {
        Look found = look(member);
        if (found.standing() == Standing.BLANK) {
            sitOut(member, found.at());
        }
    }

    /** Whether this member sat out when we last looked. */
    synchronized boolean sitsOut(Member member) {
        return out[member.number()] != null;
    }

    /** How long this member still sits out, in nanoseconds; 0 when it does not, or has. */
    long left(Member member) {
        Out known = out(member);
        return known == null ? 0 : left(known);
    }

    private long left(Out known) {
        long now = ticker.nanos();
        long left = known.since + options.sitOut().toNanos() - now;
        Long passed = known.date == 0 ? null : clocks.passedByMajority(now);
        if (passed != null) {
            left = Math.min(left, options.jointSitOut().toNanos() - (passed - known.date) * 1_000);
        }
        return Math.max(0, left);
    }

    /** Leaves a provisional marker with a member that has none. On the member's thread. */
    void sitOut(Member member, StoreTime seen) {
        int nonce = ThreadLocalRandom.current().nextInt(Marker.NONCES);
        int quorum = quorum().orElse(ownNumber);
        Marker marker = new Marker(quorum, nonce, options.longestLease(), members, member.number(), false);
        LatchState state = step(member, new LatchStep.Set(Marker.NAME, marker.count(), newId(), soonAfter(seen)));
        if (standing(member, state) == Standing.SITS_OUT) {
            date(member, state);
        }
    }

    /**
     * Marks a member of a fresh quorum: every member has answered, and none had a marker. Somebody else may have been quicker,
     * or have left a provisional one since. On the member's thread.
     */
    boolean start(Member member, StoreTime seen) {
        int quorum = quorum().orElse(ownNumber);
        Marker marker = new Marker(quorum, 0, options.longestLease(), members, member.number(), true);
        LatchState state = step(member, new LatchStep.Set(Marker.NAME, marker.count(), newId(), soonAfter(seen)));
        Standing standing = standing(member, state);
        if (standing == Standing.SITS_OUT) {
            LatchState counted = step(member, new LatchStep.CountDown(Marker.NAME, newId(), soonAfter(seen)));
            standing = standing(member, counted);
        }
        return standing == Standing.COUNTS;
    }

    private Standing confirm(Member member, LatchState seen) {
        LatchState after = step(member, new LatchStep.CountDown(Marker.NAME, newId(), soonAfter(seen.at())));
        return standing(member, after);
    }

    private ClaimId newId() {
        return new ClaimId(client, steps.incrementAndGet());
    }

    /** A step that was held up is not to be carried out on what has changed since. */
    private StoreTime soonAfter(StoreTime seen) {
        return seen.plusMicros(4 * options.memberTimeout().toNanos() / 1_000);
    }

    private static LatchState step(Member member, LatchStep step) {
        return member.step(Marker.NAME, store -> store.latch(step), LatchState::at);
    }

    /** The number that most of the markers seen have; of several, that of the first member. */
    synchronized OptionalInt quorum() {
        int best = -1;
        int votes = 0;
        for (int candidate : quorums) {
            int mine = 0;
            for (int other : quorums) {
                mine += other == candidate ? 1 : 0;
            }
            if (candidate >= 0 && mine > votes) {
                best = candidate;
                votes = mine;
            }
        }
        return best < 0 ? OptionalInt.empty() : OptionalInt.of(best);
    }
}
