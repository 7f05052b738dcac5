// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testkit.history;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Decides whether a correct lock could have answered as a {@link History} says.
 *
 * <p>An operation took effect at an unknown instant between its invocation and its return. A history is legal if there
 * is <em>any</em> choice of instants with which it makes sense; it is accused only if there is none. So every hold is
 * cut down to the time in which it was in force whatever the instants: from the return of the claim to the invocation
 * of the release, to the report of loss or to the end of its declared validity, whichever is first. What contradicts
 * even that is a violation. Events at the same reading of the clock may have happened in either order.
 *
 * <p>For claims and releases of one lock or semaphore, with tokens, leases and unknown outcomes, this is exact: no
 * legal history is accused and no illegal one passes. Why, for a lock: let each hold have a latest start L and an
 * earliest end F. In a sequence of conflicting holds each can have its instants if and only if no F of an earlier one
 * is greater than the L of a later one. If tokens are known they are the sequence, and {@code FenceCheck} compares
 * exactly this. Holds without a token (of claims with unknown outcome) need one instant each, at which nobody is
 * certain to hold. A test compares the verdicts with those of an exhaustive search, for many small histories.
 *
 * <p>Not seen are, for want of evidence in these rules: a claim that was refused though the name was free, and a
 * release that was refused though the hold was there (the rules count such a hold as going on); a re-entry or an inner
 * release that succeeds after the declared validity ended; a renewal after it ended; more than safety in guards
 * (writes refused without reason) and latches (waiters that time out though it is open); order of arrival; what is left
 * in the store. Extensions that shorten a validity count from the beginning.
 *
 * <p>Immutable. The work is O(n log n) in the number of events as long as there is nothing to report.
 */
public final class HistoryChecker {
    /**
     * An operation timeout (1 s), within which every wait notices that its time is up, and as much for a busy machine.
     */
    private static final Duration DEFAULT_SLACK = Duration.ofSeconds(2);

    private final Set<Rule> rules;
    private final boolean exclusive;
    private final Duration slack;

    private HistoryChecker(Set<Rule> rules, boolean exclusive, Duration slack) {
        this.rules = rules;
        this.exclusive = exclusive;
        this.slack = slack;
    }

    /** With all rules, and 2 seconds of slack after deadlines. */
    public static HistoryChecker everyRule() {
        return new HistoryChecker(EnumSet.allOf(Rule.class), true, DEFAULT_SLACK);
    }

    /** With all rules but these. */
    public HistoryChecker without(Rule... unwanted) {
        Set<Rule> wanted = EnumSet.copyOf(rules);
        wanted.removeAll(Arrays.asList(unwanted));
        return new HistoryChecker(wanted, exclusive, slack);
    }

    /**
     * For a run in which two may hold at once, which the guard must survive (Redlock when a clock jumps, a failover
     * that loses what was not replicated): does not check which holds overlap, and checks of tokens only
     * that they are unique and that a claim that was invoked after another was granted has the greater one.
     */
    public HistoryChecker overlapping() {
        return new HistoryChecker(rules, false, slack);
    }

    /**
     * With another slack for late answers.
     *
     * @throws IllegalArgumentException if it is negative
     */
    public HistoryChecker slack(Duration allowance) {
        if (allowance.isNegative()) {
            throw new IllegalArgumentException("slack is " + allowance + ", less than zero");
        }
        return new HistoryChecker(rules, exclusive, allowance);
    }

    /**
     * All violations, by rule. Empty: the history is legal. To be called when the recording threads are done: a history
     * that is checked while it is being recorded may lack an event that is older than others it has.
     */
    public List<Violation> check(History history) {
        Timeline timeline = new Timeline(history.events());
        List<Violation> violations = new ArrayList<>();
        if (exclusive) {
            violations.addAll(ExclusionCheck.check(timeline));
        }
        violations.addAll(FenceCheck.check(timeline, exclusive));
        violations.addAll(ReleaseCheck.check(timeline));
        violations.addAll(LossCheck.check(timeline));
        violations.addAll(GuardCheck.check(timeline));
        violations.addAll(LatchCheck.check(timeline));
        violations.addAll(LivenessCheck.check(timeline, slack.toNanos()));
        return violations.stream()
                .filter(violation -> rules.contains(violation.rule()))
                .sorted(Comparator.comparing(Violation::rule))
                .toList();
    }

    /**
     * Throws if there is a violation.
     *
     * @throws AssertionError naming the violations, the first twenty of them, if there are more
     */
    public void assertLegal(History history) {
        List<Violation> violations = check(history);
        if (!violations.isEmpty()) {
            throw new AssertionError(violations.size() + " violations in a history of "
                    + history.events().size() + " events:\n"
                    + violations.stream().limit(20).map(Violation::toString).collect(Collectors.joining("\n")));
        }
    }
}
