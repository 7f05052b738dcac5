// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.examples.pages;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.quorum.QuorumOptions;
import io.lockkeeper.redis.RedisOptions;
import io.lockkeeper.sql.SqlOptions;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The page of options has exactly the options of the code, with the defaults and ranges of the code.
 *
 * <p>What a URL may have, the code itself says: it rejects an unknown parameter with a list of the known ones, and a value out
 * of range with the range, before it connects to anything. A default is seen where the sources read the parameter.
 */
class OptionsPageTest {
    private static final OptionsPage PAGE = new OptionsPage(Repository.page("docs/options.md"));

    private static final Map<String, OptionsPage.Row> COMMON = parameters("URLs");

    /** How the sources read a parameter: {@code "name").orElse(DEFAULT)}, or a function of its own with name and default. */
    private static final Pattern READ =
            Pattern.compile("\"(\\w+)\"(?:\\)\\s*\\.orElse\\(|, (?:\\1, )?)([\\w.]+(?:\\(\\d+\\))?|\"[\\w]*\")");

    @TestFactory
    Stream<DynamicTest> eachParameterOfAUrlIsKnownAndNoneIsMissing() {
        return Stream.of(
                known("memory:", Map.of()),
                known("file:locks.db", parameters("File")),
                known("jdbc:postgresql://localhost/db", parameters("Databases")),
                known("redis://localhost", parameters("Redis")),
                known("redis-sentinel://localhost/0#locks", parameters("Redis")),
                known("redis-cluster://localhost", parameters("Redis")),
                known("rediss://localhost", parameters("Redis")),
                known("rediss-sentinel://localhost/0#locks", parameters("Redis")),
                known("rediss-cluster://localhost", parameters("Redis")),
                known("redlock://a,b,c", parameters("Redis", "Redlock")),
                known("redlocks://a,b,c", parameters("Redis", "Redlock")),
                known("zookeeper://localhost", parameters("ZooKeeper")));
    }

    private static DynamicTest known(String url, Map<String, OptionsPage.Row> onThePage) {
        return DynamicTest.dynamicTest(url, () -> {
            String scheme = url.substring(0, url.indexOf(':'));
            String wrong = scheme.equals("jdbc") ? "lockkeeper.nothing" : "nothing";
            Throwable rejected = catchThrowable(() -> Lockkeeper.connect(url + "?" + wrong + "=1"));
            assertThat(rejected).isInstanceOf(IllegalArgumentException.class).hasMessageContaining("known are [");
            var known = new TreeSet<String>();
            Matcher list = Pattern.compile("\\[([^\\]]*)\\]").matcher(String.valueOf(rejected.getMessage()));
            while (list.find()) {
                known.addAll(List.of(list.group(1).split(", ")));
            }
            var expected = new TreeSet<>(COMMON.keySet());
            onThePage.values().stream().filter(row -> isFor(scheme, row)).forEach(row -> expected.add(row.name()));
            assertThat(known).isEqualTo(expected);
        });
    }

    private static boolean isFor(String scheme, OptionsPage.Row row) {
        boolean tls = scheme.startsWith("rediss") || scheme.equals("redlocks");
        return (tls || !row.allowed().contains("with TLS only"))
                && (scheme.endsWith("-sentinel") || !row.allowed().contains("with Sentinel only"));
    }

    @TestFactory
    Stream<DynamicTest> eachRangeOfAParameterIsThatOfTheCode() {
        return Stream.of(
                        ranges("redis://localhost", COMMON),
                        ranges("redis://localhost", parameters("Redis")),
                        ranges("redlock://a,b,c", parameters("Redlock")),
                        ranges("zookeeper://localhost", parameters("ZooKeeper")))
                .flatMap(tests -> tests);
    }

    private static Stream<DynamicTest> ranges(String url, Map<String, OptionsPage.Row> rows) {
        return rows.values().stream()
                .filter(row -> row.range().isPresent())
                .map(row -> DynamicTest.dynamicTest(url + " " + row.name(), () -> {
                    List<String> range = row.range().orElseThrow();
                    for (String outside : outside(range)) {
                        assertThat(catchThrowable(() -> Lockkeeper.connect(url + "?" + row.name() + "=" + outside)))
                                .isInstanceOf(IllegalArgumentException.class)
                                .hasMessageContaining(row.name())
                                .hasMessageContaining(range.get(0) + " to " + range.get(1));
                    }
                }));
    }

    /** A value below the range, if there is one, and one above it. */
    private static List<String> outside(List<String> range) {
        var values = new ArrayList<String>();
        if (range.get(1).startsWith("P")) {
            long least = Duration.parse(range.get(0)).toMillis();
            if (least > 0) {
                values.add(least - 1 + "ms");
            }
            values.add(Duration.parse(range.get(1)).toMillis() + 1 + "ms");
        } else {
            if (Long.parseLong(range.get(0)) > 0) {
                values.add(Long.toString(Long.parseLong(range.get(0)) - 1));
            }
            values.add(Long.toString(Long.parseLong(range.get(1)) + 1));
        }
        return values;
    }

