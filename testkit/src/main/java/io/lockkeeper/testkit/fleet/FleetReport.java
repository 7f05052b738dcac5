// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testkit.fleet;

import io.lockkeeper.testkit.history.Violation;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * What a fleet has observed.
 *
 * @param grants how many acquisitions were granted
 * @param faults how often each fault was inflicted
 * @param violations of the rules of the checker; there must be none
 * @param complaints about what no rule covers; there must be none
 * @param longestIdle the longest time that a lock was free, as far as is known, and not granted to a client that waited for it;
 *     it includes outages, and what was left of the lease of a client that was killed
 * @param controlIsCaught whether the same storage without a fence was found to have accepted a stale write
 */
public record FleetReport(
        long grants,
        Map<String, Integer> faults,
        List<Violation> violations,
        List<String> complaints,
        Duration longestIdle,
        boolean controlIsCaught) {
    /** Whether every promise was kept, and a broken one would have been noticed. */
    public boolean isGood() {
        return grants > 0 && violations.isEmpty() && complaints.isEmpty() && controlIsCaught;
    }

    /** How many faults there were. */
    public int faultCount() {
        return faults.values().stream().mapToInt(n -> n).sum();
    }

    @Override
    public String toString() {
        String found = violations.isEmpty() && complaints.isEmpty()
                ? "nothing is wrong"
                : violations.size() + " violations and " + complaints.size() + " complaints:\n"
                        + violations.stream().limit(5).map(v -> "  " + v + "\n").collect(Collectors.joining())
                        + complaints.stream().limit(5).map(c -> "  " + c + "\n").collect(Collectors.joining());
        return grants + " grants under " + faultCount() + " faults " + faults + ", a free lock waited "
                + longestIdle.toMillis() + " ms at most, a stale write without a fence was "
                + (controlIsCaught ? "caught" : "NOT CAUGHT") + ": " + found;
    }
}
