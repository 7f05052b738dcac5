// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.examples.pages;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * The pages of rules and of hazards name, for each number, tests that exist and run: "{@code Class.method}", with the module in
 * parentheses where a class of that name in another module could be meant. A number without a test says "No test yet".
 */
class PageRulesTest {
    private static final Sources SOURCES = Sources.ofTheRepository();

    private static final Pattern RULE = Pattern.compile("^## Rule (\\d+): .*");
    private static final Pattern HAZARD = Pattern.compile("[KH]\\d+");
    private static final Pattern TEST = Pattern.compile("([A-Z]\\w+)\\.(\\w+)");
    private static final Pattern CONTRACT = Pattern.compile("[A-Z]\\w+Contract");
    private static final Pattern NO_TEST = Pattern.compile("[Nn]o test yet");
    private static final Pattern MODULE = Pattern.compile("^ \\((\\w[\\w-]*)\\)");

    @Test
    void eachRuleNamesTestsThatRun() {
        Page page = Repository.page("docs/law.md");
        Map<String, List<Page.Line>> rows = rules(page);
        assertThat(rows.keySet()).containsExactlyElementsOf(numbers("", 17));
        assertThat(complaintsAbout(page, rows)).isEmpty();
    }

    @Test
    void eachHazardNamesTestsThatRun() {
        Page page = Repository.page("docs/hazards.md");
        Map<String, List<Page.Line>> rows = hazards(page);
        assertThat(rows.keySet())
                .containsExactlyElementsOf(Stream.concat(numbers("K", 15).stream(), numbers("H", 116).stream())
                        .toList());
        assertThat(complaintsAbout(page, rows)).isEmpty();
    }

    /** A group of the contract that no store runs would prove nothing. */
    @Test
    void eachGroupOfTheContractThatAPageNamesIsRunForEachStore() {
        Set<String> run = groupsOfTheContract();
        var notRun = new LinkedHashSet<String>();
        for (Page page : Repository.pages()) {
            for (Page.Span span : page.spans()) {
                String name = span.text().replaceFirst("\\..*", "");
                if (CONTRACT.matcher(name).matches() && !run.contains(name)) {
                    notRun.add(span.place() + ": " + name);
                }
            }
        }
        assertThat(run).contains("ExclusionContract", "RepeatedStepContract");
        assertThat(notRun).isEmpty();
    }

    @Test
    void eachRuleHasARowInTheTableOfTheArchitecture() {
        assertThat(Repository.page("docs/architecture.md").section("Where each rule of the law lives").stream()
                        .map(Page.Line::cells)
                        .filter(cells -> !cells.isEmpty() && cells.get(0).matches("\\d+"))
                        .peek(cells -> assertThat(cells.get(4))
                                .as("tests of rule %s", cells.get(0))
                                .contains("Contract`"))
                        .map(cells -> cells.get(0)))
                .containsExactlyElementsOf(numbers("", 16));
    }

    @Test
    void aWrongRowIsFound() {
        var page = new Page("docs/made_up", """
                | # | what goes wrong | the right outcome | tests |
                |---|---|---|---|
                | K1 | right | | `ExclusionContract.writersAreNeverInsideWithReaders`, `ListingTest.onlyWhatIsListedIsRead` (sql) |
                | K2 | right | | No test yet |
                | K3 | no test | | |
                | K4 | no class | | `LeashTest.breaks` |
                | K5 | no method | | `ExclusionContract.nobodyIsEverInside` |
                | K6 | a method, but no test | | `ExclusionContract.fixture` |
                | K7 | of another module | | `ListingTest.onlyWhatIsListedIsRead` (redis) |
                | K8 | a class alone | | `ExclusionContract` |
                """);
        assertThat(complaintsAbout(page, hazards(page)))
                .containsExactly(
                        "K3 names no test",
                        "K4: there is no class LeashTest",
                        "K5: ExclusionContract has no test nobodyIsEverInside",
                        "K6: ExclusionContract has no test fixture",
                        "K7: ListingTest (redis) has no test onlyWhatIsListedIsRead",
                        "K8: `ExclusionContract` is no test",
                        "K8 names no test");
    }

