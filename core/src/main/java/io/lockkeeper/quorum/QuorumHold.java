// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.quorum;

import io.lockkeeper.LeaseLost;
import io.lockkeeper.Mode;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.Grant;
import io.lockkeeper.spi.Renewal;
import io.lockkeeper.spi.Terms;
import java.time.Duration;
import java.util.Arrays;
import java.util.BitSet;
import org.jspecify.annotations.Nullable;

/**
 * Where one claim stands: what each member was sent, until when on our clock each surely holds it, and the tokens that were
 * written back. The hold lasts as long as a majority surely holds it.
 */
final class QuorumHold {
    private final Claim claim;
    private final int majority;
    private final @Nullable Claim[] sent;
    private final boolean[] answered;
    private final boolean[] written;
    private final boolean[] released;
    private final long[] ends;
    private final BitSet recalledBy = new BitSet();
    private final BitSet brokenBy = new BitSet();
    private final BitSet foundRecalledBy = new BitSet();
    private final BitSet foundBrokenBy = new BitSet();
    private Mode mode;
    private long token;
    private int block;
    private long lastEnd;
    private long reported;
    private boolean assumed;
    private boolean over;

    QuorumHold(Claim claim, int members) {
        this.claim = claim;
        this.majority = members / 2 + 1;
        this.sent = new Claim[members];
        this.answered = new boolean[members];
        this.written = new boolean[members];
        this.released = new boolean[members];
        this.ends = new long[members];
        this.mode = claim.terms().mode();
        this.block = 1;
    }

    /** Where a hold stands of which only the grant is known: every member may have it. */
    static QuorumHold assumed(Grant grant, int members) {
        QuorumHold quorumHold = new QuorumHold(grant.claim(), members);
        quorumHold.mode = grant.mode();
        quorumHold.token = grant.token();
        quorumHold.block = grant.block();
        quorumHold.assumed = true;
        Arrays.fill(quorumHold.answered, true);
        Arrays.fill(quorumHold.written, true);
        return quorumHold;
    }

    Claim claim() {
        return claim;
    }

    // ---- Claiming ----

    /** A claim is about to be sent to this member; false when the attempt is over. */
    synchronized boolean begin(int member, Claim addressed) {
        if (over) {
            return false;
        }
        sent[member] = addressed;
        answered[member] = false;
        written[member] = false; // what it grants again, it grants with its own tokens
        return true;
    }

    /** The member has answered the claim: no copy of it is on its way; and it has nothing of it if it refused. */
    synchronized void answered(int member, boolean refused) {
        answered[member] = true;
        sent[member] = refused ? null : sent[member];
    }

    synchronized void choose(TokenChoice choice) {
        token = choice.token();
        block = choice.block();
    }

    /** What this member was sent, as it must be named to it now; null if it was sent nothing. */
    synchronized @Nullable Claim sent(int member) {
        Claim last = sent[member];
        return last == null || answered[member] ? last : last.asStray();
    }

    // ---- Holding ----

    /** The hold as a member knows it; null when it was sent nothing. */
    synchronized @Nullable Grant grantAt(int member) {
        Claim last = sent(member);
        return last == null ? null : new Grant(last, mode, token, block);
    }

    /** Whether this member may have it without our having sent it there. */
    synchronized boolean isAssumedAt(int member) {
        return assumed && sent[member] == null;
    }

    synchronized void assume(int member, Claim addressed) {
        sent[member] = addressed;
    }

    /** What it would be claimed for now, at a member that has nothing of it: a downgraded hold is that of a reader. */
    synchronized Terms terms() {
        Terms t = claim.terms();
        return new Terms(
                mode,
                t.permits(),
                t.limit(),
                t.lease(),
                t.lockDelay(),
                t.patience(),
                t.block(),
                false,
                t.client(),
                t.label());
    }

    synchronized Grant grant() {
        return new Grant(claim, mode, token, block);
    }

