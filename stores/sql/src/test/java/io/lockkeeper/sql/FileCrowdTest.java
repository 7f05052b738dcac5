// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

import io.lockkeeper.Lease;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.StoreTime;
import io.lockkeeper.sql.file.FileGate;
import io.lockkeeper.sql.file.FileSource;
import io.lockkeeper.tck.Tier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Many processes at one file, and processes that stop in the middle. */
class FileCrowdTest {
    @TempDir
    Path folder;

    private Path file;

    @BeforeEach
    void makeTheFolder() throws Exception {
        file = Files.createDirectory(folder.resolve("locks")).resolve("locks.db");
    }

    private Lockkeeper connect(Duration timeout) {
        return Lockkeeper.builder("file:" + file).operationTimeout(timeout).build();
    }

    private FileGate.Note note(FileGate gate) {
        return Objects.requireNonNull(gate.note());
    }

    @Test
    void manyProcessesThatStartAtOnceAreAllServed() throws Exception {
        int many = Tier.pick(12, 60);
        List<FileChild> children = new ArrayList<>();
        try {
            for (int i = 0; i < many; i++) {
                children.add(FileChild.start("once", file));
            }
            for (FileChild child : children) {
                assertThat(child.exitCode()).as("%s", child.said()).isZero();
            }
        } finally {
            for (FileChild child : children) {
                child.close();
            }
        }
    }

    /** Each of the others writes for a while, and there are too many ahead of the claim for its step to wait for them all. */
    @Test
    void aFileThatOthersWriteToAllTheTimeIsWaitedFor() throws Exception {
        connect(Duration.ofSeconds(5)).close();
        int others = 8;
        CountDownLatch all = new CountDownLatch(others);
        AtomicBoolean over = new AtomicBoolean();
        AtomicLong turns = new AtomicLong();
        ExecutorService threads = Executors.newCachedThreadPool();
        try (Lockkeeper keeper = connect(Duration.ofSeconds(1))) {
            for (int i = 0; i < others; i++) {
                threads.execute(() -> writeInTurn(Duration.ofMillis(100), all, over, turns));
            }
            assertThat(all.await(30, SECONDS)).isTrue();
            long before = turns.get();
            Future<Boolean> had = threads.submit(
                    () -> keeper.lock("x").tryAcquire(Duration.ofSeconds(30)).isPresent());
            await().atMost(30, SECONDS).until(() -> had.isDone() || turns.get() - before > 2L * others);
            over.set(true);
            assertThat(had.get(30, SECONDS)).as("a busy file is no failure").isTrue();
        } finally {
            over.set(true);
            threads.shutdown();
            assertThat(threads.awaitTermination(30, SECONDS)).isTrue();
        }
    }

    /** All have one connection, and more come than it serves, so that most wait for it for longer than a step may take. */
    @Test
    void manyThreadsOfOneProcessAreAllQueuedWhileOthersWrite() throws Exception {
        connect(Duration.ofSeconds(5)).close();
        int others = 2;
        int many = 100;
        CountDownLatch all = new CountDownLatch(others);
        AtomicBoolean over = new AtomicBoolean();
        AtomicLong turns = new AtomicLong();
        ExecutorService threads = Executors.newCachedThreadPool();
        try (Lockkeeper keeper = connect(Duration.ofSeconds(1));
                Lockkeeper holder = connect(Duration.ofSeconds(20))) {
            Lease held = holder.lock("x").acquire();
            for (int i = 0; i < others; i++) {
                threads.execute(() -> writeInTurn(Duration.ofMillis(30), all, over, turns));
            }
            assertThat(all.await(30, SECONDS)).isTrue();
            LockOptions fair = LockOptions.defaults().fair(true);
            List<Future<Boolean>> waiting = new ArrayList<>();
            for (int i = 0; i < many; i++) {
                waiting.add(
                        threads.submit(() -> keeper.lock("x", fair).acquire().release()));
                if (i % 4 == 0) {
                    long before = turns.get();
                    await().atMost(30, SECONDS)
                            .pollInterval(Duration.ofMillis(5))
                            .until(() -> turns.get() - before >= others);
                }
            }
            await().atMost(60, SECONDS)
                    .until(() -> waiting.stream().anyMatch(Future::isDone)
                            || holder.inspector().inspect("x").orElseThrow().waiters() == many);
            over.set(true);
            assertThat(waiting).as("a busy file is no failure").noneMatch(Future::isDone);
            held.close();
            for (Future<Boolean> each : waiting) {
                assertThat(each.get(60, SECONDS)).isTrue();
            }
        } finally {
            over.set(true);
            threads.shutdown();
            assertThat(threads.awaitTermination(30, SECONDS)).isTrue();
        }
    }

