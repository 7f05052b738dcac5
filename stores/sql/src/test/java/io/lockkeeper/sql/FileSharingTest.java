// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

import io.lockkeeper.Lease;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.sql.file.FileGate;
import io.lockkeeper.sql.file.Mailboxes;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.GroupPrincipal;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserPrincipal;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Files that several users share, and files that somebody else has made. */
class FileSharingTest {
    @TempDir
    Path folder;

    private Path file;
    private Path sockets;

    @BeforeEach
    void makeTheFolder() throws Exception {
        Path own = Files.createDirectory(folder.resolve("locks"));
        file = own.resolve("locks.db");
        sockets = own.resolve("locks.db.wake");
    }

    private Lockkeeper connect() {
        return Lockkeeper.connect("file:" + file);
    }

    private static void chmod(Path path, String mode) throws IOException {
        Files.setPosixFilePermissions(path, PosixFilePermissions.fromString(mode));
    }

    private static String mode(Path path) throws IOException {
        return PosixFilePermissions.toString(Files.getPosixFilePermissions(path));
    }

    private static List<Path> files(Path folder) throws IOException {
        try (Stream<Path> all = Files.list(folder)) {
            return all.filter(p -> !p.getFileName().toString().startsWith(".")).toList();
        }
    }

    private static boolean hasOneSocket(Path sockets) throws IOException {
        return Files.exists(sockets) && files(sockets).size() == 1;
    }

    @ParameterizedTest
    @ValueSource(strings = {"rw-rw----", "rw-rw-rw-"})
    void socketsAreAsSharedAsTheFile(String mode) throws Exception {
        connect().close();
        chmod(file, mode);
        try (Lockkeeper keeper = connect();
                Lease lease = keeper.lock("x").acquire()) {
            await().until(() -> hasOneSocket(sockets));
            Path socket = files(sockets).get(0);
            assertThat(mode(socket)).isEqualTo(mode);
            assertThat(mode(sockets)).isEqualTo(mode.replace("rw-", "rwx"));
            assertThat(mode(FileGate.of(file))).isEqualTo(mode);
            assertThat(Mailboxes.isSafe(sockets)).isTrue();

            chmod(file, "rw-------");
            await().atMost(30, TimeUnit.SECONDS).until(() -> mode(socket).equals("rw-------"));
            assertThat(mode(sockets)).isEqualTo("rwx------");
            assertThat(lease.isValid()).isTrue();
        }
    }

    @Test
    void socketsBelongToTheGroupOfTheFile() throws Exception {
        connect().close();
        GroupPrincipal group = otherGroup();
        Files.getFileAttributeView(file, PosixFileAttributeView.class).setGroup(group);
        chmod(file, "rw-rw----");
        try (Lockkeeper keeper = connect();
                Lease lease = keeper.lock("x").acquire()) {
            await().until(() -> hasOneSocket(sockets));
            for (Path each : List.of(sockets, files(sockets).get(0), FileGate.of(file))) {
                assertThat(Files.readAttributes(each, PosixFileAttributes.class).group())
                        .isEqualTo(group);
            }
            assertThat(lease.isValid()).isTrue();
        }
    }

    @Test
    void aProcessThatHadNoDescriptorsForAWhileListensAgain() throws Exception {
        connect().close();
        List<String> limited = List.of("/bin/sh", "-c", "ulimit -n 200; exec \"$@\"", "sh");
        try (FileChild child = FileChild.start(limited, "full", file).says("listens")) {
            await().until(() -> hasOneSocket(sockets));
            Path socket = files(sockets).get(0);
            assertThat(isHeard(socket)).isTrue();
            child.tell("");
            child.says("full");
            try (SocketChannel letter = send(socket)) {
                child.tell("");
                child.says("free");
                await().atMost(30, TimeUnit.SECONDS).until(() -> isRead(letter));
            }
            assertThat(isHeard(socket)).isTrue();
        }
    }

