// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.examples.pages;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Each class, method, field and file that a page names in back-quotes exists. */
class PageNamesTest {
    private static final Sources SOURCES = Sources.ofTheRepository();
    private static final ForeignClasses FOREIGN = ForeignClasses.onTheClassPath();

    private static final Pattern CLASS =
            Pattern.compile("@?([A-Z]\\w*[a-z]\\w*)((?:\\.[A-Za-z]\\w*)*)(?:[(<].*)?", Pattern.DOTALL);
    private static final Pattern MODULE = Pattern.compile("^ \\((\\w[\\w-]*)\\)");
    private static final Pattern VARIABLE = Pattern.compile("\\bLOCKKEEPER_[A-Z0-9_]+");
    private static final Pattern FILE = Pattern.compile("(?:[\\w.-]+/)*[\\w-]+\\.(?:java|sql|lua|md|sh)");

    /** Words that begin as a class does, and are none: of other programs and formats. */
    private static final Set<String> NO_CLASSES = Set.of(
            "AccessDenied", // of the operating system
            "AccuracySec", // of systemd, as the next two
            "ExecStart",
            "TimeoutStopSec",
            "ApplicationName", // of PostgreSQL's driver
            "Derby", // modes of H2, as the next five
            "MSSQLServer",
            "MariaDB",
            "MySQL",
            "Oracle",
            "PostgreSQL",
            "JedisPooled", // of earlier versions of Jedis
            "InvalidACL", // an error of ZooKeeper
            "Questions", // a counter of MariaDB
            "ServicesResourceTransformer"); // of a plugin of Maven

    /** Classes that a page shows, such as those of "Getting started". */
    private static final Set<String> SHOWN = Repository.pages().stream()
            .flatMap(page -> page.blocks("java").stream())
            .flatMap(block -> Snippet.typesIn(block.text()).stream())
            .collect(Collectors.toSet());

    /** Files that pages name and that are the reader's. */
    private static final Set<String> NO_FILES =
            Set.of("src/main/java/example/Report.java", "src/main/java/example/Import.java", "zkCli.sh");

    @Test
    void eachClassMethodAndFieldExists() {
        var complaints = new ArrayList<String>();
        Repository.pages().forEach(page -> complaints.addAll(complaintsAbout(page)));
        assertThat(complaints).isEmpty();
    }

    @Test
    void eachFileExists() {
        Set<String> files = Repository.files(Repository.ROOT).stream()
                .map(file -> "/" + Repository.name(file))
                .collect(Collectors.toSet());
        var complaints = new ArrayList<String>();
        for (Page page : Repository.pages()) {
            for (Page.Span span : page.spans()) {
                if (FILE.matcher(span.text()).matches()
                        && !NO_FILES.contains(span.text())
                        && files.stream().noneMatch(file -> file.endsWith("/" + span.text()))) {
                    complaints.add(span.place() + ": there is no file " + span.text());
                }
            }
        }
        assertThat(complaints).isEmpty();
    }

    @Test
    void eachEnvironmentVariableOfOursExists() {
        String sources = Repository.files(Repository.ROOT).stream()
                .filter(file -> Repository.name(file).matches(".*\\.(java|sh)|check|bench|lockkeeper|(.*/)?run"))
                .filter(file -> !Repository.name(file).startsWith("examples/"))
                .map(Repository::read)
                .collect(Collectors.joining());
        assertThat(Repository.pages().stream()
                        .flatMap(page -> page.spans().stream())
                        .flatMap(span -> VARIABLE.matcher(span.text()).results())
                        .map(MatchResult::group))
                .hasSizeGreaterThan(20)
                .allSatisfy(variable -> assertThat(sources).contains(variable));
    }

