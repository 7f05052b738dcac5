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
import io.lockkeeper.sql.file.Mailboxes;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What people, other programs and the machine do to the file of a {@code file:} store, or to SQLite's. */
class FileHazardsTest {
    @TempDir
    Path folder;

    private static List<Path> files(Path folder, String suffix) throws IOException {
        try (Stream<Path> all = Files.list(folder)) {
            return all.filter(p -> p.getFileName().toString().endsWith(suffix)).toList();
        }
    }

    /** Makes files of locks and uses them, until it is killed. */
    static final class Child {
        public static void main(String[] arguments) throws Exception {
            Path folder = Path.of(arguments[0]);
            for (int i = 0; ; i++) {
                try (Lockkeeper fresh = Lockkeeper.connect("file:" + folder.resolve(i + "-" + arguments[1] + ".db"));
                        Lockkeeper common = Lockkeeper.connect("file:" + folder.resolve("common.db"))) {
                    LockOptions options = LockOptions.defaults().lease(Duration.ofSeconds(1));
                    for (int n = 0; n < 5; n++) {
                        fresh.lock("x").acquire().close();
                        Lease lease = common.lock("x", options).acquire();
                        common.readWriteLock("y", options).readLock().acquire();
                        if (n % 2 == 0) {
                            lease.close();
                        }
                        Files.writeString(folder.resolve("alive"), "yes");
                    }
                }
            }
        }
    }

