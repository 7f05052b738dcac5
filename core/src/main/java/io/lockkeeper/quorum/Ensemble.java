// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.quorum;

import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.ClaimId;
import io.lockkeeper.spi.Grant;
import io.lockkeeper.spi.Renewal;
import io.lockkeeper.spi.Renewals;
import io.lockkeeper.spi.StoreTime;
import io.lockkeeper.spi.Ticker;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The members together, and the steps with one of them that several algorithms are made of. */
final class Ensemble {
    private final List<Member> members;
    private final QuorumOptions options;
    private final Ticker ticker;
    private final Clocks clocks;
    private final Markers markers;
    private final Standby standby = new Standby(this);
    private final Opening opening;
    private final long incarnation = ThreadLocalRandom.current().nextLong();

    /** Where the claims of this client stand that have been granted and not yet ended. */
    private final Map<ClaimId, QuorumHold> quorumHolds = new ConcurrentHashMap<>();

    /** @param connecting how long opening the members may take, when they are first needed */
    Ensemble(List<Member> members, QuorumOptions options, Ticker ticker, Duration connecting) {
        this.members = List.copyOf(members);
        this.options = options;
        this.ticker = ticker;
        this.clocks = new Clocks(this.members, options);
        this.markers = new Markers(options, ticker, clocks, members.size());
        this.opening = new Opening(this, ticker, connecting);
    }

    List<Member> members() {
        return members;
    }

    int size() {
        return members.size();
    }

    int majority() {
        return members.size() / 2 + 1;
    }

    QuorumOptions options() {
        return options;
    }

    Clocks clocks() {
        return clocks;
    }

    Markers markers() {
        return markers;
    }

    Standby standby() {
        return standby;
    }

    Opening opening() {
        return opening;
    }

    Map<ClaimId, QuorumHold> quorumHolds() {
        return quorumHolds;
    }

    /** Our own clock. */
    long now() {
        return ticker.nanos();
    }

    /** The time of this store, which is our own clock: no member's would do, and claims come here from one client only. */
    StoreTime time() {
        return new StoreTime(incarnation, ticker.nanos() / 1_000);
    }

    /** How long members are waited for in one round: when they are first needed, as long as connecting may take. */
    long patience() {
        return Math.max(options.memberTimeout().toNanos(), opening.left());
    }

    <R> Round<R> askAll(Member.Kind kind, Function<Member, R> step) {
        return ask(members, kind, step);
    }

    <R> Round<R> ask(List<Member> some, Member.Kind kind, Function<Member, R> step) {
        opening.begin();
        return Round.ask(ticker, some, members.size(), kind, step);
    }

    /** Asks all, waits for a majority and a little for the rest; fails when no majority answers. */
    <R> Round<R> askMajority(Member.Kind kind, String what, Function<Member, R> step) {
        Round<R> round = askAll(kind, step);
        round.awaitMost(patience(), size(), () -> round.answered() >= majority());
        requireMajority(round, what);
        return round;
    }

    /** Asks all and waits for all, if need be as long as members are waited for; fails when no majority answers. */
    <R> Round<R> askEveryone(String what, Function<Member, R> step) {
        Round<R> round = askAll(Member.Kind.STEP, step);
        round.await(options.memberTimeout().toNanos(), () -> round.settled() == size());
        round.await(patience(), () -> round.settled() == size() || round.answered() >= majority());
        requireMajority(round, what);
        return round;
    }

    void requireMajority(Round<?> round, String what) {
        if (round.answered() < majority()) {
            String text =
                    "no majority of the quorum's " + size() + " members answers " + what + ": " + round.describe();
            StoreUnavailableException lasting = round.lasting();
            throw lasting != null ? lasting.because(text) : new StoreUnavailableException(text, null);
        }
        opening.end();
    }