    @Test
    void eachDefaultOfAParameterIsThatOfTheCode() {
        var wrong = new ArrayList<String>();
        wrong.addAll(
                wrongDefaults(COMMON, readIn("core/src/main", "stores/redis/src/main", "stores/zookeeper/src/main")));
        wrong.addAll(wrongDefaults(parameters("File"), readIn("stores/sql/src/main")));
        wrong.addAll(wrongDefaults(parameters("Databases"), readIn("stores/sql/src/main")));
        wrong.addAll(wrongDefaults(parameters("Redis"), readIn("stores/redis/src/main")));
        wrong.addAll(wrongDefaults(parameters("ZooKeeper"), readIn("stores/zookeeper/src/main")));
        assertThat(wrong).isEmpty();

        QuorumOptions quorum = QuorumOptions.defaults();
        Map<String, OptionsPage.Row> redlock = parameters("Redlock");
        assertThat(quorum.memberTimeout()).isEqualTo(Duration.ofSeconds(1).dividedBy(4));
        assertThat(redlock.get("memberTimeout").builtIn()).isEqualTo("a quarter of operationTimeout");
        assertThat(OptionsPage.duration(redlock.get("longestLease").builtIn())).contains(quorum.longestLease());
        assertThat(OptionsPage.duration(redlock.get("clockLead").builtIn())).contains(quorum.clockLead());
    }

    /** A default that is a value and that the sources, where they read the parameter, do not have. */
    private static List<String> wrongDefaults(Map<String, OptionsPage.Row> rows, Map<String, Set<String>> read) {
        return rows.values().stream()
                .filter(row -> row.builtIn().matches("[\\w]+") && !row.builtIn().equals("none"))
                .filter(row -> !read.getOrDefault(row.name().replaceFirst("^lockkeeper\\.", ""), Set.of())
                        .contains(OptionsPage.value(row.builtIn())))
                .map(row -> row.name() + " is " + row.builtIn() + " on the page, and in the code one of "
                        + read.getOrDefault(row.name().replaceFirst("^lockkeeper\\.", ""), Set.of()))
                .toList();
    }

    /** The defaults with which the sources below these folders read parameters. */
    private static Map<String, Set<String>> readIn(String... folders) {
        var read = new HashMap<String, Set<String>>();
        for (String folder : folders) {
            for (Path file : Repository.files(Repository.ROOT.resolve(folder))) {
                String text = Repository.read(file);
                Matcher found = READ.matcher(text);
                while (found.find()) {
                    read.computeIfAbsent(found.group(1), name -> new TreeSet<>())
                            .add(valueOf(found.group(2), text));
                }
            }
        }
        read.computeIfAbsent("tablePrefix", name -> new TreeSet<>()).add("lockkeeper_"); // tested with SqlOptions
        return read;
    }

    /** What an expression of the sources means: a duration in ISO form, a text, a number, or a constant of the same file. */
    private static String valueOf(String expression, String text) {
        Matcher duration =
                Pattern.compile("Duration\\.of(Seconds|Millis)\\((\\d+)\\)").matcher(expression);
        if (duration.matches()) {
            return OptionsPage.value(duration.group(2) + (duration.group(1).equals("Seconds") ? "s" : "ms"));
        }
        Matcher constant = Pattern.compile("\\b" + Pattern.quote(expression) + "\\s*=\\s*([\\w.]+(?:\\(\\d+\\))?);")
                .matcher(text);
        return expression.matches("[A-Z_]+") && constant.find()
                ? valueOf(constant.group(1), text)
                : expression.replace("\"", "");
    }

    /** Each store's page repeats its options, with what they mean there. */
    @ParameterizedTest
    @CsvSource({"file, File", "postgresql, Databases", "quorum, Redlock", "redis, Redis", "zookeeper, ZooKeeper"})
    void thePageOfEachStoreHasTheSameOptionsAndDefaults(String store, String section) {
        var page = new OptionsPage(Repository.page("docs/stores/" + store + ".md"));
        Map<String, OptionsPage.Row> rows = page.rows("Options", "parameter of the URL");
        var expected = new HashMap<>(parameters(section));
        if (store.equals("file")) {
            expected.remove("connectTimeout"); // has no effect
        }
        if (!store.equals("quorum")) {
            expected.putAll(COMMON);
        }
        assertThat(rows.keySet()).isEqualTo(expected.keySet());
        expected.values().stream().filter(row -> row.builtIn().matches("\\w+")).forEach(row -> assertThat(
                        rows.get(row.name()).builtIn().split(", "))
                .as(row.name())
                .anyMatch(part -> OptionsPage.value(part).equals(OptionsPage.value(row.builtIn()))));
    }