    @Test
    void eachCommandOfTheReadmeExists() {
        List<String> commands = Repository.page("README.md").blocks("sh").stream()
                .flatMap(block -> block.text().replace("\\\n", " ").lines())
                .map(line -> line.replaceFirst("(^|\\s)#.*", "").strip())
                .filter(line -> !line.isEmpty())
                .toList();
        assertThat(commands)
                .isNotEmpty()
                .allMatch(command -> command.matches("\\./\\w+( .*)?"))
                .allSatisfy(command -> assertThat(Repository.ROOT.resolve(command.replaceFirst(" .*", "")))
                        .isExecutable());
    }

    /** In the table of rules a method that stands without its class could be one of any. */
    @Test
    void eachMethodInTheTableOfRulesHasItsClass() {
        Page page = Repository.page("docs/architecture.md");
        assertThat(page.section("Where each rule of the law lives").stream()
                        .filter(line -> !line.cells().isEmpty())
                        .flatMap(line -> page.spans(line).stream())
                        .map(Page.Span::text)
                        .filter(text -> !CLASS.matcher(text).matches()))
                .isEmpty();
    }

    @Test
    void whatDoesNotExistIsFound() {
        var page = new Page("docs/made_up", """
                Right: `Lease`, `Lease.renew(lease)`, `Guarantee.FENCED`, `LockOptions.defaults().lease(…)`, `Renewals.Hold`,
                `DistributedLock.unlock`, `CompletableFuture`, `Thread.isVirtual`, `ListingTest.onlyWhatIsListedIsRead` (sql)
                Wrong: `Leash`, `Lease.prolong`, `Guarantee.CHEAP`, `Renewals.Leash`, `RLock.wait4`, `Signals.Hold.token`,
                `ListingTest.onlyWhatIsListedIsRead` (zookeeper)
                """);
        assertThat(complaintsAbout(page))
                .containsExactly(
                        "docs/made_up:3: Leash: there is no class of this name",
                        "docs/made_up:3: Lease.prolong: Lease (core) has no prolong",
                        "docs/made_up:3: Guarantee.CHEAP: Guarantee (core) has no CHEAP",
                        "docs/made_up:3: Renewals.Leash: Renewals (core) has no Leash",
                        "docs/made_up:3: RLock.wait4: RLock has no wait4",
                        "docs/made_up:3: Signals.Hold.token: Signals (core) has no Hold",
                        "docs/made_up:4: ListingTest.onlyWhatIsListedIsRead: there is no class of this name in"
                                + " zookeeper");
    }

    private static List<String> complaintsAbout(Page page) {
        var complaints = new ArrayList<String>();
        for (Page.Span span : page.spans()) {
            Matcher named = CLASS.matcher(span.text());
            if (named.matches() && !NO_CLASSES.contains(named.group(1)) && !SHOWN.contains(named.group(1))) {
                Matcher module = MODULE.matcher(span.after());
                String only = module.find() && SOURCES.hasModule(module.group(1)) ? module.group(1) : null;
                String complaint = complaint(named.group(1), named.group(2), only);
                if (!complaint.isEmpty()) {
                    complaints.add(span.place() + ": " + named.group(1) + named.group(2) + ": " + complaint);
                }
            }
        }
        return complaints;
    }

    private static String complaint(String name, String path, @Nullable String module) {
        List<Sources.Type> types = SOURCES.types(name, module);
        List<String> members =
                path.isEmpty() ? List.of() : List.of(path.substring(1).split("\\."));
        if (types.isEmpty()) {
            return module == null ? FOREIGN.complaint(name, members) : "there is no class of this name in " + module;
        }
        String complaint = "";
        for (Sources.Type type : types) {
            complaint = complaint(type, members);
            if (complaint.isEmpty()) {
                return "";
            }
        }
        return complaint;
    }

    private static String complaint(Sources.Type type, List<String> members) {
        Sources.Type at = type;
        for (String member : members) {
            Sources.Type declaring = SOURCES.declaring(at, member);
            if (declaring == null) {
                return FOREIGN.inherits(SOURCES.lineage(at), member) ? "" : at + " has no " + member;
            }
            Sources.Type nested = declaring.nested().get(member);
            if (nested == null) {
                return ""; // what a call returns may be anything
            }
            at = nested;
        }
        return "";
    }
}
