// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.lockkeeper.Lease;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.sql.base.ConnectionSource;
import io.lockkeeper.sql.base.Daemons;
import io.lockkeeper.sql.file.FileGate;
import io.lockkeeper.sql.file.FileSource;
import io.lockkeeper.sql.file.Mailboxes;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Threads that cannot be started for a while break nothing for good. Hazard H65. */
final class ThreadShortageTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(10);
    private static final long LONG = Duration.ofSeconds(60).toNanos();
    private static final long BRIEF = Duration.ofMillis(200).toNanos();

    @TempDir
    Path folder;

    private Path file;
    private final AtomicInteger refused = new AtomicInteger();
    private volatile boolean isShort;
    private final ThreadFactory threads = task -> {
        if (isShort) {
            refused.incrementAndGet();
            throw new OutOfMemoryError("unable to create native thread (as the test wants it)");
        }
        return Daemons.named("lockkeeper-short").newThread(task);
    };

    @BeforeEach
    void makeFile() throws Exception {
        Path made = folder.resolve("locks.db");
        FileProvider.open(made, TIMEOUT, false).close();
        file = made.toRealPath();
    }

    @Test
    @DisplayName("H65: a gate that had no thread to wait on works again, and keeps nobody out")
    void theGateOutlivesAShortage() throws Exception {
        try (FileGate gate = new FileGate(file, threads)) {
            isShort = true;
            try (FileChild inside = FileChild.start("enter", file).says("ENTERED")) {
                assertThat(gate.enter(BRIEF)).isNotEqualTo(FileGate.Entry.ENTERED);
                assertThat(refused).hasPositiveValue();
                inside.signal("KILL");
                inside.exitCode();
            }
            try (FileChild next = FileChild.start("enter", file)) { // it waits for 5 seconds at most
                next.says("ENTERED");
                isShort = false;
                assertThat(gate.enter(BRIEF)).isNotEqualTo(FileGate.Entry.ENTERED);
                CompletableFuture<FileGate.Entry> entering = CompletableFuture.supplyAsync(() -> gate.enter(LONG));
                next.signal("KILL");
                assertThat(entering.get(60, SECONDS)).isEqualTo(FileGate.Entry.ENTERED);
                gate.leave();
            }
        }
    }

    @Test
    @DisplayName("H65: a process that has no thread to wait on at the gate waits all the same")
    void theGateIsWaitedForWithoutAThread() throws Exception {
        try (FileGate gate = new FileGate(file, threads)) {
            isShort = true;
            try (FileChild inside = FileChild.start("enter", file).says("ENTERED")) {
                CompletableFuture<FileGate.Entry> entering = CompletableFuture.supplyAsync(() -> gate.enter(LONG));
                await().atMost(60, SECONDS).until(() -> refused.get() > 0);
                inside.signal("KILL");
                assertThat(entering.get(60, SECONDS)).isEqualTo(FileGate.Entry.ENTERED);
                gate.leave();
            }
            assertThat(gate.enter(BRIEF)).isEqualTo(FileGate.Entry.ENTERED);
            gate.leave();
        }
    }

    @Test
    @DisplayName("H65: a poll that had no thread begins later")
    void aPollBeginsAfterAShortage() throws Exception {
        SqlOptions options = SqlOptions.defaults().tablePrefix(Db.freshPrefix()).operationTimeout(TIMEOUT);
        ConnectionSource source = new UserSource(new CountingSource(Db.MARIADB.url()));
        WakeUps.Maker maker = (connections, sql, incarnation) -> new Poll(connections, sql, incarnation, threads);
        try (SqlStore store = new SqlStore(source, options, null, () -> {}, maker);
                SqlStore other = new SqlStore(source, options, null, () -> {}, maker);
                Lockkeeper holder = Lockkeeper.on(other);
                Lockkeeper keeper = Lockkeeper.on(store)) {
            Poll poll = (Poll) store.wakeUps;
            isShort = true;
            Lease lease = holder.lock("x").acquire();
            CompletableFuture<Lease> waiting = keeper.lock("x").acquireAsync();
            await().until(() -> other.inspect("x").orElseThrow().waiters() == 1);
            await().until(() -> refused.get() >= 2);
            assertThat(poll.looks()).isZero();
            isShort = false;
            await().atMost(60, SECONDS).until(() -> poll.looks() > 0);
            assertThat(lease.release()).isTrue();
            waiting.get(60, SECONDS).close();
        }
    }

    @Test
    @DisplayName("H65: a file's sockets are there after a shortage")
    void socketsAreMadeAfterAShortage() throws Exception {
        Path sockets = Mailboxes.folderOf(file);
        FileSource source = new FileSource(file, TIMEOUT, false, "");
        SqlOptions options = SqlOptions.defaults().operationTimeout(TIMEOUT);
        isShort = true;
        try (SqlStore store = new SqlStore(
                        source,
                        options,
                        Dialect.SQLITE,
                        source,
                        (connections, sql, incarnation) ->
                                new FileWakeUps(connections, sql, incarnation, source, sockets, threads));
                Lockkeeper keeper = Lockkeeper.on(store);
                Lockkeeper holder = Lockkeeper.connect("file:" + file)) {
            assertThat(refused).hasPositiveValue();
            Lease lease = holder.lock("x").acquire();
            CompletableFuture<Lease> waiting = keeper.lock("x").acquireAsync();
            await().until(() -> store.inspect("x").orElseThrow().waiters() == 1);
            assertThat(sockets.toFile().list()).hasSizeLessThan(2);
            isShort = false;
            await().atMost(60, SECONDS).until(() -> sockets.toFile().list().length == 2);
            assertThat(lease.release()).isTrue();
            waiting.get(60, SECONDS).close();
        }
    }

    @Test
    @DisplayName("H65: a shielded step waits for a thread that is there")
    void aShieldedStepWaitsForTheThreadThatStays() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch end = new CountDownLatch(1);
        try (InterruptShield interruptShield = new InterruptShield(TIMEOUT.toMillis(), threads)) {
            isShort = true;
            assertThat(interruptShield.<String>call(() -> "alone")).isEqualTo("alone");
            CompletableFuture<String> first = CompletableFuture.supplyAsync(() -> interruptShield.call(() -> {
                begun.countDown();
                try {
                    end.await();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
                return "first";
            }));
            assertThat(begun.await(60, SECONDS)).isTrue();
            CompletableFuture<String> second =
                    CompletableFuture.supplyAsync(() -> interruptShield.call(() -> "second"));
            await().until(() -> refused.get() > 0);
            end.countDown();
            assertThat(first.get(60, SECONDS)).isEqualTo("first");
            assertThat(second.get(60, SECONDS)).isEqualTo("second");
        }
    }

    @Test
    @DisplayName("H65: no release fails because idle names cannot be forgotten now")
    void aPurgeWithoutAThreadIsLeftForLater() {
        isShort = true;
        try (SqlStore store = FileProvider.open(file, TIMEOUT, false)) {
            store.purge.begin(threads);
            assertThat(refused).hasValue(1);
        }
    }
}