    private static List<String> numbers(String letter, int last) {
        return IntStream.rangeClosed(1, last).mapToObj(i -> letter + i).toList();
    }

    /** Of each rule the lines that begin with "Tests:". A rule that is there twice gets a second key, and is noticed by that. */
    private static Map<String, List<Page.Line>> rules(Page page) {
        Map<String, List<Page.Line>> rules = new LinkedHashMap<>();
        String rule = "";
        for (Page.Line line : page.prose()) {
            Matcher heading = RULE.matcher(line.text());
            if (heading.matches()) {
                rule = rules.containsKey(heading.group(1)) ? heading.group(1) + " again" : heading.group(1);
                rules.put(rule, new ArrayList<>());
            } else if (line.text().startsWith("Tests:")) {
                rules.getOrDefault(rule, new ArrayList<>()).add(line);
            }
        }
        return rules;
    }

    /** Of each hazard the last cell of its row. */
    private static Map<String, List<Page.Line>> hazards(Page page) {
        Map<String, List<Page.Line>> hazards = new LinkedHashMap<>();
        for (Page.Line line : page.prose()) {
            List<String> cells = line.cells();
            if (!cells.isEmpty() && HAZARD.matcher(cells.get(0)).matches()) {
                String number = hazards.containsKey(cells.get(0)) ? cells.get(0) + " again" : cells.get(0);
                hazards.put(number, List.of(new Page.Line(line.number(), cells.get(cells.size() - 1))));
            }
        }
        return hazards;
    }

    private static List<String> complaintsAbout(Page page, Map<String, List<Page.Line>> rows) {
        var complaints = new ArrayList<String>();
        rows.forEach((number, lines) -> {
            boolean proved =
                    lines.stream().anyMatch(line -> NO_TEST.matcher(line.text()).find());
            for (Page.Line line : lines) {
                for (Page.Span span : page.spans(line)) {
                    String complaint = complaintAbout(span);
                    proved |= complaint.isEmpty();
                    if (!complaint.isEmpty()) {
                        complaints.add(number + ": " + complaint);
                    }
                }
            }
            if (!proved
                    && lines.stream()
                            .allMatch(line -> page.spans(line).stream().noneMatch(PageRulesTest::namesATest))) {
                complaints.add(number + " names no test");
            }
        });
        return complaints;
    }

    private static boolean namesATest(Page.Span span) {
        return TEST.matcher(span.text()).matches();
    }

    private static String complaintAbout(Page.Span span) {
        Matcher test = TEST.matcher(span.text());
        if (!test.matches()) { // a script, such as smoke/run
            boolean script = span.text().contains("/") && Files.isExecutable(Repository.ROOT.resolve(span.text()));
            return script ? "" : "`" + span.text() + "` is no test";
        }
        String name = test.group(1);
        Matcher inParentheses = MODULE.matcher(span.after());
        String module = inParentheses.find() ? inParentheses.group(1) : null;
        List<Sources.Type> types = SOURCES.types(name, module);
        if (types.isEmpty()) {
            return "there is no class " + name + (module == null ? "" : " (" + module + ")");
        }
        boolean found = types.stream().anyMatch(type -> isTest(type, test.group(2)));
        return found ? "" : name + (module == null ? "" : " (" + module + ")") + " has no test " + test.group(2);
    }

    private static boolean isTest(Sources.Type type, String method) {
        Sources.Type declaring = SOURCES.declaring(type, method);
        return declaring != null && SOURCES.isTest(declaring, method);
    }

    /** The classes whose tests LockStoreTck runs: its nested classes, and what those inherit from. */
    private static Set<String> groupsOfTheContract() {
        var groups = new LinkedHashSet<String>();
        for (Sources.Type suite : SOURCES.types("LockStoreTck", "tck")) {
            SOURCES.lineage(suite).forEach(each -> each.nested().values().forEach(group -> SOURCES.lineage(group)
                    .forEach(type -> groups.add(type.name()))));
        }
        return groups;
    }
}
