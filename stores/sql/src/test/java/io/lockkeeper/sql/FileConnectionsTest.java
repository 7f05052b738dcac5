// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

import io.lockkeeper.Lease;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.Mode;
import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.Renewal;
import io.lockkeeper.spi.Renewals;
import io.lockkeeper.sql.file.FileSource;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How many connections to a file a process has: one to wait with; another one for renewals when it holds something. */
class FileConnectionsTest {
    @TempDir
    Path folder;

    private Path file;

    @BeforeEach
    void makeTheFolder() throws Exception {
        file = Files.createDirectory(folder.resolve("locks")).resolve("locks.db");
    }

    private static long connections(long pid, Path file) throws IOException {
        long count = 0;
        try (Stream<Path> all = Files.list(Path.of("/proc", String.valueOf(pid), "fd"))) {
            for (Path each : all.toList()) {
                count += isTo(each, file) ? 1 : 0;
            }
        }
        return count;
    }

    private static boolean isTo(Path descriptor, Path file) {
        try {
            return Files.readSymbolicLink(descriptor).equals(file);
        } catch (IOException e) {
            return false; // it has been closed
        }
    }

    private static long writes(FileSource source) {
        return Objects.requireNonNull(source.gate().note()).count();
    }

    @Test
    void aProcessThatWaitsHasOneConnection() throws Exception {
        assumeThat(Path.of("/proc/self/fd")).isDirectory();
        try (Lockkeeper keeper = Lockkeeper.connect("file:" + file)) {
            Lease held = keeper.lock("x").acquire();
            try (FileChild child = FileChild.start("hold", file)) {
                await().atMost(60, SECONDS)
                        .until(() ->
                                keeper.inspector().inspect("x").orElseThrow().waiters() == 1);
                Path real = file.toRealPath();
                FileSource source = new FileSource(real, Duration.ofSeconds(5), false, "");
                try {
                    long writes = writes(source);
                    await("refreshes of its place").atMost(60, SECONDS).until(() -> writes(source) > writes + 2);
                } finally {
                    source.close();
                }
                assertThat(connections(child.pid(), real)).isEqualTo(1);
                held.close();
                child.says("held");
                await().atMost(60, SECONDS).until(() -> connections(child.pid(), real) == 2);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void renewalsDoNotWaitForTheConnectionThatStepsUse(boolean holds) throws Exception {
        ExecutorService threads = Executors.newCachedThreadPool();
        try (SqlStore store = FileProvider.open(file, Duration.ofSeconds(20), false);
                SqlStore other = FileProvider.open(file, Duration.ofSeconds(20), false)) {
            Spi.hold(other, "b", Mode.EXCLUSIVE, Spi.LEASE);
            List<Renewals.Hold> held = holds ? List.of(Spi.hold(store, "a", Mode.EXCLUSIVE, Spi.LEASE)) : List.of();
            Claim queued = Spi.queue(store, "b", Mode.EXCLUSIVE);
            CountDownLatch begun = new CountDownLatch(1);
            CountDownLatch over = new CountDownLatch(1);
            Future<Boolean> step = threads.submit(() -> store.connections.autocommit(c -> {
                begun.countDown();
                return isReached(over);
            }));
            assertThat(begun.await(30, SECONDS)).isTrue();
            Renewal renewal = store.renew(new Renewals(held, List.of(queued)));
            assertThat(renewal.holds()).allMatch(outcome -> outcome instanceof Renewal.Kept);
            assertThat(renewal.queued()).singleElement().isInstanceOf(Answer.Queued.class);
            assertThat(step).isNotDone();
            over.countDown();
            assertThat(step.get(30, SECONDS)).isTrue();
        } finally {
            threads.shutdownNow();
        }
    }

    @Test
    void lookingDoesNotWaitForWriters() throws Exception {
        try (SqlStore store = FileProvider.open(file, Duration.ofSeconds(1), false);
                FileChild child = FileChild.start("write", file).says("writing")) {
            assertThat(store.inspect("x")).isEmpty();
            assertThat(store.list("", 10)).isEmpty();
            assertThat(child.said()).contains("writing");
        }
    }

    private static boolean isReached(CountDownLatch latch) {
        try {
            return latch.await(60, SECONDS);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
