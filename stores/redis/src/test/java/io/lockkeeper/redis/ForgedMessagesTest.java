// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.Lease;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.redis.server.Reply;
import io.lockkeeper.testservers.RedisServer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.Connection;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Protocol;

/** Messages that no script sent. The forger may subscribe, publish and read, and nothing else. */
class ForgedMessagesTest {
    /** Nobody asks for anything by himself for as long as this test lasts. */
    private static final LockOptions HOUR = LockOptions.defaults().lease(Duration.ofHours(1));

    private static RedisServer server;
    private static Admin admin;

    @BeforeAll
    static void start() {
        server = RedisServer.start();
        admin = new Admin(server);
        admin.ask(
                "ACL", "SETUSER", "forger", "on", ">forged", "~*", "&*", "+subscribe", "+publish", "+pubsub", "+@read");
    }

    @AfterAll
    static void end() {
        server.close();
    }

    private static Lockkeeper keeper() {
        return Lockkeeper.builder("redis://" + server.address())
                .operationTimeout(Duration.ofSeconds(20))
                .patience(Duration.ofMinutes(30))
                .build();
    }

    private static Connection forger() {
        return new Connection(
                new HostAndPort(server.host(), server.port()),
                DefaultJedisClientConfig.builder()
                        .resp2()
                        .user("forger")
                        .password("forged")
                        .build());
    }

    private static void publish(Connection forger, List<byte[]> messages) {
        List<String> channels = new ArrayList<>();
        forger.sendCommand(Protocol.Command.PUBSUB, "CHANNELS", "*");
        Reply.list(forger.getOne()).forEach(channel -> channels.add(Admin.text(channel)));
        assertThat(channels).isNotEmpty();
        int sent = 0;
        for (byte[] message : messages) {
            for (String channel : channels) {
                forger.sendCommand(Protocol.Command.PUBLISH, Keys.bytes(channel), message);
                sent++;
            }
        }
        forger.getMany(sent);
    }

    private static byte[] message(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static String read(Connection forger, String command, String... words) {
        forger.sendCommand(() -> command.getBytes(StandardCharsets.US_ASCII), words);
        return String.valueOf(
                ((List<?>) forger.getOne()).stream().map(Admin::text).toList());
    }

    @Test
    void aForgedGrantOrLossIsHarmless() throws Exception { // H74
        try (Lockkeeper keeper = keeper();
                Lockkeeper other = keeper();
                Connection forger = forger()) {
            Lease held = keeper.lock("forged", HOUR).acquire();
            CompletableFuture<Lease> waiting = other.lock("forged", HOUR).acquireAsync();
            Admin.await(
                    "it waits",
                    () -> keeper.inspector().inspect("forged").orElseThrow().waiters() == 1);
            // The ids of both can be read.
            String holder = read(forger, "HVALS", Admin.names("forged")).replaceAll("(?s).* 0 1 0 (\\S+) X .*", "$1");
            String waiter = read(
                            forger,
                            "ZRANGE",
                            Admin.text(new Keys("lockkeeper").ofName("forged").get(0)),
                            "0",
                            "-1")
                    .replaceAll("[\\[\\]]", "");
            assertThat(List.of(holder, waiter)).allMatch(id -> id.matches("[0-9a-zA-Z-]+\\.[0-9a-z]+"));
            admin.resetStatistics();
            String grant = " 9000000000000000 64 3600000000 1 ";
            publish(
                    forger,
                    List.of(
                            message("G " + waiter + grant + System.currentTimeMillis() * 1_000),
                            message("L " + holder + " EXPIRED"),
                            message("R " + holder),
                            message("C " + holder),
                            message("C " + waiter)));
            Admin.await("both have asked", () -> admin.sent().getOrDefault("evalsha", 0L) >= 2);
            assertThat(waiting).isNotDone();
            assertThat(held.isValid()).isTrue();
            assertThat(held.release()).isTrue();
            Lease next = waiting.get(Admin.LONG.toSeconds(), TimeUnit.SECONDS);
            assertThat(next.token()).isGreaterThan(held.token()).isLessThan(9_000_000_000_000_000L);
            assertThat(next.release()).isTrue();
        }
    }

    @Test
    void malformedMessagesDoNotEndTheListener() throws Exception { // H75
        List<byte[]> messages = new ArrayList<>();
        for (String text : List.of(
                "",
                " ",
                "G",
                "G x.1",
                "L a.1 NO_SUCH_REASON",
                "L a.1",
                "R",
                "C",
                "C ",
                "C .",
                "C a.",
                "C a.!",
                "O",
                "O ",
                "O %",
                "O %Z",
                "O %zz",
                "Z something of a newer version",
                "\u0000",
                "C \u0000.1",
                "G a.1 x y z 1 2")) {
            messages.add(message(text));
        }
        messages.add(new byte[] {(byte) 0xff, (byte) 0xfe, ' ', (byte) 0xc0});
        messages.add(new byte[1 << 20]);
        handsOverAfter(messages);
    }

    @Test
    void aFloodOfGarbageIsHarmless() throws Exception { // H74, H75
        Random random = new Random(42);
        List<byte[]> messages = new ArrayList<>();
        for (int i = 0; i < 3_000; i++) {
            byte[] garbage = new byte[random.nextInt(60)];
            random.nextBytes(garbage);
            if (garbage.length > 2 && random.nextBoolean()) {
                garbage[0] = (byte) "CGLRO".charAt(random.nextInt(5));
                garbage[1] = ' ';
            }
            messages.add(garbage);
        }
        long questions = handsOverAfter(messages);
        assertThat(questions).as("questions that garbage led to").isLessThan(1_000);
    }

    /** Has the messages sent, then a name handed over, which only a message can report in time. */
    private static long handsOverAfter(List<byte[]> messages) throws Exception {
        try (Logged logged = new Logged();
                Lockkeeper keeper = keeper();
                Lockkeeper other = keeper();
                Connection forger = forger()) {
            Lease held = keeper.lock("listening", HOUR).acquire();
            CompletableFuture<Lease> waiting = other.lock("listening", HOUR).acquireAsync();
            Admin.await(
                    "it waits",
                    () -> keeper.inspector().inspect("listening").orElseThrow().waiters() == 1);
            admin.resetStatistics();
            publish(forger, messages);
            assertThat(waiting).isNotDone();
            assertThat(held.isValid()).isTrue();
            assertThat(held.release()).isTrue();
            Lease next = waiting.get(Admin.LONG.toSeconds(), TimeUnit.SECONDS);
            assertThat(next.isValid()).isTrue();
            long questions = admin.sent().getOrDefault("evalsha", 0L);
            // Once more: it still listens.
            CompletableFuture<Lease> again = keeper.lock("listening", HOUR).acquireAsync();
            Admin.await(
                    "it waits again",
                    () -> other.inspector().inspect("listening").orElseThrow().waiters() == 1);
            assertThat(next.release()).isTrue();
            assertThat(again.get(Admin.LONG.toSeconds(), TimeUnit.SECONDS).release())
                    .isTrue();
            assertThat(Admin.text(admin.ask("PUBSUB", "NUMPAT"))).isEqualTo("0");
            assertThat(logged.with("could not be read"))
                    .as("once by each listener")
                    .hasSize(2);
            return questions;
        }
    }
}
