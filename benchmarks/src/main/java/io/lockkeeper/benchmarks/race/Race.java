// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.benchmarks.race;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;

/**
 * The race on one store. All contenders of a workload get their slices in turn, in another order each round, so that what the
 * machine does meanwhile hits all of them; before the first round comes a warm-up. The control runs first.
 */
final class Race {
    private static final Duration IDLE_LEASE = Duration.ofSeconds(10);

    /** New JVMs have all to compile: with less, they are still at it in the first rounds. */
    private static final int COLD = 8;

    /** Slices for the control to be caught in: in the first, new processes may hardly get to run. */
    private static final int CONTROLS = 5;

    private final Options options;
    private final Suite suite;
    private final StoreSetup store;
    private final Path folder;
    private final List<Score> scores = new ArrayList<>();
    /** Overlaps of the control, for each workload. */
    private final Map<Workload, Long> caught = new LinkedHashMap<>();

    Race(Options options, Suite suite, StoreSetup store, Path folder) {
        this.options = options;
        this.suite = suite;
        this.store = store;
        this.folder = folder;
    }

    List<Score> scores() {
        return scores;
    }

    Map<Workload, Long> caught() {
        return caught;
    }

    void run() throws Exception {
        say("starting");
        Path page = folder.resolve(store.id() + ".page");
        try (StoreSetup.Running server = store.start(folder)) {
            Crew.Starter starter = contender ->
                    WorkerJvm.start(log(contender), suite.name(), store.id(), contender, server.url(), page);
            List<Crew> crews = new ArrayList<>();
            Page shared = Page.map(page);
            try (Crew control = new Crew(NoLock.ENTRY, starter, shared)) {
                for (Contender.Entry entry : chosen()) {
                    crews.add(new Crew(entry, starter, shared));
                }
                for (Workload workload : Workload.ALL) {
                    if (options.wants(options.workloads, workload.name())) {
                        workload(workload, server, control, crews);
                    }
                }
            } finally {
                for (Crew crew : crews) {
                    crew.close();
                }
            }
        }
    }

    /** The floor, and the other contenders that were chosen. */
    private List<Contender.Entry> chosen() {
        List<Contender.Entry> entries = new ArrayList<>();
        for (Contender.Entry entry : store.contenders()) {
            boolean isFloor = entries.isEmpty();
            boolean isWanted =
                    options.contenders.isEmpty() ? entry.byDefault() : options.contenders.contains(entry.name());
            if (isFloor || isWanted) {
                entries.add(entry);
            }
        }
        return entries;
    }

    private void workload(Workload workload, StoreSetup.Running server, Crew control, List<Crew> all)
            throws IOException, InterruptedException {
        List<Crew> crews =
                all.stream().filter(c -> workload.suits(c.contender())).toList();
        if (workload.shape() == Workload.Shape.IDLE) {
            for (Crew crew : crews) {
                idle(workload, server, crew);
            }
            return;
        }
        if (workload.showsOverlaps()) {
            control.resize(workload.processes());
            long overlaps = 0;
            for (int i = 0; i < CONTROLS && overlaps == 0; i++) {
                overlaps = control.run(workload, options.slice).overlaps();
            }
            caught.put(workload, overlaps);
            control.resize(1);
        }
        List<Score> scored = new ArrayList<>();
        for (Crew crew : crews) {
            Score score = new Score(store.id(), workload, crew.contender().name());
            scored.add(score);
            attempt(crew, score, () -> {
                boolean isCold = crew.resize(workload.processes());
                if (!options.warmUp.isZero()) {
                    crew.run(workload.asWarmUp(), options.warmUp.multipliedBy(isCold ? COLD : 1));
                }
            });
        }
        for (int round = 0; round < options.rounds; round++) {
            say(workload.name() + ", round " + (round + 1));
            for (int i = 0; i < crews.size(); i++) {
                Crew crew = crews.get((i + round) % crews.size());
                Score score = scored.get((i + round) % crews.size());
                attempt(crew, score, () -> {
                    OptionalLong before = server.requests();
                    Slice slice = crew.run(workload, workload.lengthOf(options.slice));
                    score.add(slice, since(before, server));
                });
            }
        }
        for (Crew crew : crews) {
            // Idle processes still have connections, and those of all contenders would be too many for a server.
            crew.resize(1);
        }
        scores.addAll(scored);
    }

    private interface Attempt {
        void run() throws IOException, InterruptedException;
    }

    /** A contender that fails is out of this workload; the others go on. */
    private void attempt(Crew crew, Score score, Attempt attempt) throws InterruptedException {
        if (score.failure != null) {
            return;
        }
        try {
            attempt.run();
        } catch (IOException e) {
            score.failure = e.toString();
            say(crew.contender().name() + " failed: " + e);
            crew.close();
        }
    }

    private static OptionalLong since(OptionalLong before, StoreSetup.Running server) {
        OptionalLong after = server.requests();
        return before.isPresent() && after.isPresent()
                ? OptionalLong.of(after.getAsLong() - before.getAsLong())
                : OptionalLong.empty();
    }

    private void idle(Workload workload, StoreSetup.Running server, Crew crew) throws InterruptedException {
        say(workload.name() + ", " + crew.contender().name());
        Score score = new Score(store.id(), workload, crew.contender().name());
        scores.add(score);
        attempt(crew, score, () -> {
            crew.resize(1);
            long start = System.nanoTime();
            crew.keep(options.names, IDLE_LEASE);
            double fill = (System.nanoTime() - start) / 1e9;
            OptionalLong before = server.requests();
            Slice.Cost cost = crew.idle(options.window);
            OptionalLong requests = since(before, server);
            double seconds = cost.nanos() / 1e9;
            score.idle = new Score.IdleScore(
                    options.names,
                    crew.drop(),
                    fill,
                    requests.isPresent() ? requests.getAsLong() / seconds : Double.NaN,
                    cost.cpuNanos() / 1e6 / seconds);
        });
    }

    private Path log(String contender) throws IOException {
        Path logs = Files.createDirectories(options.json.toAbsolutePath().resolveSibling("bench-logs"));
        return logs.resolve(store.id() + "-" + contender + ".log");
    }

    private void say(String what) {
        System.err.println("[bench] " + store.id() + ": " + what);
    }
}
