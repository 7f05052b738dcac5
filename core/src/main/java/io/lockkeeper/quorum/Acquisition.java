// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.quorum;

import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.Grant;
import io.lockkeeper.spi.Renewal;
import io.lockkeeper.spi.Renewals;
import io.lockkeeper.spi.StoreTime;
import io.lockkeeper.spi.Terms;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * One attempt to hold a name. First all members are asked to grant the claim, none to queue it. If a majority has, and is to
 * be counted, the tokens are chosen and written back: a second round has each member that granted it raise its floor past
 * them, take them for the hold's own, and begin the lease again. If a majority has done that too, and time is left, the name
 * is held. Otherwise the claim is withdrawn everywhere, also where it seemed to fail.
 */
final class Acquisition {
    private static final long MILLI = 1_000_000;

    private final Ensemble all;
    private final Claim claim;
    private final Terms terms;
    private final QuorumHold quorumHold;
    private final long began;

    /** What a member said to the claim. */
    private record Vote(Member member, Answer answer, Markers.@Nullable Look marker) {
        boolean isGrant() {
            return answer instanceof Answer.Granted && marker != null && marker.standing() == Markers.Standing.COUNTS;
        }

        boolean isRefusal() {
            return answer instanceof Answer.Refused refused
                    && (refused.why() == Answer.Why.BUSY || refused.why() == Answer.Why.CONFLICT);
        }

        boolean isBlank() {
            return marker != null && marker.standing() == Markers.Standing.BLANK;
        }

        /** It would let us in, but may have forgotten somebody. */
        boolean isOut() {
            return marker != null && marker.standing() != Markers.Standing.COUNTS;
        }

        Answer.Granted granted() {
            return (Answer.Granted) answer;
        }
    }

    Acquisition(Ensemble all, Claim claim) {
        this.all = all;
        this.claim = claim;
        this.quorumHold = new QuorumHold(claim, all.size());
        this.began = all.now();
        Terms t = claim.terms();
        this.terms = new Terms(
                t.mode(),
                t.permits(),
                t.limit(),
                t.lease(),
                t.lockDelay(),
                t.patience(),
                TokenChoice.blockOf(t),
                false,
                t.client(),
                t.label());
    }

    Answer run() {
        try {
            Round<Vote> votes = collect();
            boolean wanting = votes.count(Vote::isGrant) < all.majority() && votes.count(Vote::isOut) > 0;
            // By now all who answer have been heard, and with them what time it is.
            if (wanting && all.lookAgain()) {
                votes = collect();
            }
            return decide(votes);
        } catch (RuntimeException | Error e) {
            all.quorumHolds().remove(claim.id(), quorumHold);
            clearUp(null);
            throw e;
        }
    }

    // ---- First round ----

    private Round<Vote> collect() {
        Round<Vote> votes = all.askAll(Member.Kind.STEP, this::claimAt);
        votes.awaitMost(
                all.patience(),
                all.size(),
                () -> votes.count(Vote::isGrant) >= all.majority()
                        || votes.count(v -> !v.isGrant()) + votes.failed() > all.size() - all.majority());
        return votes;
    }

    private Vote claimAt(Member member) {
        Claim addressed = member.address(new Claim(claim.name(), claim.id(), terms, claim.deadline(), claim.stray()));
        Answer answer = send(member, addressed);
        if (answer instanceof Answer.Refused late && late.why() == Answer.Why.LATE) {
            // Its clock is not what it was when we last heard it; now we know.
            answer = send(member, member.address(addressed(addressed, claim.deadline())));
        }
        return new Vote(
                member, answer, answer instanceof Answer.Granted ? all.markers().look(member) : null);
    }

    private static Claim addressed(Claim as, StoreTime deadline) {
        return new Claim(as.name(), as.id(), as.terms(), deadline, as.stray());
    }

    private Answer send(Member member, Claim addressed) {
        if (!quorumHold.begin(member.number(), addressed)) {
            throw new StoreUnavailableException("it was too busy to be asked in time", null);
        }
        Answer answer = member.step(claim.name(), store -> store.claim(addressed), Answer::at);
        quorumHold.answered(member.number(), answer instanceof Answer.Refused);
        return answer;
    }

    // ---- The decision ----