    private static SocketChannel send(Path socket) throws IOException {
        SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX);
        channel.connect(UnixDomainSocketAddress.of(socket));
        channel.configureBlocking(false);
        channel.write(ByteBuffer.wrap(new byte[4096])); // as long as a message may be, so that it is closed at once
        return channel;
    }

    /** Whether the other end has closed it, as it does with what it has read. */
    private static boolean isRead(SocketChannel letter) {
        try {
            return letter.read(ByteBuffer.allocate(1)) < 0;
        } catch (IOException e) {
            return true; // reset
        }
    }

    private static boolean isHeard(Path socket) throws IOException {
        try (SocketChannel letter = send(socket)) {
            await().atMost(30, TimeUnit.SECONDS).until(() -> isRead(letter));
            return true;
        }
    }

    // ---- Strangers ----

    private static UserPrincipal stranger() throws IOException {
        return Path.of("/").getFileSystem().getUserPrincipalLookupService().lookupPrincipalByName("nobody");
    }

    private static GroupPrincipal otherGroup() throws IOException {
        return Path.of("/").getFileSystem().getUserPrincipalLookupService().lookupPrincipalByGroupName("daemon");
    }

    private static void giveAway(Path path) {
        boolean given;
        try {
            Files.setOwner(path, stranger());
            given = true;
        } catch (IOException e) {
            given = false;
        }
        assumeThat(given).as("needs the right to give files away").isTrue();
    }

    private Path publicFolder() throws Exception {
        Path open = Files.createDirectory(folder.resolve("open"));
        assertThat(new ProcessBuilder("chmod", "1777", open.toString()).start().waitFor())
                .isZero();
        return open;
    }

    @Test
    void aFileThatAStrangerHasMadeIsRefused() throws Exception {
        Path planted = publicFolder().resolve("locks.db");
        Lockkeeper.connect("file:" + planted).close(); // our own file is fine
        chmod(planted, "rw-rw-rw-");
        giveAway(planted);
        assertThatThrownBy(() -> Lockkeeper.connect("file:" + planted))
                .isInstanceOf(StoreUnavailableException.class)
                .hasMessageContaining(planted + " belongs to nobody")
                .hasMessageContaining("add owner=nobody")
                .hasMessageContaining("owner=any")
                .extracting(e -> ((StoreUnavailableException) e).worthRepeating())
                .isEqualTo(false);
        for (String trusted : List.of("nobody", "any")) {
            try (Lockkeeper keeper = Lockkeeper.connect("file:" + planted + "?owner=" + trusted)) {
                keeper.lock("x").acquire().close();
            }
        }
        assertThatThrownBy(() -> Lockkeeper.connect("file:" + planted + "?owner=daemon"))
                .hasMessageContaining("belongs to nobody");
    }

    @Test
    void aFolderOrALogThatAStrangerHasMadeIsRefused() throws Exception {
        Path open = publicFolder();
        Path planted = Files.createDirectory(open.resolve("app"));
        chmod(planted, "rwxrwxrwx");
        giveAway(planted);
        assertThatThrownBy(() -> Lockkeeper.connect("file:" + planted.resolve("locks.db")))
                .hasMessageContaining(planted + " belongs to nobody");

        Path own = open.resolve("own.db");
        Lockkeeper.connect("file:" + own).close();
        Path log = Files.createFile(open.resolve("own.db-wal"));
        giveAway(log);
        assertThatThrownBy(() -> Lockkeeper.connect("file:" + own)).hasMessageContaining(log + " belongs to nobody");

        Path link = Files.createSymbolicLink(open.resolve("link.db"), file);
        Lockkeeper.connect("file:" + file).close();
        Lockkeeper.connect("file:" + link).close(); // our own link
        assumeThat(new ProcessBuilder("chown", "-h", "nobody", link.toString())
                        .start()
                        .waitFor())
                .isZero();
        assertThatThrownBy(() -> Lockkeeper.connect("file:" + link)).hasMessageContaining(link + " belongs to nobody");
    }

    @Test
    void inAFolderThatOnlyTrustedUsersWriteToFilesMayBelongToAnyOfThem() throws Exception {
        connect().close();
        giveAway(file);
        try (Lockkeeper keeper = connect()) {
            keeper.lock("x").acquire().close();
        }
    }
}