    /**
     * Looks at all members again; whether a majority counts now. The quorum is fresh if every member answers and none has a
     * marker; then it starts at once.
     */
    boolean lookAgain() {
        Round<Markers.Look> looks = askAll(Member.Kind.STEP, member -> markers.look(member));
        looks.await(patience(), () -> looks.settled() == size());
        if (looks.count(look -> look.standing() == Markers.Standing.BLANK) < size()) {
            return looks.count(look -> look.standing() == Markers.Standing.COUNTS) >= majority();
        }
        List<Member> first = members.subList(0, 1);
        List<Member> others = members.subList(1, size());
        for (List<Member> some : List.of(first, others)) { // the first decides between several who do so
            Round<Boolean> marked = ask(some, Member.Kind.STEP, member -> {
                Markers.Look look = Objects.requireNonNull(looks.answer(member.number()));
                return markers.start(member, look.at());
            });
            marked.await(patience(), () -> marked.settled() == some.size());
        }
        return true;
    }

    /** Whether a majority counts, as far as members answer; or the quorum is fresh, so that a claim would start it. */
    boolean canBeCounted() {
        Round<Markers.Standing> found = askAll(Member.Kind.STEP, this::standing);
        found.await(patience(), () -> {
            int counted = found.count(each -> each == Markers.Standing.COUNTS);
            boolean isHopeless = found.settled() - counted > size() - majority();
            boolean isFresh = found.count(each -> each == Markers.Standing.BLANK) == found.settled();
            return counted >= majority() || found.settled() == size() || (isHopeless && !isFresh);
        });
        return found.count(each -> each == Markers.Standing.COUNTS) >= majority()
                || found.count(each -> each == Markers.Standing.BLANK) == size();
    }

    /** Where this member stands; one whose clock leads is not counted either. */
    private Markers.Standing standing(Member member) {
        Markers.Standing found = markers.look(member).standing();
        boolean isIgnored = found == Markers.Standing.COUNTS && clocks.leads(member);
        return isIgnored ? Markers.Standing.SITS_OUT : found;
    }

    // ---- Steps with one member, on its thread ----

    /** The hold as this member knows it; null when it was sent nothing. */
    @Nullable
    Grant grantAt(Member member, QuorumHold quorumHold) {
        if (quorumHold.isAssumedAt(member.number())) {
            quorumHold.assume(member.number(), member.address(quorumHold.claim()));
        }
        return quorumHold.grantAt(member.number());
    }

    /** Renews the hold at this member, in a round that began then, and writes its tokens there if they are not. */
    boolean writeAt(Member member, QuorumHold quorumHold, Duration lease, long began) {
        Grant grant = grantAt(member, quorumHold);
        if (grant == null) {
            return false;
        }
        long raiseTo = quorumHold.toWrite(member.number());
        Renewals one = Acquisition.single(grant, lease, raiseTo);
        Renewal renewal = member.step(grant.claim().name(), store -> store.renew(one), Renewal::at);
        return note(member, quorumHold, Acquisition.outcome(renewal), began, raiseTo > 0);
    }

    /** Notes what became of a hold at a member, in a round that began then; true when it is kept. */
    boolean note(Member member, QuorumHold quorumHold, Renewal.Outcome outcome, long began, boolean wrote) {
        if (outcome instanceof Renewal.Kept kept) {
            // A clock that runs ahead may end the lease at any moment.
            long until = clocks.leads(member) ? 0 : began + kept.remaining().toNanos();
            quorumHold.kept(member.number(), until, wrote);
            return until > 0;
        }
        quorumHold.lost(member.number(), outcome);
        return false;
    }

    /** Withdraws what this member was sent; what cannot be sent now is sent later. */
    boolean withdrawAt(Member member, QuorumHold quorumHold) {
        Claim sent = quorumHold.sent(member.number());
        if (sent == null) {
            return true;
        }
        try {
            return member.step(store -> {
                store.withdraw(sent);
                return true;
            });
        } catch (StoreUnavailableException e) {
            member.leave(sent);
            throw e;
        }
    }

    /** The same, without waiting for it. */
    void withdrawInBackground(Member member, QuorumHold quorumHold) {
        member.execute(
                Member.Kind.STEP,
                () -> quietly(() -> withdrawAt(member, quorumHold)),
                why -> leave(member, quorumHold));
    }

    private static void leave(Member member, QuorumHold quorumHold) {
        Claim sent = quorumHold.sent(member.number());
        if (sent != null) {
            member.leave(sent);
        }
    }

    /** Does what nobody waits for: a member that does not answer is no news. */
    void quietly(Runnable step) {
        try {
            step.run();
        } catch (StoreUnavailableException e) {
            // It is asked again the next time.
        }
    }
}
