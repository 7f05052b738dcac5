// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.Lease;
import io.lockkeeper.LeaseLost.Reason;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.Mode;
import io.lockkeeper.model.Signal;
import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.ClaimId;
import io.lockkeeper.spi.Renewals;
import io.lockkeeper.spi.StoreTime;
import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Everybody who may use the file may write to the sockets beside it: what they say is not believed, and nothing ends the listening. */
class FileHintsTest {
    private static final Duration WHILE = Duration.ofMillis(700);
    private static final LockOptions HOUR = LockOptions.defaults().lease(Duration.ofHours(1));

    /** Hand-overs of which one at least is learned from a message, before the poll finds it. */
    private static final int TRIES = 20;

    @TempDir
    Path folder;

    private Path file;
    private Path sockets;

    @BeforeEach
    void name() {
        file = folder.resolve("locks.db");
        sockets = folder.resolve("locks.db.wake");
    }

    private SqlStore open() {
        return FileProvider.open(file, Duration.ofSeconds(5), false);
    }

    private static Lockkeeper keeper(SqlStore store) {
        return Lockkeeper.builder(store)
                .operationTimeout(Duration.ofSeconds(20))
                .build();
    }

    private String read(String query) throws Exception {
        try (Connection c = DriverManager.getConnection("jdbc:sqlite:" + file);
                Statement s = c.createStatement();
                ResultSet row = s.executeQuery(query)) {
            assertThat(row.next()).isTrue();
            return row.getString(1);
        }
    }

    private SocketChannel connect(String client) throws Exception {
        Path socket = sockets.resolve(client);
        Spi.await("it listens", () -> Files.exists(socket));
        return SocketChannel.open(UnixDomainSocketAddress.of(socket));
    }

    /** What is not taken any more is left out. */
    private void send(String client, byte[] message) throws Exception {
        try (SocketChannel channel = connect(client)) {
            ByteBuffer bytes = ByteBuffer.wrap(message);
            while (bytes.hasRemaining()) {
                channel.write(bytes);
            }
        } catch (IOException e) {
            assertThat(e).as("it has closed the connection").hasMessageMatching("Broken pipe|Connection reset.*");
        }
    }

    private void send(Signal signal) throws Exception {
        send(signal.client(), SignalText.write(signal).getBytes(UTF_8));
    }

    private static Signal grant(ClaimId claim, SqlStore store) {
        StoreTime now = store.time(store);
        return new Signal.Granted(claim, new Answer.Granted(Long.MAX_VALUE, 64, Duration.ofHours(1), true, now));
    }

    /** H74 */
    @Test
    void aForgedGrantIsNoGrant() throws Exception {
        try (SqlStore a = open();
                SqlStore b = open();
                Lockkeeper holder = keeper(a);
                Lockkeeper waiter = keeper(b)) {
            Lease held = holder.lock("a", HOUR).acquire();
            CompletableFuture<Lease> waiting = waiter.lock("a", HOUR).acquireAsync();
            Spi.await("it waits", () -> a.inspect("a").orElseThrow().waiters() == 1);
            send(grant(ClaimId.parse(read("SELECT claim FROM lockkeeper_claim")), a));
            Spi.during(WHILE, () -> {
                assertThat(waiting).isNotDone();
                assertThat(held.isValid()).isTrue();
            });
            assertThat(held.release()).isTrue();
            try (Lease next = waiting.get(30, TimeUnit.SECONDS)) {
                assertThat(next.token()).isLessThan(Long.MAX_VALUE);
                assertThat(next.isValid()).isTrue();
            }
        }
    }

    /** H74 */
    @Test
    void aForgedLossOrRecallEndsNoHold() throws Exception {
        try (SqlStore a = open();
                Lockkeeper holder = keeper(a);
                Lease held = holder.lock("a", HOUR).acquire()) {
            ClaimId claim = ClaimId.parse(read("SELECT claim FROM lockkeeper_lock"));
            send(new Signal.Lost(claim, Reason.EXPIRED));
            send(new Signal.Lost(claim, Reason.BROKEN));
            send(new Signal.Recalled(claim));
            Spi.during(WHILE, () -> assertThat(held.isValid()).isTrue());
        }
    }

