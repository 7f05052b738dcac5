// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.quorum;

import io.lockkeeper.Guarantee;
import io.lockkeeper.Guarantees;
import io.lockkeeper.LockInfo;
import io.lockkeeper.Mode;
import io.lockkeeper.Sequencer;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.Grant;
import io.lockkeeper.spi.LatchState;
import io.lockkeeper.spi.LatchStep;
import io.lockkeeper.spi.LockStore;
import io.lockkeeper.spi.Promises;
import io.lockkeeper.spi.Renewal;
import io.lockkeeper.spi.Renewals;
import io.lockkeeper.spi.Signals;
import io.lockkeeper.spi.StoreTime;
import io.lockkeeper.spi.Subscription;
import io.lockkeeper.spi.Ticker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

/**
 * Redlock: a store made of several independent ones, its members. A name is held by the client to which a majority of them has granted it.
 *
 * <p><b>Exclusion.</b> Two majorities have a member in common, and that member grants the name to one client. A hold lasts as long as a majority
 * surely holds it: from the moment before each member was asked, what it said remains. An {@link Acquisition} has to get a
 * majority, an {@link QuorumRenewal} has to get one again. A member that may have forgotten a grant does not count
 * ({@link Markers}), nor does one whose clock runs ahead ({@link Clocks}).
 *
 * <p><b>Tokens</b> rise because they are written back to a majority before the hold is reported; see
 * {@link TokenChoice}. The members take them for the hold's own, so that they can be asked about it.
 *
 * <p><b>What it does not do.</b> Members are tried and never queued on: two claims, each at the head of some queues and in
 * the middle of others, would wait for each other. So those who wait come again after a random delay ({@link Standby}), and
 * there is no order.
 * Semaphores and latches are refused: permits taken on different majorities may add up to more than the limit, and a count
 * that is kept in several places has no one value.
 */
public final class QuorumStore implements LockStore {
    private static final int FEWEST = 3;

    /** More would not fit the {@link TokenChoice#STRIPE stripes} into a block, nor the marker. */
    private static final int MOST = 7;

    /** After this many claims, what has ended silently is forgotten. */
    private static final int FORGET_AFTER = 256;

    private final Ensemble all;
    private final Ticker ticker;
    private final Guarantees guarantees;
    private final Duration skew;
    private final MemberThreads threads;
    private final boolean closesMembers;
    private final AtomicInteger claims = new AtomicInteger();

    QuorumStore(
            List<Supplier<LockStore>> openers,
            Guarantees each,
            Ticker ticker,
            Duration skew,
            QuorumOptions options,
            MemberThreads threads,
            Duration connecting,
            boolean closesMembers) {
        this.ticker = ticker;
        this.skew = skew;
        this.threads = threads;
        this.closesMembers = closesMembers;
        this.guarantees = promises(each, options);
        List<Member> members = new ArrayList<>();
        for (Supplier<LockStore> opener : openers) {
            members.add(new Member(members.size(), opener, ticker, threads));
        }
        this.all = new Ensemble(members, options, ticker, connecting);
    }

    /**
     * A quorum of these stores, which are not closed with it.
     *
     * @throws IllegalArgumentException when they are fewer than three or more than seven, or one is there twice
     * @throws UnsupportedOperationException when one cannot be a member, saying why
     */
    public static QuorumStore of(List<? extends LockStore> members, QuorumOptions options) {
        checkSize(members.size());
        List<Supplier<LockStore>> openers = new ArrayList<>();
        for (int i = 0; i < members.size(); i++) {
            LockStore member = Objects.requireNonNull(members.get(i), "member");
            if (members.subList(0, i).stream().anyMatch(earlier -> earlier == member)) {
                throw new IllegalArgumentException("member " + (i + 1) + " is there twice; they must be independent");
            }
            Member.requireTokens(i, member);
            openers.add(() -> member);
        }
        Duration skew = Duration.ZERO;
        for (LockStore member : members) {
            skew = member.skew().compareTo(skew) > 0 ? member.skew() : skew;
        }
        QuorumStore store = new QuorumStore(
                openers,
                commonTo(members),
                members.get(0).ticker(),
                skew,
                options,
                new MemberThreads(),
                Duration.ZERO,
                false);
        store.all.members().forEach(Member::store);
        return store;
    }