    private static Process start(Path folder, int number) throws IOException {
        String classes = System.getProperty("java.class.path");
        String modules = System.getProperty("jdk.module.path", "");
        ProcessBuilder builder = new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx128m",
                "-XX:TieredStopAtLevel=1",
                Child.class.getName(),
                folder.toString(),
                String.valueOf(number));
        builder.environment().put("CLASSPATH", modules.isEmpty() ? classes : modules + File.pathSeparator + classes);
        return builder.redirectErrorStream(true)
                .redirectOutput(folder.resolve("log" + number).toFile())
                .start();
    }

    @Test
    void filesOutliveProcessesThatAreKilledAtAnyInstant() throws Exception {
        for (int round = 0; round < 4; round++) {
            Process one = start(folder, 2 * round);
            Process two = start(folder, 2 * round + 1);
            try {
                Path alive = folder.resolve("alive");
                await().atMost(60, SECONDS).until(() -> Files.exists(alive));
                long instant = System.nanoTime()
                        + ThreadLocalRandom.current()
                                .nextLong(Duration.ofMillis(700).toNanos());
                await().pollDelay(Duration.ZERO)
                        .pollInterval(Duration.ofMillis(1))
                        .until(() -> System.nanoTime() - instant >= 0);
                Files.delete(alive);
            } finally {
                one.destroyForcibly().waitFor();
                two.destroyForcibly().waitFor();
            }
        }
        List<Path> made = files(folder, ".db").stream()
                .filter(p -> !p.getFileName().toString().startsWith("."))
                .toList();
        assertThat(made).hasSizeGreaterThan(4);
        for (Path file : made) {
            try (Connection c = DriverManager.getConnection("jdbc:sqlite:" + file);
                    ResultSet row = c.createStatement().executeQuery("PRAGMA integrity_check")) {
                assertThat(row.getString(1)).isEqualTo("ok");
            }
            try (Lockkeeper keeper = Lockkeeper.connect("file:" + file)) {
                assertThat(keeper.lock("x").tryAcquire(Duration.ofSeconds(30)))
                        .as("free after the lease of the dead")
                        .isPresent();
                assertThat(keeper.readWriteLock("y").writeLock().tryAcquire(Duration.ofSeconds(30)))
                        .isPresent();
            }
        }
    }

    @Test
    void whatIsLeftOfAFileThatWasNeverReadyIsRemoved() throws Exception {
        Path file = folder.resolve("locks.db");
        Path old = Files.createFile(folder.resolve(".locks.db.00000000-0000-4000-8000-000000000000"));
        Path log = Files.createFile(folder.resolve(".locks.db.00000000-0000-4000-8000-000000000000-wal"));
        for (Path each : List.of(old, log)) {
            Files.setLastModifiedTime(each, FileTime.from(Instant.now().minus(Duration.ofDays(1))));
        }
        Path young = Files.createFile(folder.resolve(".locks.db.00000000-0000-4000-8000-000000000001"));
        Path other = Files.createFile(folder.resolve(".other.db"));
        Lockkeeper.connect("file:" + file).close();
        assertThat(old).doesNotExist();
        assertThat(log).doesNotExist();
        assertThat(young).as("somebody may be at it").exists();
        assertThat(other).exists();

        Path link = Files.createLink(folder.resolve(".locks.db.00000000-0000-4000-8000-000000000002"), file);
        try (Lockkeeper keeper = Lockkeeper.connect("file:" + file)) {
            assertThat(link).as("another name of the finished file").doesNotExist();
            keeper.lock("x").acquire().close();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"file:", "jdbc:sqlite:"})
    void aFileSystemThatCannotBeWrittenIsSaidClearly(String scheme) throws Exception {
        Path mounted = Files.createDirectory(folder.resolve("mounted"));
        assumeThat(run("mount", "-t", "tmpfs", "none", mounted.toString()))
                .as("needs the right to mount")
                .isZero();
        try {
            Path file = mounted.resolve("locks.db");
            try (Lockkeeper keeper = Lockkeeper.connect(scheme + file)) {
                keeper.lock("x").acquire().close();
            }
            assertThat(run("mount", "-o", "remount,ro", mounted.toString())).isZero();
            assertThatThrownBy(() -> Lockkeeper.connect(scheme + file).lock("x").tryAcquire())
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageMatching("(?s).*(not writable|readonly|read-only|unable to open).*");
            assertThatThrownBy(() -> Lockkeeper.connect(scheme + mounted.resolve("new.db")))
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining(scheme.equals("file:") ? "new.db" : "open");
        } finally {
            assertThat(run("umount", mounted.toString())).isZero();
        }
    }

    private static int run(String... command) throws Exception {
        try {
            return new ProcessBuilder(command).redirectErrorStream(true).start().waitFor();
        } catch (IOException e) {
            return -1; // there is no such command
        }
    }

    @Test
    void aFileSystemWithoutFilesIsSaidClearly() {
        assumeThat(Path.of("/proc/self")).exists();
        assertThatThrownBy(() -> Lockkeeper.connect("file:/proc/locks.db"))
                .isInstanceOf(StoreUnavailableException.class)
                .hasMessageContaining("/proc/locks.db cannot be created");
    }

    @Test
    void aFolderOfSocketsThatOthersCanWriteToIsClosedToThem() throws Exception {
        for (String mode : List.of("rwxrwxrwx", "rwx-w----")) {
            Path file = folder.resolve(mode + ".db");
            Path sockets = folder.resolve(mode + ".db.wake");
            Files.setPosixFilePermissions(Files.createDirectory(sockets), PosixFilePermissions.fromString(mode));
            try (Lockkeeper keeper = Lockkeeper.connect("file:" + file);
                    Lease lease = keeper.lock("x").acquire()) {
                await().until(() -> files(sockets, "").size() == 1);
                assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(sockets)))
                        .isEqualTo("rwx------");
                assertThat(lease.isValid()).isTrue();
            }
        }
    }

    @Test
    void aFolderOfSocketsThatIsALinkIsNotUsed() throws Exception {
        Path file = folder.resolve("locks.db");
        Path elsewhere = Files.createDirectory(folder.resolve("elsewhere"));
        Path sockets = Files.createSymbolicLink(folder.resolve("locks.db.wake"), elsewhere);
        try (Lockkeeper one = Lockkeeper.connect("file:" + file);
                Lockkeeper two = Lockkeeper.connect("file:" + file)) {
            assertThat(Mailboxes.isSafe(sockets)).isFalse();
            Lease held = one.lock("x").acquire();
            CompletableFuture<Lease> waiting = two.lock("x").acquireAsync();
            await().until(() -> one.inspector().inspect("x").orElseThrow().waiters() == 1);
            held.close();
            waiting.get(30, SECONDS).close(); // by the poll
            assertThat(files(elsewhere, "")).isEmpty();
        }
    }

    @Test
    void aSocketThatWasTidiedAwayIsMadeAgain() throws Exception {
        Path file = folder.resolve("locks.db");
        Path sockets = folder.resolve("locks.db.wake");
        try (Lockkeeper keeper = Lockkeeper.connect("file:" + file);
                Lease lease = keeper.lock("x").acquire()) {
            await().until(() -> Files.exists(sockets) && files(sockets, "").size() == 1);
            Path socket = files(sockets, "").get(0);
            Files.delete(socket);
            await().atMost(30, SECONDS).until(() -> Files.exists(socket));
            assertThat(lease.isValid()).isTrue();
        }
    }
}