    private Answer decide(Round<Vote> votes) {
        List<Vote> counted = counted(votes);
        sitOutBlanks(votes, counted.size() < all.majority());
        if (counted.size() < all.majority()) {
            return fail(votes, counted);
        }
        List<TokenChoice.Offer> offers = new ArrayList<>();
        for (Vote vote : counted) {
            offers.add(new TokenChoice.Offer(
                    vote.member().number(),
                    vote.granted().token(),
                    vote.granted().block()));
        }
        Optional<TokenChoice> choice = TokenChoice.of(offers, all.size(), claim.terms());
        if (choice.isEmpty()) {
            clearUp(votes);
            return busyForNow("no token was to be had");
        }
        quorumHold.choose(choice.get());
        all.quorumHolds().put(claim.id(), quorumHold); // a break from now on concerns what may be reported
        Round<Boolean> told = writeBack(counted);
        int written = told.count(kept -> kept);
        long end = quorumHold.end();
        if (written >= all.majority() && end > all.now() && !quorumHold.isBrokenByMajority()) {
            Duration remaining = remaining(end);
            quorumHold.report(began + remaining.toNanos());
            all.standby().changed(claim.name());
            return new Answer.Granted(choice.get().token(), choice.get().block(), remaining, true, all.time());
        }
        all.quorumHolds().remove(claim.id(), quorumHold);
        clearUp(votes);
        if (told.answered() >= all.majority()) {
            return busyForNow("it was broken, or ended, before it could be reported");
        }
        throw new StoreUnavailableException(
                "a majority of the quorum granted '" + claim.name() + "', but only " + written + " of " + all.size()
                        + " members could be told its token",
                null);
    }

    /** What remains of the lease, counted from when we began; the second round may have lengthened it a little. */
    private Duration remaining(long end) {
        return Duration.ofNanos(Math.min(claim.terms().lease().toNanos(), end - began));
    }

    /** The grants that count: of members that remember, and whose clocks and tokens are not too far ahead. */
    private List<Vote> counted(Round<Vote> votes) {
        List<Vote> counted = new ArrayList<>();
        votes.forEach(vote -> {
            if (vote.isGrant()) {
                counted.add(vote);
            }
        });
        Long median = Clocks.lowerMedian(
                counted.stream().mapToLong(vote -> vote.granted().token()).toArray());
        long medianToken = median == null ? 0 : median;
        long now = all.now() / 1_000;
        counted.removeIf(vote -> all.clocks().leads(vote.member())
                || all.clocks().leads(vote.granted().token(), medianToken, now));
        return counted;
    }

    private Round<Boolean> writeBack(List<Vote> counted) {
        List<Member> members = counted.stream().map(Vote::member).toList();
        long now = all.now();
        Round<Boolean> written = all.ask(members, Member.Kind.STEP, member -> writeAt(member, now));
        written.awaitMost(
                all.patience(),
                members.size(),
                () -> written.count(kept -> kept) >= all.majority()
                        || written.count(kept -> !kept) + written.failed() > members.size() - all.majority());
        return written;
    }

    private boolean writeAt(Member member, long roundBegan) {
        return all.writeAt(member, quorumHold, claim.terms().lease(), roundBegan);
    }

    private Answer fail(Round<Vote> votes, List<Vote> counted) {
        int refusals = votes.count(Vote::isRefusal);
        int gone = votes.count(vote -> isGone(vote.answer()));
        int out = votes.count(Vote::isOut);
        String who = votes.describe();
        Answer.Refused[] said = new Answer.Refused[1];
        votes.forEach(vote -> {
            if (vote.isRefusal()
                    && (said[0] == null || ((Answer.Refused) vote.answer()).why() == Answer.Why.CONFLICT)) {
                said[0] = (Answer.Refused) vote.answer();
            }
        });
        String standing = standing(votes, counted);
        StoreUnavailableException lasting = votes.lasting();
        clearUp(votes);
        if (said[0] != null && refusals + counted.size() >= all.majority()) {
            boolean isHeld = refusals >= all.majority() && said[0].why() == Answer.Why.BUSY;
            return isHeld
                    ? refused(said[0].why(), said[0].detail(), all.standby().refused(claim.name()))
                    : refusedForNow(said[0].why(), said[0].detail());
        }
        if (gone > 0 && gone + refusals + counted.size() >= all.majority()) {
            return refused(Answer.Why.GONE, "", Duration.ZERO);
        }
        String text = "no majority of the quorum's " + all.size() + " members can be counted for '" + claim.name()
                + "': " + (standing.isEmpty() ? who : standing + "; " + who);
        if (out > 0 && out + refusals + counted.size() >= all.majority()) {
            return refused(Answer.Why.UNDECIDED, text, untilSatOut());
        }
        throw lasting != null ? lasting.because(text) : new StoreUnavailableException(text, null);
    }