    /**
     * A quorum of stores that are opened when they are first needed, each on its own, so that the quorum begins also when
     * some cannot be reached; they are closed with it.
     *
     * @param members open the members; may fail and be called again
     * @param each what each of them will guarantee at least
     * @param connecting how long opening them may take, all at once; the first step waits for a majority that long
     */
    public static QuorumStore opening(
            List<Supplier<LockStore>> members, Guarantees each, QuorumOptions options, Duration connecting) {
        checkSize(members.size());
        return new QuorumStore(
                List.copyOf(members),
                each,
                Ticker.SYSTEM,
                Duration.ZERO,
                options,
                new MemberThreads(),
                connecting,
                true);
    }

    private static void checkSize(int size) {
        if (size < FEWEST || size > MOST) {
            throw new IllegalArgumentException(
                    "a quorum of " + size + " members; allowed are " + FEWEST + " to " + MOST);
        }
    }

    private static Guarantees commonTo(List<? extends LockStore> members) {
        EnumSet<Guarantee> common = EnumSet.allOf(Guarantee.class);
        Duration shortest = Duration.ZERO;
        for (LockStore member : members) {
            common.removeIf(g -> !member.guarantees().has(g));
            Duration own = member.guarantees().shortestLease();
            shortest = own.compareTo(shortest) > 0 ? own : shortest;
        }
        return new Promises(common, shortest);
    }

    private static Guarantees promises(Guarantees each, QuorumOptions options) {
        Set<Guarantee> given = EnumSet.of(Guarantee.FENCED);
        for (Guarantee kept : List.of(Guarantee.DURABLE, Guarantee.LOCK_DELAY, Guarantee.SHARED)) {
            if (each.has(kept)) {
                given.add(kept);
            }
        }
        Duration shortest = options.memberTimeout().multipliedBy(4); // a member's timeout is far below any lease
        return new Promises(given, shortest.compareTo(each.shortestLease()) > 0 ? shortest : each.shortestLease());
    }

    @Override
    public String id() {
        if (all.markers().quorum().isEmpty()) {
            all.lookAgain();
            all.askEveryone("who it is", member -> all.markers().look(member));
        }
        return "quorum-" + all.markers().quorum().orElse(0);
    }

    @Override
    public Guarantees guarantees() {
        return guarantees;
    }

    @Override
    public StoreTime time(Object lane) {
        StoreTime now = all.time();
        all.opening().await(); // it is asked for before the first claim, whose deadline is not to pass meanwhile
        return now;
    }

    // ---- Holds ----

    @Override
    public Answer claim(Claim claim) {
        if (claim.terms().mode() == Mode.PERMITS) {
            guarantees.require(Guarantee.PERMITS);
        }
        checkLease(claim.terms().lease().plus(claim.terms().lockDelay()));
        if (all.quorumHolds().containsKey(claim.id())) {
            return new Repeat(all).standing(claim);
        }
        if (claim.deadline().isPast(all.time())) {
            return new Answer.Refused(Answer.Why.LATE, "", Duration.ZERO, all.time());
        }
        Duration isHeld = claim.terms().queue() ? all.standby().look(claim) : null;
        Answer answer = isHeld != null
                ? new Answer.Refused(Answer.Why.BUSY, "", isHeld, all.time())
                : new Acquisition(all, claim).run();
        all.opening().end();
        if (claims.incrementAndGet() % FORGET_AFTER == 0) {
            long now = all.now();
            all.quorumHolds().values().removeIf(quorumHold -> quorumHold.hasEnded(now));
        }
        return answer;
    }