    /**
     * What this member's floor is to be raised to; 0 when that is done. A writer's is one more than its last token: that one is
     * the downgraded hold's, should it use up its block.
     */
    synchronized long toWrite(int member) {
        return written[member] ? 0 : token + block - (mode == Mode.EXCLUSIVE ? 0 : 1);
    }

    /** Whether this member has the tokens. */
    synchronized boolean isWritten(int member) {
        return written[member];
    }

    /** The member holds it until then, and has its tokens if they were written with that step. */
    synchronized void kept(int member, long until, boolean wrote) {
        written[member] |= wrote;
        foundRecalledBy.clear(member);
        foundBrokenBy.clear(member);
        ends[member] = Math.max(ends[member], until);
        lastEnd = Math.max(lastEnd, until);
    }

    /** The member does not hold it, or not for long, as it has said. */
    synchronized void lost(int member, Renewal.Outcome outcome) {
        boolean isRecalled = outcome instanceof Renewal.Recalled;
        ends[member] = 0;
        written[member] &= isRecalled; // what is being broken is still there, with its tokens
        foundRecalledBy.set(member, isRecalled);
        foundBrokenBy.set(member, outcome instanceof Renewal.Lost lost && lost.reason() == LeaseLost.Reason.BROKEN);
    }

    synchronized boolean isHeldAt(int member, long now) {
        return ends[member] > now;
    }

    /** Whether the member may have it no more, and has not said that it was broken there. */
    synchronized boolean isMissingAt(int member, long now) {
        return !isHeldAt(member, now)
                && !(foundBrokenBy.get(member) || foundRecalledBy.get(member) || brokenBy.get(member));
    }

    /** How long the member surely still holds it. */
    synchronized Duration leftAt(int member, long now) {
        return Duration.ofNanos(Math.max(0, ends[member] - now));
    }

    /** Until when a majority surely holds it, on our clock. */
    synchronized long end() {
        long[] sorted = ends.clone();
        Arrays.sort(sorted);
        return sorted[sorted.length - majority];
    }

    /** The hold's client knows that it lasts until then. */
    synchronized void report(long end) {
        reported = Math.max(reported, end);
    }

    /** What remains, after that moment, of what its client was told. */
    synchronized long reportedAfter(long now) {
        return reported - now;
    }

    /** Whether no member has anything of it any more, not even of a hold that is being broken; false before any has. */
    synchronized boolean hasEnded(long now) {
        return lastEnd != 0 && lastEnd < now;
    }

    /** The member has told that it wants the hold back; true when that makes a majority. */
    synchronized boolean recalledBy(int member) {
        return !recalledBy.get(member) && count(recalledBy, member) == majority;
    }

    /** The member has told that it has broken the hold; true when that makes a majority. */
    synchronized boolean brokenBy(int member) {
        return !brokenBy.get(member) && count(brokenBy, member) == majority;
    }

    /** Whether a majority has told that it has broken the hold. */
    synchronized boolean isBrokenByMajority() {
        return brokenBy.cardinality() >= majority;
    }

    private static int count(BitSet members, int oneMore) {
        members.set(oneMore);
        return members.cardinality();
    }

    /** What has become of it, now that no majority holds it: what a member has last said of it. */
    synchronized Renewal.Outcome loss() {
        if (!foundBrokenBy.isEmpty()) {
            return new Renewal.Lost(LeaseLost.Reason.BROKEN);
        }
        return foundRecalledBy.isEmpty() ? new Renewal.Lost(LeaseLost.Reason.EXPIRED) : new Renewal.Recalled();
    }

    synchronized void downgraded(Grant shared) {
        mode = Mode.SHARED;
        token = shared.token();
        block = shared.block();
    }

    // ---- The end ----

    /** Nothing more is to be sent for it but its end. */
    synchronized void finish() {
        over = true;
    }

    synchronized boolean isOver() {
        return over;
    }

    synchronized void released(int member) {
        released[member] = true;
    }

    synchronized boolean wasReleased(int member) {
        return released[member];
    }
}
