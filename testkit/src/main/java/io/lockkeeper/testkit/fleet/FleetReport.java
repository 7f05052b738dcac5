// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testkit.fleet;

import io.lockkeeper.testkit.history.Violation;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * What a fleet has seen.
 *
 * @param grants how many acquisitions were granted
 * @param faults how often each fault was inflicted
 * @param violations of the checker's rules; empty is what is promised
 * @param complaints about what no rule covers; empty as well
 * @param longestIdle the longest time that a lock was free, as far as is known, and not granted to one who waited for it;
 *     it includes outages, and what was left of the lease of one who was killed
 * @param controlIsCaught whether the same storage without a fence was found to have accepted a stale write
 */
public record FleetReport(
        long grants,
        Map<String, Integer> faults,
        List<Violation> violations,
        List<String> complaints,
        Duration longestIdle,
        boolean controlIsCaught) {
    /** Whether all that is promised was kept, and would have been seen if it had not been. */
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