    private void checkLease(Duration lease) {
        Duration longest = all.options().longestLease();
        if (lease.compareTo(longest) > 0) {
            throw new IllegalArgumentException("the lease, with its lock-delay, is " + lease
                    + "; the longest that this quorum allows is " + longest + " (longestLease)");
        }
    }

    @Override
    public Renewal renew(Renewals batch) {
        for (Renewals.Hold hold : batch.holds()) {
            checkLease(hold.lease());
            if (hold.raiseTo() > 0) {
                guarantees.require(Guarantee.RAISES_TOKENS);
            }
        }
        return new QuorumRenewal(all).run(batch);
    }

    @Override
    public boolean release(Grant grant) {
        return new QuorumRelease(all).release(quorumHold(grant), grant.claim().stray());
    }

    @Override
    public void withdraw(Claim claim) {
        new QuorumRelease(all).withdraw(claim);
    }

    @Override
    public Optional<Grant> downgrade(Grant grant) {
        return new Downgrade(all).run(quorumHold(grant), grant);
    }

    /** Where the hold stands; of one that is not known here, as far as the grant tells. */
    private QuorumHold quorumHold(Grant grant) {
        QuorumHold known = all.quorumHolds().get(grant.claim().id());
        return known != null ? known : QuorumHold.assumed(grant, all.size());
    }

    @Override
    public boolean canDecideClaims() {
        return all.canBeCounted();
    }

    // ---- Looking ----

    @Override
    public Optional<LockInfo> inspect(String name) {
        return new MajorityView(all).inspect(name);
    }

    @Override
    public List<LockInfo> list(String prefix, int limit) {
        return new MajorityView(all).list(prefix, limit);
    }

    @Override
    public boolean check(Sequencer sequencer) {
        Round<Boolean> checked = all.askEveryone(
                "whether " + sequencer + " is in force", member -> member.step(store -> store.check(sequencer)));
        int yes = checked.count(so -> so);
        if (yes < all.majority() && yes + all.size() - checked.answered() >= all.majority()) {
            throw new StoreUnavailableException(
                    "too few of the quorum's members answer to say whether " + sequencer + " is in force: "
                            + checked.describe(),
                    null);
        }
        return yes >= all.majority();
    }

    @Override
    public boolean breakHold(String name, long token, Duration lockDelay, boolean now) {
        checkLease(lockDelay);
        Round<Boolean> broken;
        try {
            broken = all.askEveryone(
                    "a request to break '" + name + "'",
                    member -> member.step(store -> store.breakHold(name, token, lockDelay, now)));
        } catch (StoreUnavailableException e) {
            // Not asked again, as below: a member that did not answer may have broken it.
            throw StoreUnavailableException.lasting(
                    "it is not known whether the hold of '" + name + "' was broken; break it again: " + e.getMessage(),
                    e);
        }
        int found = broken.count(so -> so);
        // A few may have what is left of a hold that has ended; those that do not answer may have it, too, and keep it.
        if (found > 0 && found < all.majority() && found + all.size() - broken.answered() >= all.majority()) {
            // Asked again, members that have broken it find nothing, and the answer would be that there was no such
            // hold.
            throw StoreUnavailableException.lasting(
                    "too few of the quorum's members answer to say whether the hold of '" + name
                            + "' was broken; break it again: " + broken.describe(),
                    null);
        }
        return found >= all.majority();
    }

    // ---- The rest ----

    @Override
    public LatchState latch(LatchStep step) {
        guarantees.require(Guarantee.LATCH);
        throw new AssertionError("a quorum has no latches");
    }

    @Override
    public Subscription listen(String client, Signals signals) {
        List<Subscription> each = new ArrayList<>();
        for (Member member : all.members()) {
            each.add(member.listen(client, new MemberSignals(all, member.number(), signals)));
        }
        return () -> each.forEach(Subscription::close);
    }

    @Override
    public Duration skew() {
        return skew;
    }

    @Override
    public Ticker ticker() {
        return ticker;
    }

    @Override
    public void close() {
        threads.close(all.options().memberTimeout());
        if (closesMembers) {
            all.members().forEach(Member::close);
        }
    }
}
