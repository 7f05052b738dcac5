// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.lockkeeper.Lease;
import io.lockkeeper.LeaseLost;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.tck.Tier;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** SQLite's files are removed or replaced while they are in use. */
class FileDisplacedTest {
    @TempDir
    Path folder;

    private Path file;

    @BeforeEach
    void makeTheFolder() throws Exception {
        file = Files.createDirectory(folder.resolve("locks")).resolve("locks.db");
    }

    private Path beside(String suffix) {
        return file.resolveSibling("locks.db" + suffix);
    }

    private Lockkeeper connect() {
        return Lockkeeper.builder("file:" + file)
                .operationTimeout(Duration.ofSeconds(10))
                .build();
    }

    private static Lease hold(Lockkeeper keeper, CompletableFuture<LeaseLost> loss) throws InterruptedException {
        // No renewal would notice it for minutes.
        return keeper.lock("x", LockOptions.defaults().lease(Duration.ofHours(1)))
                .acquire()
                .onLost(loss::complete);
    }

    private void displace(String what) throws IOException {
        switch (what) {
            case "the file" -> Files.delete(file);
            case "the file by another one" -> {
                Path other = folder.resolve("other.db");
                Lockkeeper.connect("file:" + other).close();
                Files.move(other, file, StandardCopyOption.REPLACE_EXISTING);
            }
            case "the log" -> Files.delete(beside("-wal"));
            case "the memory" -> Files.delete(beside("-shm"));
            case "log and memory" -> {
                Files.delete(beside("-wal"));
                Files.delete(beside("-shm"));
            }
            default -> {
                Files.delete(file);
                Files.delete(beside("-wal"));
                Files.delete(beside("-shm"));
            }
        }
    }

    @Test
    void aLinkThatIsSwitchedIsNoticedToo() throws Exception {
        Path[] versions = {Files.createDirectory(folder.resolve("v1")), Files.createDirectory(folder.resolve("v2"))};
        Path current = Files.createSymbolicLink(folder.resolve("current"), versions[0]);
        file = current.resolve("locks.db");
        CompletableFuture<LeaseLost> loss = new CompletableFuture<>();
        try (Lockkeeper before = connect()) {
            Lease lease = hold(before, loss);
            Path next = Files.createSymbolicLink(folder.resolve("next"), versions[1]);
            Files.move(next, current, StandardCopyOption.ATOMIC_MOVE);
            assertThat(loss.get(30, SECONDS).reason()).isEqualTo(LeaseLost.Reason.SESSION_LOST);
            assertThat(lease.isValid()).isFalse();
            assertThatThrownBy(() -> before.lock("y").tryAcquire())
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining(current + "/locks.db leads to another file");
            try (Lockkeeper after = connect()) {
                after.lock("x").acquire().close();
            }
        }
    }

    static Stream<String> whatIsDisplaced() {
        Stream<String> some = Stream.of("the file by another one", "log and memory", "all");
        return Tier.current() == Tier.CHECK
                ? some
                : Stream.concat(some, Stream.of("the file", "the log", "the memory"));
    }

    @ParameterizedTest
    @MethodSource("whatIsDisplaced")
    void whatWasHeldIsReportedAsLostAndTheFileIsOpenedAgain(String what) throws Exception {
        CompletableFuture<LeaseLost> loss = new CompletableFuture<>();
        try (Lockkeeper keeper = connect()) {
            Lease lease = hold(keeper, loss);
            displace(what);
            try (FileChild other = FileChild.start("hold", file)) {
                assertThat(loss.get(30, SECONDS).reason()).isEqualTo(LeaseLost.Reason.SESSION_LOST);
                assertThat(lease.isValid()).isFalse();
                // Where only the log is gone the lock may stand in the file itself, until its lease ends or it is
                // broken.
                await().atMost(120, SECONDS)
                        .ignoreExceptions()
                        .until(() -> other.said().contains("held")
                                || keeper.inspector().breakHoldNow("x", lease.token(), Duration.ZERO));
                other.says("held");
                other.tell("valid: ");
                other.says("valid: true");
                assertThat(keeper.lock("x").tryAcquire())
                        .as("there is one file again")
                        .isEmpty();
                other.tell("release");
                other.says("released true");
                try (Lease again =
                        keeper.lock("x").tryAcquire(Duration.ofSeconds(30)).orElseThrow()) {
                    assertThat(again.token()).isGreaterThan(lease.token());
                }
            }
        }
    }

    @Test
    void storesOfOneProcessMoveToTheNewFileTogether() throws Exception {
        CompletableFuture<LeaseLost> one = new CompletableFuture<>();
        CompletableFuture<LeaseLost> two = new CompletableFuture<>();
        try (Lockkeeper first = connect();
                Lockkeeper second = connect();
                Lease lease = first.lock("y").acquire()) {
            hold(first, one);
            second.lock("z").acquire().onLost(two::complete);
            displace("all");
            assertThat(one.get(30, SECONDS).reason()).isEqualTo(LeaseLost.Reason.SESSION_LOST);
            assertThat(two.get(30, SECONDS).reason()).isEqualTo(LeaseLost.Reason.SESSION_LOST);
            Lease again = second.lock("x").acquire();
            assertThat(first.lock("x").tryAcquire()).isEmpty();
            again.close();
            lease.release();
        }
    }

    @Test
    void aWaiterQueuesAgainInTheNewFile() throws Exception {
        try (Lockkeeper one = connect();
                Lockkeeper two = connect()) {
            hold(one, new CompletableFuture<>());
            CompletableFuture<Lease> waiting = two.lock("x").acquireAsync();
            await().until(() -> one.inspector().inspect("x").orElseThrow().waiters() == 1);
            displace("all");
            waiting.get(30, SECONDS).close();
        }
    }

    /** Somebody worked with the file after its log was taken away: our log and the file belong to two histories. */
    @Test
    void aFileThatWasWrittenToWithoutItsLogIsPutAside() throws Exception {
        CompletableFuture<LeaseLost> loss = new CompletableFuture<>();
        try (Lockkeeper keeper = connect()) {
            Lease lease = hold(keeper, loss);
            displace("log and memory");
            // To open the file here, and to close it again, would release SQLite's own locks.
            Files.setLastModifiedTime(file, FileTime.from(Instant.now().plusSeconds(1)));
            assertThat(loss.get(30, SECONDS).reason()).isEqualTo(LeaseLost.Reason.SESSION_LOST);
            assertThat(lease.isValid()).isFalse();
            try (Lease again =
                    keeper.lock("x").tryAcquire(Duration.ofSeconds(30)).orElseThrow()) {
                assertThat(again.token()).isGreaterThan(lease.token());
            }
            assertThat(file.getParent().toFile().list((d, name) -> name.startsWith("locks.db.damaged-")))
                    .hasSize(1);
        }
    }
}
