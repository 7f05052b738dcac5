// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.benchmarks.race;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.benchmarks.Suites;
import io.lockkeeper.benchmarks.race.Workload.Shape;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The page sees holders that should not be there, and no others. */
class ExclusionTest {
    private static final Duration SLICE = Duration.ofMillis(200);

    @TempDir
    Path folder;

    @ParameterizedTest
    @ValueSource(strings = {"same-8-work", "read-write-work", "semaphore-work"})
    void catchesThreadsThatDoNotLock(String workload) throws Exception {
        assertThat(run(NoLock.ENTRY, Workload.named(workload)).overlaps()).isPositive();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"one", "own-16", "same-8", "same-8-work", "read-write", "read-write-work", "semaphore-work"})
    void acquitsThreadsThatLock(String workload) throws Exception {
        Slice slice = run(ours(), Workload.named(workload));
        assertThat(slice.firstError()).isNull();
        assertThat(slice.acquisitions()).isPositive();
        assertThat(slice.waits().total()).isEqualTo(slice.acquisitions());
        assertThat(slice.overlaps()).isZero();
    }

    @Test
    void catchesProcessesThatDoNotLockAndAcquitsThoseThatDo() throws Exception {
        Workload workload = new Workload("both", "2 processes × 2 threads", Shape.ONE_NAME, 2, 2, 300);
        assertThat(runApart("no-lock", workload, s -> s.overlaps() > 0).overlaps())
                .isPositive();
        Slice locked = runApart("lockkeeper", workload, s -> s.acquisitions() > 0);
        assertThat(locked.firstError()).isNull();
        assertThat(locked.acquisitions()).isPositive();
        assertThat(locked.overlaps()).isZero();
    }

    @Test
    void measuresHandOffsBetweenProcesses() throws Exception {
        Slice slice = runApart(
                "lockkeeper", Workload.named("hand-off"), s -> s.waits().total() > 0);
        assertThat(slice.firstError()).isNull();
        assertThat(slice.overlaps()).isZero();
        assertThat(slice.waits().total()).isPositive();
    }

    private static Contender.Entry ours() {
        return LockkeeperContender.entries(UnaryOperator.identity()).get(0);
    }

    /** In this process, on memory. */
    private Slice run(Contender.Entry entry, Workload workload) throws Exception {
        Page page = Page.map(folder.resolve("page"));
        page.clear();
        try (Contender contender = entry.opening().open("memory:")) {
            Slice slice = new Driver(contender, page).run(new Order.Run(workload, 0, System.nanoTime(), SLICE));
            return slice.withLost(slice.additions() - page.additions());
        }
    }

    /** In processes of their own, on a file: as many slices as it takes until something can be said. */
    private Slice runApart(String contender, Workload workload, Predicate<Slice> enough) throws Exception {
        Path own = Files.createTempDirectory(folder, contender);
        Path page = own.resolve("page");
        StoreSetup store = Suites.named("sql").store("sqlite");
        try (StoreSetup.Running file = store.start(own);
                Crew crew = new Crew(
                        ours(),
                        c -> WorkerJvm.start(own.resolve("log"), "sql", store.id(), contender, file.url(), page),
                        Page.map(page))) {
            crew.resize(workload.processes());
            List<Slice> slices = new ArrayList<>();
            do {
                slices.add(crew.run(workload, Duration.ofMillis(400)));
            } while (!enough.test(Slice.sum(slices)) && slices.size() < 50);
            return Slice.sum(slices);
        }
    }
}
