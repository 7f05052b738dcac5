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
import io.lockkeeper.sql.file.FileSetup;
import io.lockkeeper.sql.file.Mailboxes;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a {@code file:} store does beyond the rules of all stores. */
class FileStoreTest {
    @TempDir
    Path folder;

    private Lockkeeper connect(Path file) {
        return Lockkeeper.connect("file:" + file);
    }

    private static List<String> names(Path folder) throws IOException {
        try (Stream<Path> all = Files.list(folder)) {
            return all.map(p -> p.getFileName().toString()).sorted().toList();
        }
    }

    private static String mode(Path path) throws IOException {
        return PosixFilePermissions.toString(Files.getPosixFilePermissions(path));
    }

    @Test
    void makesTheFileAndItsFoldersForTheUserAlone() throws Exception {
        Path file = folder.resolve("a/b/locks.db");
        try (Lockkeeper keeper = connect(file);
                Lease lease = keeper.lock("x").acquire()) {
            assertThat(lease.token()).isPositive();
            assertThat(mode(file)).isEqualTo("rw-------");
            assertThat(mode(file.resolveSibling("locks.db-wal"))).isEqualTo("rw-------");
            assertThat(mode(folder.resolve("a"))).isEqualTo("rwx------");
            assertThat(mode(folder.resolve("a/b"))).isEqualTo("rwx------");
            await().until(() -> Files.exists(folder.resolve("a/b/locks.db.wake")));
            assertThat(mode(folder.resolve("a/b/locks.db.wake"))).isEqualTo("rwx------");
        }
        assertThat(names(folder.resolve("a/b"))).doesNotContain(".locks.db").contains("locks.db");
    }

    @Test
    void manyThatMakeTheFileAtOnceShareOne() throws Exception {
        int many = 12;
        Path file = folder.resolve("locks.db");
        CyclicBarrier start = new CyclicBarrier(many);
        ExecutorService threads = Executors.newFixedThreadPool(many);
        try {
            List<Future<String>> ids = new ArrayList<>();
            for (int i = 0; i < many; i++) {
                ids.add(threads.submit(() -> {
                    start.await();
                    try (SqlStore store = FileProvider.open(file, Duration.ofSeconds(5), false)) {
                        return store.id();
                    }
                }));
            }
            for (Future<String> id : ids) {
                assertThat(id.get(30, SECONDS)).isEqualTo(ids.get(0).get(30, SECONDS));
            }
        } finally {
            threads.shutdownNow();
        }
        assertThat(names(folder)).noneMatch(name -> name.startsWith("."));
    }

    @Test
    void waitersWakeWithoutWaitingForThePoll() throws Exception {
        Path file = folder.resolve("locks.db");
        List<Long> micros = new ArrayList<>();
        try (Lockkeeper one = connect(file);
                Lockkeeper two = connect(file)) {
            for (int i = 0; i < 21; i++) {
                Lease held = one.lock("x").acquire();
                CompletableFuture<Long> woken = two.lock("x").acquireAsync().thenApply(lease -> {
                    long at = System.nanoTime();
                    lease.release();
                    return at;
                });
                await().until(() -> one.inspector().inspect("x").orElseThrow().waiters() == 1);
                await().until(() -> names(folder.resolve("locks.db.wake")).size() == 2);
                long released = System.nanoTime();
                held.close();
                micros.add((woken.get(10, SECONDS) - released) / 1_000);
            }
        }
        Collections.sort(micros);
        // The poll rests for 200 ms at least, so that half of the waiters would need 100 ms and more.
        assertThat(micros.get(10)).as("median of %s µs", micros).isLessThan(50_000);
        System.out.println("file: hand-over between two stores, median " + micros.get(10) + " µs");
    }

    @Test
    void aBreakReachesTheHolderAtOnce() throws Exception {
        Path file = folder.resolve("locks.db");
        CompletableFuture<LeaseLost> loss = new CompletableFuture<>();
        try (Lockkeeper one = connect(file);
                Lockkeeper two = connect(file)) {
            Lease lease = one.lock("x", LockOptions.defaults().lease(Duration.ofHours(1)))
                    .acquire()
                    .onLost(loss::complete);
            await().until(() -> !names(folder).contains("locks.db.wake")
                    ? false
                    : names(folder.resolve("locks.db.wake")).size() == 2);
            assertThat(two.inspector().breakHold("x", lease.token(), Duration.ZERO))
                    .isTrue();
            assertThat(loss.get(5, SECONDS).reason()).isEqualTo(LeaseLost.Reason.BROKEN);
        }
    }