    private static boolean isGone(Answer answer) {
        return answer instanceof Answer.Refused refused
                && (refused.why() == Answer.Why.GONE || refused.why() == Answer.Why.LATE);
    }

    /** Says of the members that are not counted why they are not, whatever they answered this time. */
    private String standing(Round<Vote> votes, List<Vote> counted) {
        List<String> reasons = new ArrayList<>();
        for (Member member : all.members()) {
            Vote vote = votes.answer(member.number());
            String who = "member " + (member.number() + 1);
            if (all.markers().sitsOut(member) || (vote != null && vote.isBlank())) {
                long left = all.markers().left(member);
                reasons.add(who + " has lost its memory and sits out for "
                        + Duration.ofNanos(left).toSeconds() + " s");
            } else if (all.clocks().leads(member) || (vote != null && vote.isGrant() && !counted.contains(vote))) {
                reasons.add(who + " is ignored, because its clock leads the others, or has led them");
            }
        }
        return String.join("; ", reasons);
    }

    /** Marks members that have no marker; waits for that if this claim brings nothing else, for its client may end with it. */
    private void sitOutBlanks(Round<Vote> votes, boolean wait) {
        List<Member> blank = new ArrayList<>();
        votes.forEach(vote -> {
            if (vote.isBlank()) {
                blank.add(vote.member());
            }
        });
        if (blank.isEmpty()) {
            return;
        }
        Round<Boolean> marked = all.ask(blank, Member.Kind.STEP, member -> {
            Vote vote = Objects.requireNonNull(votes.answer(member.number()));
            all.markers().sitOut(member, Objects.requireNonNull(vote.marker()).at());
            return true;
        });
        if (wait) {
            marked.await(all.patience(), () -> marked.settled() == blank.size());
        }
    }

    // ---- Clearing up ----

    /** Withdraws everywhere; waits for those who have answered before. */
    private void clearUp(@Nullable Round<Vote> votes) {
        quorumHold.finish();
        List<Member> responsive = new ArrayList<>();
        for (Member member : all.members()) {
            if (votes != null && votes.answer(member.number()) != null) {
                responsive.add(member);
            } else {
                all.withdrawInBackground(member, quorumHold);
            }
        }
        Round<Boolean> done = all.ask(responsive, Member.Kind.STEP, member -> all.withdrawAt(member, quorumHold));
        done.await(all.patience(), () -> done.settled() == responsive.size());
    }

    private Answer refused(Answer.Why why, String detail, Duration retryAfter) {
        return new Answer.Refused(why, detail, retryAfter, all.time());
    }

    private Answer busyForNow(String detail) {
        return refusedForNow(Answer.Why.BUSY, detail);
    }

    /** Nobody may have won the vote: to be tried again at random, and rather later when members are slow. */
    private Answer refusedForNow(Answer.Why why, String detail) {
        all.standby().changed(claim.name());
        long took = all.now() - began;
        return refused(
                why, detail, Duration.ofNanos(ThreadLocalRandom.current().nextLong(MILLI, 10 * MILLI + 4 * took)));
    }

    /** When to try again while members sit out: more often towards the end, and in the beginning, which may be a start. */
    private Duration untilSatOut() {
        long left = Long.MAX_VALUE;
        for (Member member : all.members()) {
            left = all.markers().sitsOut(member) ? Math.min(left, all.markers().left(member)) : left;
        }
        boolean hasJustBegun = left > all.options().sitOut().toNanos() - 1_000 * MILLI;
        long pause = hasJustBegun ? 100 * MILLI : Math.min(Math.max(left / 8, 50 * MILLI), 1_000 * MILLI);
        return Duration.ofNanos(ThreadLocalRandom.current().nextLong(pause / 2, pause + pause / 2));
    }

    static Renewal.Outcome outcome(Renewal renewal) {
        return renewal.holds().get(0);
    }

    static Renewals single(Grant grant, Duration lease, long raiseTo) {
        return new Renewals(List.of(new Renewals.Hold(grant, lease, raiseTo)), List.of());
    }
}
