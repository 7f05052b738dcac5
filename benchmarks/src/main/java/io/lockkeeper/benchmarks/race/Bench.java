// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.benchmarks.race;

import io.lockkeeper.benchmarks.Suites;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** Runs the races of a suite, and says whether every lock locked and every control was caught. */
public final class Bench {
    private Bench() {}

    /** A suite and options; exits with 0; with 1 if exclusion was broken, a control not caught or a contender failed; or with 64. */
    public static void main(String[] args) throws Exception {
        Options options;
        Suite suite;
        try {
            options = new Options(args);
            suite = Suites.named(options.suite);
            options.stores.forEach(suite::store);
        } catch (IllegalArgumentException e) {
            System.err.println(e.getMessage() + "\n" + Options.USAGE);
            System.exit(64);
            return;
        }
        if (options.help) {
            System.out.print(Options.USAGE);
            return;
        }
        if (options.list) {
            list(suite);
            return;
        }
        Path folder = Files.createTempDirectory("lockkeeper-bench-");
        boolean isSound;
        try {
            isSound = run(options, suite, folder);
        } finally {
            delete(folder);
        }
        System.exit(isSound ? 0 : 1);
    }

    private static boolean run(Options options, Suite suite, Path folder) throws Exception {
        List<Score> scores = new ArrayList<>();
        Map<String, Map<Workload, Long>> controls = new LinkedHashMap<>();
        Report report = new Report(scores);
        for (StoreSetup store : suite.stores()) {
            if (options.wants(options.stores, store.id())) {
                Race race = new Race(options, suite, store, folder);
                race.run();
                scores.addAll(race.scores());
                controls.put(store.id(), race.caught());
                System.out.println(report.tables(store.id()));
            }
        }
        Files.createDirectories(options.json.toAbsolutePath().getParent());
        Files.writeString(options.json, report.json(options, controls));
        System.out.println("JSON: " + options.json);
        return judge(scores, controls);
    }

    private static boolean judge(List<Score> scores, Map<String, Map<Workload, Long>> controls) {
        List<String> wrong = new ArrayList<>();
        Map<String, String> errors = new LinkedHashMap<>();
        controls.forEach((store, caught) -> caught.forEach((workload, overlaps) -> {
            if (overlaps == 0) {
                wrong.add("the no-lock control was not caught: " + store + ", " + workload.name());
            }
        }));
        for (Score score : scores) {
            if (score.overlaps() > 0) {
                wrong.add(score.contender + " had two holders at once: " + score.store + ", " + score.workload.name());
            }
            if (score.failure != null) {
                wrong.add(score.contender + " failed: " + score.store + ", " + score.workload.name() + ": "
                        + score.failure);
            }
            String error = score.firstError();
            if (error != null) {
                errors.merge(score.contender + " on " + score.store, error, (first, next) -> first);
            }
        }
        errors.forEach((who, first) -> System.out.println("errors of " + who + ", the first: " + first));
        long slices = controls.values().stream().mapToLong(Map::size).sum();
        if (wrong.isEmpty()) {
            System.out.println("no overlap; the no-lock control was caught " + slices + " of " + slices + " times");
        }
        wrong.forEach(System.out::println);
        return wrong.isEmpty();
    }

    private static void list(Suite suite) {
        for (StoreSetup store : suite.stores()) {
            System.out.println("store " + store.id() + ": "
                    + store.contenders().stream()
                            .map(c -> c.name() + (c.byDefault() ? "" : " (on request)"))
                            .toList());
        }
        Workload.ALL.forEach(w -> System.out.printf("workload %-16s %s%n", w.name(), w.title()));
    }

    private static void delete(Path folder) throws IOException {
        List<Path> files;
        try (Stream<Path> walk = Files.walk(folder)) {
            files = walk.sorted(Comparator.reverseOrder()).toList();
        }
        for (Path file : files) {
            Files.deleteIfExists(file);
        }
    }
}
