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
 * <p><b>Sitting out</b> is counted on our own clock, from when we saw the provisional marker. That marker is what proves in the end
 * that the memory was not lost once more meanwhile: another loss would have taken it along, and whatever stands in its place
 * is another one, to be sat out from its own beginning. Whoever has sat it out makes it final, for all.
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

    /** Since when we have seen the same provisional marker. */
    private record Out(long count, long generation, long since) {}

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
        if (standing == Standing.SITS_OUT && left(member) == 0 && !clocks.lags(member)) {
            standing = confirm(member, found);
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
            if (known == null || known.count != found.count() || known.generation != found.generation()) {
                note(member, new Out(found.count(), found.generation(), ticker.nanos()), -1);
            }
        }
        return Standing.SITS_OUT;
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
    synchronized long left(Member member) {
        Out known = out[member.number()];
        return known == null ? 0 : Math.max(0, known.since + options.sitOut().toNanos() - ticker.nanos());
    }

    /** Leaves a provisional marker with a member that has none. On the member's thread. */
    void sitOut(Member member, StoreTime seen) {
        int nonce = ThreadLocalRandom.current().nextInt(Marker.NONCES);
        int quorum = quorum().orElse(ownNumber);
        Marker marker = new Marker(quorum, nonce, options.longestLease(), members, member.number(), false);
        standing(member, step(member, new LatchStep.Set(Marker.NAME, marker.count(), newId(), soonAfter(seen))));
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