    @Test
    void eachOptionOfTheApiIsOnThePageAndNoOther() {
        assertThat(options("The keeper").keySet()).isEqualTo(settersOf(Lockkeeper.Builder.class));
        assertThat(options("Locks").keySet()).isEqualTo(settersOf(LockOptions.class));
        assertThat(options("SqlOptions").keySet()).isEqualTo(settersOf(SqlOptions.class));
        assertThat(options("RedisOptions").keySet()).isEqualTo(settersOf(RedisOptions.class));
    }

    @Test
    void eachRangeOfAnOptionIsThatOfTheCode() throws Exception {
        assertRanges("The keeper", Lockkeeper.builder("memory:"));
        assertRanges("Locks", LockOptions.defaults());
        assertRanges("SqlOptions", SqlOptions.defaults());
        assertRanges("RedisOptions", RedisOptions.defaults());
        Map<String, OptionsPage.Row> redis = parameters("Redis");
        assertThat(redis.get("replicas").range()).contains(List.of("0", "100"));
    }

    private static void assertRanges(String section, Object options) throws Exception {
        for (OptionsPage.Row row : options(section).values()) {
            List<String> range = row.range().orElse(List.of("", ""));
            if (!range.get(1).startsWith("P")) {
                continue; // no range of durations
            }
            Method set = options.getClass().getMethod(row.name(), Duration.class);
            for (Duration outside : List.of(
                    Duration.parse(range.get(0)).minusMillis(1),
                    Duration.parse(range.get(1)).plusMillis(1))) {
                assertThat(catchThrowable(() -> set.invoke(options, outside)))
                        .as("%s %s", row.name(), outside)
                        .hasCauseInstanceOf(IllegalArgumentException.class)
                        .cause()
                        .hasMessageContaining("allowed is " + range.get(0) + " to " + range.get(1));
            }
        }
    }

    @Test
    void eachDefaultOfAnOptionIsThatOfTheCode() throws Exception {
        LockOptions locks = LockOptions.defaults();
        Map<String, OptionsPage.Row> onThePage = options("Locks");
        assertThat(OptionsPage.duration(onThePage.get("lease").builtIn())).contains(locks.lease());
        assertThat(onThePage.get("fair").builtIn()).isEqualTo(Boolean.toString(locks.fair()));
        assertThat(locks.fixedLease()).isEmpty();
        assertThat(locks.maxHold()).isEmpty();
        assertThat(locks.label()).isEmpty();
        assertFields("SqlOptions", SqlOptions.defaults());
        assertFields("RedisOptions", RedisOptions.defaults());
    }

    /** The options are kept in fields of their names. */
    private static void assertFields(String section, Object options) throws Exception {
        for (OptionsPage.Row row : options(section).values()) {
            if (OptionsPage.duration(row.builtIn()).isPresent() || row.builtIn().matches("\\w+")) {
                var field = options.getClass().getDeclaredField(row.name());
                field.setAccessible(true);
                assertThat(OptionsPage.value(row.builtIn()))
                        .as(row.name())
                        .isEqualTo(String.valueOf(field.get(options)));
            }
        }
    }

    @Test
    void aWrongTableIsFound() {
        var page = new OptionsPage(new Page("docs/made_up", """
                ## Redis
                | parameter | type | default | allowed | meaning |
                |---|---|---|---|---|
                | `poolSize` | number | `31` | 1 to 1,000 | |
                | `connectTimeout` | duration | `3s` | `1ms` or more | |
                | `leash` | duration | `3s` | `10ms` to `1m` | |
                """));
        Map<String, OptionsPage.Row> rows = page.rows("Redis", "parameter");
        assertThat(rows.get("poolSize").range()).contains(List.of("1", "1000"));
        assertThat(rows.get("leash").range()).contains(List.of("PT0.01S", "PT1M"));
        assertThat(wrongDefaults(rows, readIn("stores/redis/src/main")))
                .containsExactly(
                        "poolSize is 31 on the page, and in the code one of [32]",
                        "leash is 3s on the page, and in the code one of []");
    }

    private static Set<String> settersOf(Class<?> type) {
        return Arrays.stream(type.getMethods())
                .filter(method -> method.getReturnType() == type && !Modifier.isStatic(method.getModifiers()))
                .filter(method -> method.getParameterCount() == 1 && method.getParameterTypes()[0] != type)
                .map(Method::getName)
                .collect(Collectors.toSet());
    }

    private static Map<String, OptionsPage.Row> options(String section) {
        return PAGE.rows(section, "option");
    }

    private static Map<String, OptionsPage.Row> parameters(String... sections) {
        var rows = new HashMap<String, OptionsPage.Row>();
        Arrays.stream(sections).forEach(section -> rows.putAll(PAGE.rows(section, "parameter")));
        return rows;
    }
}
