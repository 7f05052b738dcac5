// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.quorum;

import io.lockkeeper.spi.Ranges;
import io.lockkeeper.spi.StoreUrl;
import java.time.Duration;
import java.util.Set;

/**
 * How a quorum works.
 *
 * @param memberTimeout how long one member is waited for in one round; the shortest lease is four times as long
 * @param longestLease no lease and lock-delay together may be longer; whole seconds. A member that has lost its memory
 *     sits out that long, so it is part of what all clients must agree on
 * @param clockLead how far a member's clock may lead the median of all before the member is ignored
 */
public record QuorumOptions(Duration memberTimeout, Duration longestLease, Duration clockLead) {
    /** The parameters of a URL that {@link #of} reads. */
    public static final Set<String> PARAMETERS = Set.of("memberTimeout", "longestLease", "clockLead");

    /** A claim asks all members up to three times: to claim, to write the token back, and to clear up. */
    private static final int ROUNDS = 4;

    private static final Duration SHORTEST_TIMEOUT = Duration.ofMillis(5);

    /** Twice the built-in lease of locks. */
    private static final Duration LONGEST_LEASE = Duration.ofSeconds(60);

    /** Clocks that are kept in step at all are nearer than this. */
    private static final Duration CLOCK_LEAD = Duration.ofSeconds(10);

    /** Checks the ranges. */
    public QuorumOptions {
        Ranges.check("memberTimeout", memberTimeout, SHORTEST_TIMEOUT, Duration.ofSeconds(15));
        Ranges.check("longestLease", longestLease, Duration.ofSeconds(1), Duration.ofHours(25));
        Ranges.check("clockLead", clockLead, Duration.ofMillis(100), Duration.ofHours(1));
        if (longestLease.toNanosPart() != 0) {
            throw new IllegalArgumentException("longestLease is " + longestLease + "; allowed are whole seconds");
        }
    }

    /** What goes with that operation timeout. */
    public static QuorumOptions within(Duration operationTimeout) {
        Duration share = operationTimeout.dividedBy(ROUNDS);
        return new QuorumOptions(
                share.compareTo(SHORTEST_TIMEOUT) < 0 ? SHORTEST_TIMEOUT : share, LONGEST_LEASE, CLOCK_LEAD);
    }

    /** What goes with the built-in operation timeout of 1 s. */
    public static QuorumOptions defaults() {
        return within(Duration.ofSeconds(1));
    }

    /** What a URL says, which must have an {@code operationTimeout}, as those have that a provider is given. */
    public static QuorumOptions of(StoreUrl url) {
        QuorumOptions builtIn = within(url.duration("operationTimeout").orElse(Duration.ofSeconds(1)));
        return new QuorumOptions(
                url.duration("memberTimeout").orElse(builtIn.memberTimeout),
                url.duration("longestLease").orElse(builtIn.longestLease),
                url.duration("clockLead").orElse(builtIn.clockLead));
    }

    /** With another longest lease. */
    public QuorumOptions longestLease(Duration longest) {
        return new QuorumOptions(memberTimeout, longest, clockLead);
    }

    /** How long a member that has lost its memory is not counted. */
    Duration sitOut() {
        return longestLease.plus(clockLead);
    }

    /**
     * How long it is not counted if several clients sit it out, one after the other, by the clocks of a majority. Those that
     * were not set meanwhile may be apart by as much as a clock may lead, and run a hundredth faster than ours.
     */
    Duration jointSitOut() {
        Duration sum = sitOut().plus(clockLead);
        return sum.plus(sum.dividedBy(100));
    }
}