    /** One that came too late before it waited for anything is refused as such; otherwise it is the crowd that made it late. */
    @Test
    void aClaimThatBecomesLateWhileOthersWriteIsMadeAgain() throws Exception {
        connect(Duration.ofSeconds(5)).close();
        FileSource source = new FileSource(file.toRealPath(), Duration.ofSeconds(20), false, "");
        ExecutorService threads = Executors.newCachedThreadPool();
        try (SqlStore store = FileProvider.open(file, Duration.ofSeconds(10), false);
                Connection writing = source.pooled()) {
            writing.setAutoCommit(false);
            StoreTime deadline = store.time(store).plusMicros(300_000);
            Claim claim = StatementsTest.claim(store, "x");
            Claim hurried = new Claim(claim.name(), claim.id(), claim.terms(), deadline, false);
            Future<Answer> answer = threads.submit(() -> store.claim(hurried));
            await().until(() -> store.time(store).micros() > deadline.micros());
            writing.rollback();
            writing.setAutoCommit(true);
            assertThat(((Answer.Refused) answer.get(30, SECONDS)).why()).isEqualTo(Answer.Why.BUSY);
            assertThat(((Answer.Refused) store.claim(hurried)).why()).isEqualTo(Answer.Why.LATE);
        } finally {
            threads.shutdownNow();
            source.close();
        }
    }

    private void writeInTurn(Duration turn, CountDownLatch all, AtomicBoolean over, AtomicLong turns) {
        FileSource source = new FileSource(file, Duration.ofSeconds(20), false, "");
        try {
            while (!over.get()) {
                try (Connection writing = source.pooled()) {
                    writing.setAutoCommit(false);
                    long until = System.nanoTime() + turn.toNanos();
                    all.countDown();
                    await().pollInterval(Duration.ofMillis(5)).until(() -> System.nanoTime() - until >= 0);
                    turns.incrementAndGet();
                    writing.rollback();
                    writing.setAutoCommit(true);
                }
            }
        } catch (SQLException e) {
            throw new AssertionError(e);
        } finally {
            source.close();
        }
    }

    @Test
    void aProcessThatIsStoppedWhileItWritesIsNamed() throws Exception {
        connect(Duration.ofSeconds(5)).close();
        try (FileChild child = FileChild.start("write", file).says("writing");
                Lockkeeper keeper = connect(Duration.ofMillis(500))) {
            child.signal("STOP");
            assertThatThrownBy(() -> keeper.lock("x").tryAcquire())
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining("process " + child.pid() + " has been writing to " + file);
            assertThatThrownBy(() -> keeper.lock("x").tryAcquire(Duration.ofSeconds(30)))
                    .as("nobody is served, so that waiting is of no use")
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining("process " + child.pid());
            child.signal("KILL");
            assertThat(keeper.lock("x").tryAcquire()).isPresent();
        }
    }

    /** As on a machine that starts a hundred processes: the one that writes gets no processor for seconds. H103 */
    @Test
    void aProcessThatIsOnlySlowIsWaitedFor() throws Exception {
        assumeThat(Path.of("/proc/self/stat")).exists();
        connect(Duration.ofSeconds(5)).close();
        Duration timeout = Duration.ofMillis(500);
        ExecutorService threads = Executors.newCachedThreadPool();
        try (Lockkeeper keeper = connect(timeout);
                FileChild child = FileChild.start("write", file).says("writing")) {
            Future<Boolean> had = threads.submit(
                    () -> keeper.lock("x").tryAcquire(Duration.ofSeconds(60)).isPresent());
            long until = System.nanoTime() + timeout.multipliedBy(4).toNanos();
            await().atMost(30, SECONDS).until(() -> had.isDone() || System.nanoTime() - until >= 0);
            assertThat(had).as("it waits").isNotDone();
            child.tell("go on");
            assertThat(had.get(30, SECONDS)).isTrue();
        } finally {
            threads.shutdownNow();
        }
    }

