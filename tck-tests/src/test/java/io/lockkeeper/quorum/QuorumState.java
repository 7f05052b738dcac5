// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.quorum;

import java.util.Arrays;

/**
 * What members and clients of a {@link QuorumSpec} know at one moment. Times are kept as what is left, tokens as their distance
 * from the members' clock, so that states which differ only in when they happen are the same state.
 */
abstract class QuorumState {
    /** The correct algorithm, or one mistake in it. */
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

    static final int MEMBERS = 3;
    static final int CLIENTS = 2;
    static final int MAJORITY = 2;
    static final int TOKENS_A_TICK = 1;
    static final int MOST_AHEAD = 1;

    /** Tokens that are further behind the clock than this cannot be written any more: their claims have ended. */
    static final int OLD = -3 * TOKENS_A_TICK;

    // Who holds a member.
    static final int FREE = 0;
    static final int STALE = CLIENTS + 1;

    // Its marker.
    static final int BLANK = 0;
    static final int PROVISIONAL = 1;
    static final int FINAL = 2;

    // What a client does.
    static final int CLAIMING = 0;
    static final int WRITING = 1;
    static final int HOLDING = 2;
    static final int RENEWING = 3;

    // What a client knows of its claim at a member.
    static final int NONE = 0;
    static final int LOOKED = 1;
    static final int GRANTED = 2;
    static final int COUNTED = 3;
    static final int WRITTEN = 4;

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
    static final int UNDATED = -99;

    final Variant variant;
    final Scope scope;
    int lastToken = OLD;
    int losses;
    final int[] holder = new int[MEMBERS];
    final int[] left = new int[MEMBERS];
    final int[] floor = new int[MEMBERS];
    final int[] marker = new int[MEMBERS];
    final int[] phase = new int[CLIENTS];
    final int[] token = new int[CLIENTS];
    final int[] roundAge = new int[CLIENTS];
    final int[][] knows = new int[CLIENTS][MEMBERS];
    final int[][] offered = new int[CLIENTS][MEMBERS];
    final int[][] surely = new int[CLIENTS][MEMBERS];

    /** How long the client has seen the member's provisional marker; -1 when it has not seen this one. */
    final int[][] out = new int[CLIENTS][MEMBERS];

    /** How long ago the member's provisional marker was dated, less what the clock showed by which it was. */
    final int[] since = new int[MEMBERS];

    /** By how much a member's clock is ahead. */
    final int[] clock = new int[MEMBERS];

    /** All members count, nobody does anything. */
    QuorumState(Variant variant, Scope scope) {
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

    QuorumState(QuorumState o) {
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
    final long key() {
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

    final int count(int c, int what) {
        int count = 0;
        for (int m = 0; m < MEMBERS; m++) {
            count += knows[c][m] == what ? 1 : 0;
        }
        return count;
    }

    final boolean isValid(int c) {
        int held = 0;
        for (int m = 0; m < MEMBERS; m++) {
            held += surely[c][m] > 0 ? 1 : 0;
        }
        return held >= MAJORITY;
    }
}
