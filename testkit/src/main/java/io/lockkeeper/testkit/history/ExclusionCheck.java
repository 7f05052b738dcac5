// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testkit.history;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Rules 1, 3, 4 and 7 as far as they say who may hold at the same time.
 *
 * <p>First with every hold counting as long as its holder was entitled to rely on it (rules 1, 4, 7, with rule 5 in the
 * measure). Then with every hold counting until the release of it that was answered ok: a client that was admitted in between, and
 * was not accused before, shows that the release ended what was no longer there, or that the store admitted two (rule 3).
 */
final class ExclusionCheck {
    private ExclusionCheck() {}

    static List<Violation> check(Timeline timeline) {
        List<Violation> violations = new ArrayList<>();
        for (Map.Entry<String, List<Hold>> entry : timeline.holds().entrySet()) {
            List<Tenure> tenures = entry.getValue().stream()
                    .flatMap(hold -> Tenure.of(hold).stream())
                    .toList();
            OptionalLong permits = timeline.limit(Event.Limit.PERMITS, entry.getKey());
            Set<Operation> accused = new HashSet<>();
            for (Occupancy.Clash clash : clashes(tenures, permits)) {
                accused.add(clash.entrant().claim());
                violations.add(violation(rule(clash), clash, permits));
            }
            if (tenures.stream().noneMatch(tenure -> tenure.confirmedEnd() > tenure.earliestEnd())) {
                continue;
            }
            for (Occupancy.Clash clash : clashes(confirmed(tenures), permits)) {
                if (accused.add(clash.entrant().claim())) {
                    violations.add(violation(Rule.RELEASE, clash, permits));
                }
            }
        }
        return violations;
    }

    private static List<Occupancy.Clash> clashes(List<Tenure> tenures, OptionalLong permits) {
        return permits.isPresent() ? Occupancy.ofSemaphore(tenures, permits.getAsLong()) : Occupancy.ofLock(tenures);
    }

    private static List<Tenure> confirmed(List<Tenure> tenures) {
        return tenures.stream()
                .map(tenure -> tenure.confirmedEnd() > tenure.earliestEnd() ? tenure.confirmed() : tenure)
                .toList();
    }

    private static Rule rule(Occupancy.Clash clash) {
        List<Tenure> all = new ArrayList<>(clash.others());
        all.add(clash.entrant());
        if (all.stream().anyMatch(tenure -> tenure.claim().outcome() == Outcome.INFO)) {
            return Rule.UNKNOWN_OUTCOME;
        }
        return all.stream().allMatch(tenure -> tenure.hold().mode() == HistoryMode.EXCLUSIVE)
                ? Rule.EXCLUSION
                : Rule.COUNTING;
    }

    private static Violation violation(Rule rule, Occupancy.Clash clash, OptionalLong permits) {
        List<Operation> operations = new ArrayList<>();
        operations.add(clash.entrant().claim());
        clash.others().forEach(other -> operations.add(other.claim()));
        String others = clash.others().stream().map(ExclusionCheck::describe).collect(Collectors.joining(", and by "));
        String limit = permits.isPresent() ? ", more than the " + permits.getAsLong() + " permits there are" : "";
        String sentence = "was held by " + describe(clash.entrant())
                + (others.isEmpty() ? limit : " and at the same time by " + others + limit);
        return new Violation(rule, clash.entrant().claim().name(), operations, sentence);
    }

    private static String describe(Tenure tenure) {
        if (tenure.latestStart() < tenure.earliestEnd()) {
            return tenure.claim() + ", certainly from " + Nanos.show(tenure.latestStart()) + " to "
                    + Nanos.show(tenure.earliestEnd()) + ", when " + tenure.ending();
        }
        return tenure.claim() + ", at an instant of " + Nanos.show(tenure.earliestEnd(), tenure.latestStart());
    }
}
