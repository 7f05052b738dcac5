// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.quorum;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The algorithm of a quorum, small: three members, two clients, exclusive holds of one name, time in ticks. A state has all
 * the states that one step leads to: a message arrives or is lost, a client decides, gives up or releases, a member loses its
 * memory, time passes. In every reachable state no two clients hold validly, and each hold reported has a greater token
 * than all before it.
 *
 * <p>Times are kept as what is left, tokens as their distance from the members' clock, and what can make no difference any
 * more is forgotten; so there are finitely many states although time, attempts and losses go on for ever. Only two things are
 * bounded: tokens run ahead of the clock by at most {@link #MOST_AHEAD} (which is the allowed lead), and memory is lost by a
 * minority: while all other members count. The members are alike, and so are the clients: of states that differ in their order
 * only one is looked at.
 */
final class QuorumSpec {
    /** The algorithm, or a mistake in it. */
    enum Variant {
        RIGHT,
        /** The hold is reported without its token having been written back. */
        NO_WRITE_BACK,
        /** A member that has lost its memory is counted at once. */
        NO_MARKER,
        /** The marker is looked for before the claim, not after it. */
        LOOKS_FIRST,
        /** Sitting out is over when the time is over, whatever became of the provisional marker. */
        NO_PROVISIONAL_MARKER,
        /** It is over too soon. */
        SITS_OUT_TOO_SHORT,
        /** Clients that sit out together go by the clock of the member that sits out. */
        DATED_BY_ITS_OWN_CLOCK,
        /** They go by any clock that they hear. */
        DATED_BY_ANY_CLOCK,
        /** What they have noted is found again after another loss. */
        DATE_OUTLIVES_THE_MARKER,
        /** A renewal that one member answers is enough. */
        RENEWS_WITHOUT_MAJORITY,
        /** Validity counts from when the answer comes. */
        COUNTS_FROM_THE_ANSWER
    }

    /** Without a bound. */
    static final int ALWAYS = 99;

    private static final int MEMBERS = 3;
    private static final int CLIENTS = 2;
    private static final int MAJORITY = 2;
    private static final int TOKENS_A_TICK = 1;
    private static final int MOST_AHEAD = 1;

    /** Tokens that are further behind the clock than this cannot be written any more: their claims have ended. */
    private static final int OLD = -3 * TOKENS_A_TICK;

    // Who holds a member.
    private static final int FREE = 0;
    private static final int STALE = CLIENTS + 1;

    // Its marker.
    private static final int BLANK = 0;
    private static final int PROVISIONAL = 1;
    private static final int FINAL = 2;

    // What a client does.
    private static final int CLAIMING = 0;
    private static final int WRITING = 1;
    private static final int HOLDING = 2;
    private static final int RENEWING = 3;

    // What a client knows of its claim at a member.
    private static final int NONE = 0;
    private static final int LOOKED = 1;
    private static final int GRANTED = 2;
    private static final int COUNTED = 3;
    private static final int WRITTEN = 4;

    /**
     * What is left out, so that the rest can be gone through.
     *
     * @param renews whether holds are renewed, and healed
     * @param looksAtOnce whether a marker is looked for in the same step as the claim, or in another one
     * @param losses how often a member loses its memory; {@link #ALWAYS} for no bound
     * @param lease how long a lease is, in ticks; sitting out takes one more
     * @param together whether clients live for a moment, so that what they see of a member that sits out has to be noted
     *     there; and the clock of one member is ahead now and then. What that does to leases and tokens is left out: it is
     *     about the time that members sit out
     */
    record Scope(boolean renews, boolean looksAtOnce, int losses, int lease, boolean together) {
        Scope(boolean renews, boolean looksAtOnce, int losses, int lease) {
            this(renews, looksAtOnce, losses, lease, false);
        }
    }

    /** Not noted yet. */
    private static final int UNDATED = -99;

    private final Variant variant;
    private final Scope scope;
    private int lastToken = OLD;
    private int losses;
    private final int[] holder = new int[MEMBERS];
    private final int[] left = new int[MEMBERS];
    private final int[] floor = new int[MEMBERS];
    private final int[] marker = new int[MEMBERS];
    private final int[] phase = new int[CLIENTS];
    private final int[] token = new int[CLIENTS];
    private final int[] roundAge = new int[CLIENTS];
    private final int[][] knows = new int[CLIENTS][MEMBERS];
    private final int[][] offered = new int[CLIENTS][MEMBERS];
    private final int[][] surely = new int[CLIENTS][MEMBERS];

    /** How long the client has seen the member's provisional marker; -1 when it has not seen this one. */
    private final int[][] out = new int[CLIENTS][MEMBERS];

    /** How long ago the member's provisional marker was dated, less what the clock showed by which it was. */
    private final int[] since = new int[MEMBERS];

    /** By how much a member's clock is ahead. */
    private final int[] clock = new int[MEMBERS];

    /** What is wrong with this state; null when nothing is. */
    @Nullable
    String wrong;

    /** The step that led here. */
    String step = "start";

    /** All members count, nobody does anything. */
    QuorumSpec(Variant variant, Scope scope) {
        this.variant = variant;
        this.scope = scope;
        this.losses = scope.losses;
        Arrays.fill(marker, FINAL);
        Arrays.fill(floor, -1);
        Arrays.fill(since, UNDATED);
        for (int c = 0; c < CLIENTS; c++) {
            Arrays.fill(out[c], -1);
        }
    }

    // ---- States ----

    private QuorumSpec(QuorumSpec o) {
        variant = o.variant;
        scope = o.scope;
        lastToken = o.lastToken;
        losses = o.losses;
        for (int[][] pair : new int[][][] {
            {o.holder, holder},
            {o.left, left},
            {o.floor, floor},
            {o.marker, marker},
            {o.since, since},
            {o.clock, clock},
            {o.phase, phase},
            {o.token, token},
            {o.roundAge, roundAge}
        }) {
            System.arraycopy(pair[0], 0, pair[1], 0, pair[0].length);
        }
        for (int c = 0; c < CLIENTS; c++) {
            System.arraycopy(o.knows[c], 0, knows[c], 0, MEMBERS);
            System.arraycopy(o.offered[c], 0, offered[c], 0, MEMBERS);
            System.arraycopy(o.surely[c], 0, surely[c], 0, MEMBERS);
            System.arraycopy(o.out[c], 0, out[c], 0, MEMBERS);
        }
    }

    /** A number that states have in common that differ only in the order of members and clients. */
    long key() {
        return Math.min(key(0, 1), key(1, 0));
    }

    private long key(int first, int second) {
        int[] clients = {first, second};
        long[] columns = new long[MEMBERS];
        for (int m = 0; m < MEMBERS; m++) {
            int who = holder[m] == FREE || holder[m] == STALE ? holder[m] : clients[holder[m] - 1] + 1;
            long column = mix(mix(mix(mix(1, who), left[m]), floor[m]), marker[m]);
            column = scope.together ? mix(mix(column, since[m]), clock[m]) : column;
            for (int c : clients) {
                // While it holds the member, it was offered what the floor says; a final marker ends all sitting out.
                int offer = holder[m] == c + 1 ? 0 : offered[c][m];
                int seen = marker[m] == FINAL && variant != Variant.NO_PROVISIONAL_MARKER ? -1 : out[c][m];
                column = mix(mix(mix(mix(column, knows[c][m]), offer), surely[c][m]), seen);
            }
            columns[m] = column;
        }
        Arrays.sort(columns);
        long key = mix(mix(2, lastToken), losses);
        for (long column : columns) {
            key = mix(key, column);
        }
        for (int c : clients) {
            key = mix(mix(mix(key, phase[c]), token[c]), roundAge[c]);
        }
        return key;
    }

    private static long mix(long key, long more) {
        long mixed = (key ^ (more + 0x9e3779b97f4a7c15L)) * 0xbf58476d1ce4e5b9L;
        mixed = (mixed ^ (mixed >>> 29)) * 0x94d049bb133111ebL;
        return mixed ^ (mixed >>> 32);
    }

    private void to(List<QuorumSpec> all, String what, Consumer<QuorumSpec> change) {
        QuorumSpec next = new QuorumSpec(this);
        next.step = what;
        change.accept(next);
        all.add(next);
    }

    // ---- Steps ----

    List<QuorumSpec> next() {
        List<QuorumSpec> all = new ArrayList<>();
        to(all, "time passes", QuorumSpec::tick);
        for (int m = 0; m < MEMBERS; m++) {
            int member = m;
            if (losses > 0 && othersCount(m)) {
                to(all, "member " + m + " loses its memory", s -> s.lose(member));
            }
            if (scope.together && (clock[m] != 0 || Arrays.stream(clock).allMatch(ahead -> ahead == 0))) {
                // By as much as a member sits out: no more can come of more.
                to(all, "member " + m + " jumps", s -> s.clock[member] = clock[member] == 0 ? scope.lease + 1 : 0);
            }
        }
        for (int c = 0; c < CLIENTS; c++) {
            stepsOf(c, all);
        }
        return all;
    }

    private void stepsOf(int c, List<QuorumSpec> all) {
        switch (phase[c]) {
            case CLAIMING -> claiming(c, all);
            case WRITING -> writing(c, all);
            case HOLDING -> {
                ends(c, all);
                if (scope.renews) {
                    to(all, "client " + c + " begins to renew", s -> s.beginRenewal(c));
                }
            }
            case RENEWING -> renewing(c, all);
            default -> throw new AssertionError();
        }
    }

    private void claiming(int c, List<QuorumSpec> all) {
        for (int m = 0; m < MEMBERS; m++) {
            int member = m;
            int known = knows[c][m];
            if (known == (variant == Variant.LOOKS_FIRST ? LOOKED : NONE)
                    && holder[m] == FREE
                    && floor[m] < MOST_AHEAD) {
                to(all, "client " + c + " is let in by " + m, s -> {
                    s.claim(c, member, true);
                    if (scope.looksAtOnce && s.knows[c][member] == GRANTED) {
                        s.look(c, member);
                    }
                });
                to(all, "client " + c + " is let in by " + m + " unheard", s -> s.claim(c, member, false));
            } else if (known == (variant == Variant.LOOKS_FIRST ? NONE : GRANTED)) {
                to(all, "client " + c + " looks at " + m, s -> s.look(c, member));
            }
        }
        if (count(c, COUNTED) >= MAJORITY) {
            to(all, "client " + c + " chooses a token", s -> s.choose(c));
        }
        ends(c, all);
    }

    private void writing(int c, List<QuorumSpec> all) {
        for (int m = 0; m < MEMBERS; m++) {
            int member = m;
            if (knows[c][m] == COUNTED) {
                to(all, "client " + c + " writes to " + m, s -> s.write(c, member));
            }
        }
        boolean written = variant == Variant.NO_WRITE_BACK || count(c, WRITTEN) >= MAJORITY;
        if (written && isValid(c)) {
            to(all, "client " + c + " holds, token " + token[c], s -> s.report(c));
        }
        ends(c, all);
    }

    private void renewing(int c, List<QuorumSpec> all) {
        for (int m = 0; m < MEMBERS; m++) {
            int member = m;
            if (knows[c][m] == COUNTED) {
                to(all, "client " + c + " renews at " + m, s -> s.write(c, member));
            } else if (knows[c][m] == NONE && count(c, WRITTEN) >= MAJORITY && holder[m] == FREE) {
                to(all, "client " + c + " heals at " + m, s -> s.heal(c, member));
            }
        }
        to(all, "client " + c + " has renewed", s -> s.renewed(c));
    }

    /** It releases or gives up, or dies and tells nobody; the client is then as one that has just come. */
    private void ends(int c, List<QuorumSpec> all) {
        to(all, "client " + c + " ends", s -> s.end(c, true));
        to(all, "client " + c + " dies", s -> s.end(c, false));
    }

    // ---- What happens ----

    private void tick() {
        for (int m = 0; m < MEMBERS; m++) {
            left[m] = Math.max(0, left[m] - 1);
            holder[m] = left[m] == 0 ? FREE : holder[m];
            floor[m] = Math.max(-1, floor[m] - TOKENS_A_TICK);
            since[m] = since[m] == UNDATED ? UNDATED : Math.min(scope.lease + 1, since[m] + 1);
        }
        lastToken = older(lastToken);
        for (int c = 0; c < CLIENTS; c++) {
            token[c] = token[c] == 0 && phase[c] < WRITING ? 0 : older(token[c]);
            roundAge[c] = phase[c] == WRITING || phase[c] == RENEWING ? Math.min(scope.lease, roundAge[c] + 1) : 0;
            for (int m = 0; m < MEMBERS; m++) {
                boolean isOffer = phase[c] == CLAIMING && (knows[c][m] == GRANTED || knows[c][m] == COUNTED);
                offered[c][m] = isOffer ? older(offered[c][m]) : 0;
                surely[c][m] = Math.max(0, surely[c][m] - 1);
                out[c][m] = out[c][m] < 0 ? -1 : Math.min(scope.lease + 1, out[c][m] + 1);
            }
            if (phase[c] >= HOLDING && !isValid(c)) {
                end(c, false); // it knows that its hold has ended
            }
        }
    }

    private static int older(int aToken) {
        return Math.max(OLD, aToken - TOKENS_A_TICK);
    }

    private boolean othersCount(int member) {
        for (int m = 0; m < MEMBERS; m++) {
            if (m != member && marker[m] != FINAL) {
                return false;
            }
        }
        return true;
    }

    private void lose(int m) {
        losses -= losses == ALWAYS ? 0 : 1;
        holder[m] = FREE;
        left[m] = 0;
        floor[m] = -1;
        marker[m] = BLANK;
        since[m] = variant == Variant.DATE_OUTLIVES_THE_MARKER ? since[m] : UNDATED;
        for (int c = 0; c < CLIENTS && variant != Variant.NO_PROVISIONAL_MARKER; c++) {
            out[c][m] = -1;
        }
    }

    private void claim(int c, int m, boolean heard) {
        holder[m] = c + 1;
        left[m] = scope.lease;
        floor[m] = Math.max(floor[m] + 1, 0);
        if (heard) {
            offered[c][m] = floor[m];
            surely[c][m] = variant == Variant.NO_WRITE_BACK ? scope.lease : 0;
            boolean counts = variant == Variant.NO_MARKER || variant == Variant.LOOKS_FIRST;
            knows[c][m] = counts ? COUNTED : GRANTED;
        } else {
            knows[c][m] = NONE;
        }
    }

    private void look(int c, int m) {
        marker[m] = marker[m] == BLANK ? PROVISIONAL : marker[m];
        if (marker[m] == PROVISIONAL && scope.together) {
            since[m] = since[m] == UNDATED ? -earliest(m) : since[m];
            marker[m] = since[m] + latest(m) > scope.lease ? FINAL : PROVISIONAL;
        } else if (marker[m] == PROVISIONAL) {
            out[c][m] = Math.max(0, out[c][m]);
            if (out[c][m] >= (variant == Variant.SITS_OUT_TOO_SHORT ? scope.lease - 1 : scope.lease + 1)) {
                marker[m] = FINAL;
            }
        }
        if (marker[m] == FINAL) {
            since[m] = variant == Variant.DATE_OUTLIVES_THE_MARKER ? since[m] : UNDATED; // nobody asks any more
            out[c][m] = variant == Variant.NO_PROVISIONAL_MARKER ? out[c][m] : -1;
            knows[c][m] = knows[c][m] == GRANTED ? COUNTED : LOOKED;
        } else {
            knows[c][m] = NONE;
            offered[c][m] = 0;
        }
    }

    /** The earliest time that somebody may date a member's marker with, whoever else it has heard. */
    private int earliest(int m) {
        int earliest = Integer.MAX_VALUE;
        for (int[] heard : heardWith(m)) {
            Arrays.sort(heard);
            earliest = Math.min(
                    earliest,
                    switch (variant) {
                        case DATED_BY_ITS_OWN_CLOCK -> clock[m];
                        case DATED_BY_ANY_CLOCK -> heard[0];
                        default -> heard[MAJORITY - 1];
                    });
        }
        return earliest;
    }

    /** The latest time that somebody may believe it is, whoever it has heard. */
    private int latest(int m) {
        int latest = Integer.MIN_VALUE;
        for (int[] heard : heardWith(m)) {
            Arrays.sort(heard);
            latest = Math.max(
                    latest,
                    switch (variant) {
                        case DATED_BY_ITS_OWN_CLOCK -> clock[m];
                        case DATED_BY_ANY_CLOCK -> heard[heard.length - 1];
                        default -> heard[heard.length - MAJORITY];
                    });
        }
        return latest;
    }

    /** The clocks of all members, or of this and one other. */
    private List<int[]> heardWith(int m) {
        int next = (m + 1) % MEMBERS;
        int last = (m + 2) % MEMBERS;
        return List.of(clock.clone(), new int[] {clock[m], clock[next]}, new int[] {clock[m], clock[last]});
    }

    private void choose(int c) {
        token[c] = OLD;
        for (int m = 0; m < MEMBERS; m++) {
            token[c] = knows[c][m] == COUNTED ? Math.max(token[c], offered[c][m]) : token[c];
            knows[c][m] = knows[c][m] == COUNTED ? COUNTED : NONE;
            offered[c][m] = 0;
        }
        phase[c] = WRITING;
    }

    private void write(int c, int m) {
        if (holder[m] != c + 1) {
            knows[c][m] = NONE;
            surely[c][m] = 0;
            return;
        }
        floor[m] = Math.max(floor[m], token[c]);
        left[m] = scope.lease;
        // To hear of it may take another tick.
        int from = variant == Variant.COUNTS_FROM_THE_ANSWER ? -1 : roundAge[c];
        surely[c][m] = Math.max(surely[c][m], scope.lease - from);
        knows[c][m] = WRITTEN;
    }

    private void report(int c) {
        phase[c] = HOLDING;
        roundAge[c] = 0;
        for (int other = 0; other < CLIENTS; other++) {
            if (other != c && phase[other] >= HOLDING && isValid(other)) {
                wrong = "both clients hold";
            }
        }
        if (token[c] <= lastToken && lastToken > OLD) {
            wrong = "token " + token[c] + " after token " + lastToken;
        }
        lastToken = token[c];
    }

    private void beginRenewal(int c) {
        phase[c] = RENEWING;
        for (int m = 0; m < MEMBERS; m++) {
            knows[c][m] = knows[c][m] == WRITTEN ? COUNTED : NONE;
        }
    }

    private void heal(int c, int m) {
        holder[m] = c + 1;
        left[m] = scope.lease;
        floor[m] = Math.max(floor[m], token[c]);
        surely[c][m] = scope.lease;
        knows[c][m] = WRITTEN;
    }

    private void renewed(int c) {
        phase[c] = HOLDING;
        roundAge[c] = 0;
        int kept = count(c, WRITTEN);
        for (int m = 0; m < MEMBERS; m++) {
            knows[c][m] = knows[c][m] == COUNTED ? WRITTEN : knows[c][m]; // not reached: held until its old end
        }
        if (variant == Variant.RENEWS_WITHOUT_MAJORITY && kept > 0) {
            Arrays.fill(surely[c], scope.lease);
        }
    }

    private void end(int c, boolean told) {
        for (int m = 0; m < MEMBERS; m++) {
            if (holder[m] == c + 1) {
                holder[m] = told ? FREE : STALE;
                left[m] = told ? 0 : left[m];
            }
        }
        phase[c] = CLAIMING;
        token[c] = 0;
        roundAge[c] = 0;
        Arrays.fill(knows[c], NONE);
        Arrays.fill(offered[c], 0);
        Arrays.fill(surely[c], 0);
    }

    private int count(int c, int what) {
        int count = 0;
        for (int m = 0; m < MEMBERS; m++) {
            count += knows[c][m] == what ? 1 : 0;
        }
        return count;
    }

    private boolean isValid(int c) {
        int held = 0;
        for (int m = 0; m < MEMBERS; m++) {
            held += surely[c][m] > 0 ? 1 : 0;
        }
        return held >= MAJORITY;
    }
}
