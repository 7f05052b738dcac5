// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.quorum;

import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The members' clocks beside each other. They are never compared with our own: ours only bridges the time between two
 * answers. With an even number the lower of the two in the middle counts, so that of two that disagree the leading one is
 * ignored.
 */
final class Clocks {
    private final List<Member> members;
    private final long lead;
    private final long lag;
    private final int majority;
    private final long heardWithin;

    Clocks(List<Member> members, QuorumOptions options) {
        this.members = members;
        this.lead = options.clockLead().toNanos() / 1_000;
        this.lag = options.longestLease().toNanos() / 1_000;
        this.majority = members.size() / 2 + 1;
        this.heardWithin = options.clockLead().toNanos();
    }

    /** Whether this member's clock is further ahead of the others than is allowed: a lease would end too soon by it. */
    boolean leads(Member member) {
        Long median = median();
        Long own = member.offset();
        return median != null && own != null && own - median > lead;
    }

    /**
     * Whether a token is further ahead of the members' clocks, and of the tokens of the others, than is allowed. Such a one
     * would make all later ones run ahead of the clocks, and a member that has lost its memory could not catch up with them.
     */
    boolean leads(long token, long medianToken, long nowMicros) {
        Long median = median();
        return median != null && token - (nowMicros + median) > lead && token - medianToken > lead;
    }

    /**
     * Whether this member's clock is so far behind that it has not passed the tokens of before it lost its memory, although
     * it has sat out its time.
     */
    boolean lags(Member member) {
        Long median = median();
        Long own = member.offset();
        return median != null && own != null && median - own > lag;
    }

    // ---- Time that outlives a client ----

    /**
     * A time in microseconds that the clocks of a majority have not passed; null when too few have been heard lately.
     *
     * <p>Between this, noted at one moment, and {@link #passedByMajority} at a later one, no more time lies than really has
     * passed on the clock of some member: two majorities have one in common. So it makes no difference who was heard then and
     * who is heard now, nor how far the clocks are apart. If that member's clock was set ahead in between, there are others
     * that were not, and the result is wrong by no more than those are apart.
     */
    @Nullable
    Long notPassedByMajority(long now) {
        long[] shown =
                heardLately(now).mapToLong(heard -> heard.atMost(now)).sorted().toArray();
        return shown.length < majority ? null : shown[majority - 1];
    }

    /** A time in microseconds that the clocks of a majority have passed; null when too few have been heard lately. */
    @Nullable
    Long passedByMajority(long now) {
        long[] shown =
                heardLately(now).mapToLong(heard -> heard.atLeast(now)).sorted().toArray();
        return shown.length < majority ? null : shown[shown.length - majority];
    }

    private Stream<Member.Heard> heardLately(long now) {
        return members.stream()
                .map(Member::heard)
                .filter(Objects::nonNull)
                .filter(heard -> now - heard.sent() <= heardWithin);
    }

    private @Nullable Long median() {
        return lowerMedian(members.stream()
                .map(Member::offset)
                .filter(Objects::nonNull)
                .mapToLong(Long::longValue)
                .toArray());
    }

    /** The lower of the two in the middle; null of none. */
    static @Nullable Long lowerMedian(long[] values) {
        Arrays.sort(values);
        return values.length == 0 ? null : values[(values.length - 1) / 2];
    }
}