    @Test
    void aRealRecallIsNoticed() throws Exception {
        try (SqlStore a = open();
                SqlStore b = open();
                Lockkeeper holder = keeper(a)) {
            Lease held = holder.lock("a", HOUR).acquire();
            assertThat(b.breakHold("a", held.token(), Duration.ZERO, false)).isTrue();
            Spi.await("it is notified", () -> !held.isValid());
            Lease other = holder.lock("b", HOUR).acquire();
            assertThat(b.breakHold("b", other.token(), Duration.ZERO, true)).isTrue();
            Spi.await("it is notified", () -> !other.isValid());
        }
    }

    private static List<byte[]> garbage(String claim) {
        List<byte[]> all = new ArrayList<>();
        for (String text : List.of(
                " ",
                "G",
                "G " + claim,
                "G nobody 1 1 1 1 1 1",
                "G " + claim + " 1 1 " + Long.MAX_VALUE + "0 1 1 1",
                "L " + claim + " TIRED",
                "R",
                "R " + new ClaimId("somebody-else", 1),
                "O %",
                "O %zz",
                "\0",
                "Z something of a newer version")) {
            all.add(text.getBytes(UTF_8));
        }
        all.add(new byte[] {(byte) 0xff, (byte) 0xfe, ' ', (byte) 0xc0});
        // What fits would be understood.
        all.add(("L " + claim + " BROKEN " + "x".repeat(1 << 20)).getBytes(UTF_8));
        Random random = new Random(42);
        for (int i = 0; i < 300; i++) {
            byte[] bytes = new byte[random.nextInt(60)];
            random.nextBytes(bytes);
            all.add(bytes);
        }
        return all;
    }

    /** H75 */
    @Test
    void nothingThatArrivesEndsTheListening() throws Exception {
        try (SqlStore a = open();
                SqlStore b = open();
                LogTap log = new LogTap()) {
            Tap tap = new Tap();
            Claim claim = Spi.claim(b, "a", Mode.EXCLUSIVE);
            b.listen(claim.id().client(), tap);
            for (byte[] message : garbage(claim.id().toString())) {
                send(claim.id().client(), message);
            }
            Spi.await("it counts as missed", () -> tap.missed.get() > 0);
            assertThat(tap.others).isEmpty();
            assertThatMessagesAreHeard(a, b);
            assertThat(log.warnings("not understood")).hasSize(1);
        }
    }

    @Test
    void connectionsThatSaySomethingLateOrNeverAreClosed() throws Exception {
        List<SocketChannel> all = new ArrayList<>();
        try (SqlStore a = open();
                SqlStore b = open();
                LogTap log = new LogTap()) {
            Tap tap = new Tap();
            Claim claim = Spi.claim(b, "a", Mode.EXCLUSIVE);
            b.listen(claim.id().client(), tap);
            for (int i = 0; i < 1_000; i++) {
                SocketChannel channel = connect(claim.id().client());
                all.add(channel);
                if (i % 2 == 0) {
                    channel.write(ByteBuffer.wrap("R".getBytes(UTF_8)));
                }
            }
            assertThatMessagesAreHeard(a, b);
            for (SocketChannel channel : all) {
                channel.configureBlocking(false);
            }
            Spi.await("the other end is closed", () -> all.stream().allMatch(FileHintsTest::isEnded));
            assertThat(tap.others).isEmpty();
            assertThat(log.warnings("not understood")).hasSize(1);
        } finally {
            for (SocketChannel channel : all) {
                channel.close();
            }
        }
    }

    private static boolean isEnded(SocketChannel channel) {
        try {
            return channel.read(ByteBuffer.allocate(1)) < 0;
        } catch (IOException e) {
            return true;
        }
    }

    /** By a separate client, without a look of the poll. */
    private static void assertThatMessagesAreHeard(SqlStore a, SqlStore b) throws Exception {
        Poll poll = (Poll) b.wakeUps;
        boolean isHeard = false;
        for (int i = 0; i < TRIES && !isHeard; i++) {
            Renewals.Hold held = Spi.hold(a, "heard" + i, Mode.EXCLUSIVE, Spi.LEASE);
            Claim claim = Spi.claim(b, "heard" + i, Mode.EXCLUSIVE);
            Tap tap = new Tap();
            b.listen(claim.id().client(), tap);
            assertThat(b.claim(claim)).isInstanceOf(Answer.Queued.class);
            long looks = poll.looks();
            assertThat(a.release(held.grant())).isTrue();
            Spi.await("the grant is noticed", () -> tap.granted.containsKey(claim.id()));
            isHeard = poll.looks() == looks;
        }
        assertThat(isHeard).as("a message was heard").isTrue();
    }
}