    @Test
    void aProcessThatIsStoppedAtTheGateHoldsNobodyUpForLong() throws Exception {
        connect(Duration.ofSeconds(5)).close();
        try (FileChild child = FileChild.start("enter", file).says("ENTERED");
                Lockkeeper keeper = connect(Duration.ofMillis(500))) {
            child.signal("STOP");
            try (Lease lease = keeper.lock("x").acquire()) {
                assertThat(lease.isValid()).isTrue();
            }
        }
    }

    /** One waits to see that; a crowd that waited as long, one after the other, would find no connection free. */
    @Test
    void aProcessThatIsStoppedAtTheGateHoldsUpOnlyTheFirst() throws Exception {
        int many = 40;
        connect(Duration.ofSeconds(5)).close();
        try (FileChild child = FileChild.start("enter", file).says("ENTERED");
                FileGate gate = new FileGate(file)) {
            child.signal("STOP");
            assertThat(gate.enter(TimeUnit.MILLISECONDS.toNanos(500))).isEqualTo(FileGate.Entry.STUCK);
            long begun = System.nanoTime();
            for (int i = 0; i < many; i++) {
                assertThat(gate.enter(TimeUnit.MINUTES.toNanos(1))).isEqualTo(FileGate.Entry.STUCK);
            }
            assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(Duration.ofMinutes(1));
            child.signal("CONT");
            child.tell("leave");
            Spi.await("it can be entered again", () -> gate.enter(0) == FileGate.Entry.ENTERED);
            gate.leave();
        }
    }

    /** A renewal and a release wait with the process that is next, not with all that want to write: with 8 others that is a fourth. H103 */
    @Test
    void whatKeepsOrEndsAHoldDoesNotWaitForTheWholeCrowd() throws Exception {
        connect(Duration.ofSeconds(5)).close();
        int others = 8;
        int times = 30;
        List<FileChild> children = new ArrayList<>();
        try (FileGate gate = new FileGate(file)) {
            for (int i = 0; i < others; i++) {
                children.add(FileChild.start("crowd", file));
            }
            children.forEach(child -> child.says("CROWDS"));
            assertThat(gate.enter(SECONDS.toNanos(30))).isEqualTo(FileGate.Entry.ENTERED);
            gate.leave();
            long passed = 0;
            for (int i = 0; i < times; i++) {
                long before = note(gate).count();
                assertThat(gate.enter(SECONDS.toNanos(30), FileGate.Order.AT_THE_HEAD))
                        .isEqualTo(FileGate.Entry.ENTERED);
                passed += note(gate).count() - before - 1;
                gate.leave();
            }
            assertThat(passed).as("went in before us, in all").isLessThan(others / 2L * times);
        } finally {
            children.forEach(FileChild::close);
        }
    }

    @Test
    void waitingForAMinuteCostsNextToNothing() throws Exception {
        Duration watched = Duration.ofSeconds(Tier.pick(3, 60));
        try (SqlStore store = FileProvider.open(file, Duration.ofSeconds(5), false);
                Lockkeeper one = connect(Duration.ofSeconds(5));
                Lockkeeper two = Lockkeeper.on(store)) {
            Lease held = one.lock("x").acquire();
            CompletableFuture<Lease> waiting = two.lock("x").acquireAsync();
            await().until(() -> one.inspector().inspect("x").orElseThrow().waiters() == 1);
            FileSource source = new FileSource(file.toRealPath(), Duration.ofSeconds(5), false, "");
            try {
                long writes = note(source.gate()).count();
                long looks = ((Poll) store.wakeUps).looks();
                long until = System.nanoTime() + watched.toNanos();
                await().atMost(watched.plusSeconds(30)).until(() -> System.nanoTime() - until >= 0);
                assertThat(note(source.gate()).count() - writes)
                        .as("refreshes, which write")
                        .isLessThanOrEqualTo(watched.toSeconds() * 3 / 2 + 2);
                assertThat(((Poll) store.wakeUps).looks() - looks)
                        .as("looks, which read")
                        .isLessThanOrEqualTo(watched.toSeconds() / 2 + 2);
            } finally {
                source.close();
            }
            held.close();
            waiting.get(30, SECONDS).close();
        }
    }
}