    private Path socketsOfAFile() throws IOException {
        Files.createFile(
                folder.resolve("locks.db"),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        return Files.createDirectory(
                folder.resolve("locks.db.wake"),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    }

    @Test
    void anInterruptedThreadSendsAllTheSame() throws Exception {
        Path sockets = socketsOfAFile();
        try (ServerSocketChannel box = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            box.bind(UnixDomainSocketAddress.of(sockets.resolve("client")));
            Thread.currentThread().interrupt();
            Mailboxes.send(sockets, "client", "R client.1");
            assertThat(Thread.interrupted()).isTrue();
            try (SocketChannel letter = box.accept()) {
                ByteBuffer bytes = ByteBuffer.allocate(100);
                assertThat(letter.read(bytes)).isEqualTo("R client.1".length());
            }
        }
    }

    @Test
    void socketsOfTheDeadAreRemoved() throws Exception {
        Path file = folder.resolve("locks.db");
        connect(file).close();
        Path sockets = folder.resolve("locks.db.wake");
        Files.createDirectories(
                sockets, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        Path dead = sockets.resolve("dead");
        try (ServerSocketChannel box = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            box.bind(UnixDomainSocketAddress.of(dead));
        }
        Files.setLastModifiedTime(dead, FileTime.from(Instant.now().minus(Duration.ofDays(1))));
        try (Lockkeeper keeper = connect(file);
                Lease lease = keeper.lock("x").acquire()) {
            await().until(() -> !Files.exists(dead) && names(sockets).size() == 1);
            assertThat(lease.isValid()).isTrue();
        }
        await().until(() -> names(sockets).isEmpty());
        try (ServerSocketChannel box = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            box.bind(UnixDomainSocketAddress.of(dead));
        }
        Mailboxes.send(sockets, "dead", "R dead.1");
        assertThat(dead).doesNotExist();
        Mailboxes.send(sockets, "never", "R never.1");
    }

    @Test
    void aPathTooLongForSocketsIsPolled() throws Exception {
        Path file = folder.resolve("long".repeat(30)).resolve("locks.db");
        try (Lockkeeper one = connect(file);
                Lockkeeper two = connect(file)) {
            Lease held = one.lock("x").acquire();
            CompletableFuture<Lease> waiting = two.lock("x").acquireAsync();
            await().until(() -> one.inspector().inspect("x").orElseThrow().waiters() == 1);
            held.close();
            waiting.get(5, SECONDS).close();
        }
    }

    @Test
    void whatCannotBeAFileIsSaidClearly() throws Exception {
        Path plain = Files.createFile(folder.resolve("plain"));
        assertThatThrownBy(() -> connect(plain.resolve("locks.db")))
                .isInstanceOf(StoreUnavailableException.class)
                .hasMessageContaining("cannot be created")
                .hasMessageContaining("plain");
        assertThatThrownBy(() -> connect(folder))
                .isInstanceOf(StoreUnavailableException.class)
                .hasMessageContaining("is not a regular file");
        Path text =
                Files.writeString(folder.resolve("text"), "this is no database, but long enough to be one".repeat(30));
        assertThatThrownBy(() -> connect(text))
                .isInstanceOf(StoreUnavailableException.class)
                .hasMessageContaining("text");
        assertThatThrownBy(() -> Lockkeeper.connect("file:"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("file:PATH");
        assertThatThrownBy(() -> Lockkeeper.connect("file:" + folder + "/x?sync=no"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("durability");
        assertThatThrownBy(() -> Lockkeeper.connect("file:" + folder + "/x?durability=no"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("full and relaxed");
    }

    @Test
    void networkFileSystemsAreKnown() {
        assertThat(FileSetup.networkType("nfs4")).isEqualTo("nfs4");
        assertThat(FileSetup.networkType("fuse.sshfs")).isEqualTo("fuse.sshfs");
        assertThat(FileSetup.networkType("CIFS")).isEqualTo("CIFS");
        assertThat(FileSetup.networkType("ext4")).isNull();
        assertThat(FileSetup.networkType("overlay")).isNull();
        assertThat(FileSetup.networkType("tmpfs")).isNull();
        assertThat(FileSetup.networkType("apfs")).isNull();
    }

    @Test
    void pathsMayBeWrittenInSeveralWays() throws Exception {
        String variable = System.getenv("HOME");
        String home = variable != null ? variable : System.getProperty("user.home");
        assertThat(FileProvider.path("/a/b")).hasToString("/a/b");
        assertThat(FileProvider.path("///a/b")).hasToString("/a/b");
        assertThat(FileProvider.path("~/b")).isEqualTo(Path.of(home, "b"));
        assertThat(FileProvider.path("b/../c")).isEqualTo(Path.of("c").toAbsolutePath());
        assertThatThrownBy(() -> FileProvider.path("//host/b")).isInstanceOf(IllegalArgumentException.class);
        assertThat(FileProvider.path("/a/my locks+%25.db")).hasToString("/a/my locks+%.db");
        assertThatThrownBy(() -> FileProvider.path("/a/100%.db"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("%25");
        Path blank = folder.resolve("my locks.db");
        assertThat(FileProvider.path(blank.toUri().toString().substring("file:".length())))
                .isEqualTo(blank.toAbsolutePath());
        Files.createFile(folder.resolve("my%20locks.db"));
        assertThatThrownBy(() -> FileProvider.path(folder + "/my%20locks.db"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("a file of just that name");
    }

    @Test
    void aFileWithTwoNamesIsRefused() throws Exception {
        Path file = folder.resolve("one.db");
        Path link = folder.resolve("other.db");
        try (Lockkeeper keeper = Lockkeeper.connect("file:" + file)) {
            assertThat(keeper.lock("x").tryAcquire()).isPresent();
            Files.createLink(link, file);
            for (Path each : List.of(file, link)) {
                assertThatThrownBy(() -> Lockkeeper.connect("file:" + each))
                        .isInstanceOf(StoreUnavailableException.class)
                        .hasMessageContaining("hard links");
            }
            Files.delete(link);
            try (Lockkeeper other = Lockkeeper.connect("file:" + file)) {
                assertThat(other.lock("x").tryAcquire()).isEmpty();
            }
        }
    }

    @Test
    void everyStepPassesOnWhetherTheDiskIsWaitedForOrNot() throws Exception {
        try (Lockkeeper keeper = Lockkeeper.connect("file:" + folder.resolve("relaxed.db") + "?durability=relaxed")) {
            long first;
            try (Lease lease = keeper.lock("x").acquire()) {
                first = lease.token();
            }
            try (Lease lease = keeper.lock("x").acquire()) {
                assertThat(lease.token()).isGreaterThan(first);
            }
        }
    }
}
