// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.lockkeeper.DistributedLatch;
import io.lockkeeper.Guarantee;
import io.lockkeeper.Lease;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.spi.StoreUrl;
import io.lockkeeper.testservers.RedisServer;
import io.lockkeeper.testservers.SecretSearch;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What users may do, and how a missing permission is reported. */
class AccessTest {
    private static final String SECRET = "hunter2/:@%é";
    private static final String ENCODED = "hunter2%2F%3A%40%25%C3%A9";

    private static RedisServer server;
    private static Admin admin;

    @BeforeAll
    static void start() {
        server = RedisServer.start();
        admin = new Admin(server);
    }

    @AfterAll
    static void end() {
        server.close();
    }

    private static String url(String login) {
        return "redis://" + login + "@" + server.address();
    }

    private static void user(String name, String... rules) {
        List<String> words = new ArrayList<>(List.of("SETUSER", name, "reset", "on", ">" + SECRET));
        words.addAll(List.of(rules));
        admin.ask("ACL", words.toArray(String[]::new));
    }

    /** The rule in the documentation, as it stands there. */
    private static String[] documentedRule() throws IOException {
        Path folder = Path.of("").toAbsolutePath();
        while (!Files.exists(folder.resolve("docs/stores/redis.md"))) {
            folder = folder.getParent();
        }
        String rule = Files.readString(folder.resolve("docs/stores/redis.md"))
                .replaceAll("(?s).*ACL SETUSER locks on >SECRET(.*?)```.*", "$1");
        return rule.replace("\\", " ").trim().split("\\s+");
    }

    @Test
    void theDocumentedRuleSuffices() throws Exception {
        user("least", documentedRule());
        admin.ask("ACL", "LOG", "RESET");
        LockOptions lease = LockOptions.defaults().lease(Duration.ofSeconds(1));
        try (Lockkeeper keeper = Lockkeeper.connect(url("least:" + ENCODED));
                Lockkeeper other = Lockkeeper.connect(url("least:" + ENCODED) + "?replicas=0")) {
            Lease held = keeper.lock("a", lease).acquire();
            CompletableFuture<Lease> waiting = other.lock("a", lease).acquireAsync();
            Admin.await(
                    "it waits",
                    () -> keeper.inspector().inspect("a").orElseThrow().waiters() == 1);
            assertThat(keeper.inspector().list("", 10)).hasSize(1);
            assertThat(keeper.inspector().check(held.sequencer())).isTrue();
            assertThat(keeper.inspector().breakHold("a", held.token(), Duration.ZERO))
                    .isTrue();
            Lease next = waiting.get(Admin.LONG.toSeconds(), TimeUnit.SECONDS);
            assertThat(next.release()).isTrue();
            var rw = keeper.readWriteLock("rw", lease);
            rw.writeLock().lock();
            rw.readLock().lock();
            rw.writeLock().unlock();
            rw.readLock().unlock();
            DistributedLatch latch = keeper.latch("l");
            assertThat(latch.trySetCount(1)).isTrue();
            CompletableFuture<Void> opened = other.latch("l").awaitAsync();
            latch.countDown();
            opened.get(Admin.LONG.toSeconds(), TimeUnit.SECONDS);
            // A lease that runs out, and one who waits for that.
            Lease fixed = keeper.lock("b", LockOptions.defaults().fixedLease(Duration.ofMillis(300)))
                    .acquire();
            other.lock("b", lease).acquire().close();
            assertThat(fixed.isValid()).isFalse();
        }
        assertThat(admin.text("ACL", "LOG")).as("what was denied").isEqualTo("[]");
    }

    @Test
    void eachCommandOfTheDocumentedRuleIsNeeded() throws Exception {
        String[] rule = documentedRule();
        assertThat(rule).allMatch(word -> word.matches("[~&]lockkeeper:\\*|\\+[a-z|]+"));
        // What scripts call is in the scripts; what is sent, in the classes.
        List<String> texts = new ArrayList<>();
        for (Script script : Script.values()) {
            texts.add(new String(script.text(), java.nio.charset.StandardCharsets.UTF_8)
                    .toLowerCase(java.util.Locale.ROOT));
        }
        List<String> sent = List.of(
                "eval",
                "evalsha",
                "info",
                "subscribe",
                "unsubscribe",
                "role",
                "cluster|slots",
                "wait",
                "client|setname");
        for (String word : rule) {
            if (word.startsWith("+")) {
                String command = word.substring(1);
                assertThat(sent.contains(command) || texts.stream().anyMatch(t -> t.contains("'" + command + "'")))
                        .as(command)
                        .isTrue();
            }
        }
    }

    @Test
    void aMissingPermissionIsReportedImmediatelyAndByName() throws Exception { // H54
        user("nopub", "~*", "&*", "+@all", "-publish");
        user("nokey", "~other:*", "&*", "+@all");
        assertThatThrownBy(() -> Lockkeeper.connect(url("nokey:" + ENCODED)))
                .isInstanceOfSatisfying(StoreUnavailableException.class, e -> assertThat(e.worthRepeating())
                        .isFalse())
                .hasMessageContaining("permission")
                .hasMessageContaining("docs/stores/redis.md");
        // What only a script would meet, in the middle, is found before anything is done.
        for (String command : List.of("publish", "hdel", "zrangebyscore", "pexpireat", "eval", "evalsha")) {
            user("nearly", "~*", "&*", "+@all", "-" + command);
            assertThatThrownBy(() -> Lockkeeper.connect(url("nearly:" + ENCODED)))
                    .as(command)
                    .isInstanceOfSatisfying(StoreUnavailableException.class, e -> assertThat(e.worthRepeating())
                            .isFalse())
                    .hasMessageContaining("permission");
        }
        for (String command : List.of("eval", "evalsha")) {
            user("nearly", "~*", "&*", "+@all", "-" + command);
            assertThatThrownBy(() -> Lockkeeper.connect(url("nearly:" + ENCODED)))
                    .hasMessageContaining(server.address())
                    .hasMessageContaining("'" + command + "'");
        }
        assertThat(admin.keys()).noneMatch(key -> key.contains("trial"));
    }

    /** Hands a name over, and says whether the one who waited got it. */
    private static boolean handsOver(Lockkeeper from, Lockkeeper to, String name) throws Exception {
        Lease held = from.lock(name).acquire();
        CompletableFuture<Lease> waiting = to.lock(name).acquireAsync();
        Admin.await(
                "it waits", () -> from.inspector().inspect(name).orElseThrow().waiters() == 1);
        assertThat(held.release()).isTrue();
        return waiting.get(Admin.LONG.toSeconds(), TimeUnit.SECONDS).release();
    }

    @Test
    void pushIsNotPromisedWhileSubscribingIsDenied() throws Exception {
        user("deaf", "~*", "&*", "+@all", "-subscribe");
        try (Logged logged = new Logged();
                RedisStore store = (RedisStore) new RedisProvider().open(StoreUrl.parse(url("deaf:" + ENCODED)));
                Lockkeeper one = Lockkeeper.on(store);
                Lockkeeper other = Lockkeeper.on(store)) {
            assertThat(one.guarantees().has(Guarantee.PUSH)).isFalse();
            assertThat(handsOver(one, other, "deaf")).as("by asking").isTrue();
            assertThat(logged.with("SUBSCRIBE is denied")).hasSize(1).allMatch(line -> line.contains("+subscribe"));
            admin.ask("ACL", "SETUSER", "deaf", "+subscribe");
            Admin.await("it is tried again", () -> one.guarantees().has(Guarantee.PUSH));
            assertThat(handsOver(one, other, "deaf")).isTrue();
        }
    }

    @Test
    void aUserThatMayNotUnsubscribeConnectsAgain() throws Exception {
        user("faithful", "~*", "&*", "+@all", "-unsubscribe");
        try (Logged logged = new Logged();
                RedisStore store = (RedisStore) new RedisProvider().open(StoreUrl.parse(url("faithful:" + ENCODED)));
                Lockkeeper one = Lockkeeper.on(store);
                Lockkeeper other = Lockkeeper.on(store)) {
            for (int i = 0; i < 3; i++) {
                Lockkeeper.on(store).close();
            }
            Admin.await(
                    "it is logged", () -> !logged.with("UNSUBSCRIBE is denied").isEmpty());
            assertThat(handsOver(one, other, "faithful")).isTrue();
            assertThat(one.guarantees().has(Guarantee.PUSH)).isTrue();
            assertThat(logged.with("UNSUBSCRIBE is denied")).hasSize(1).allMatch(line -> line.contains("+unsubscribe"));
        }
    }

    @Test
    void neitherPingNorANameIsNeeded() throws Exception {
        user("mute", "~*", "&*", "+@all", "-ping", "-client|setname");
        try (Logged logged = new Logged();
                Lockkeeper one = Lockkeeper.connect(url("mute:" + ENCODED));
                Lockkeeper other = Lockkeeper.connect(url("mute:" + ENCODED))) {
            Lease held = one.lock("mute").acquire();
            CompletableFuture<Lease> waiting = other.lock("mute").acquireAsync();
            admin.resetStatistics();
            Admin.await(
                    "it looks whether it still hears", () -> admin.commands().containsKey("subscribe"));
            long connected =
                    admin.commands().getOrDefault("auth", 0L) + admin.commands().getOrDefault("hello", 0L);
            Admin.await("and again", () -> admin.commands().get("subscribe") > 1);
            assertThat(admin.commands().getOrDefault("auth", 0L))
                    .as("logins, since it continues with the same connection")
                    .isLessThanOrEqualTo(connected);
            assertThat(held.release()).isTrue();
            assertThat(waiting.get(Admin.LONG.toSeconds(), TimeUnit.SECONDS).release())
                    .isTrue();
            assertThat(one.guarantees().has(Guarantee.PUSH)).isTrue();
            assertThat(logged.with("denied")).isEmpty();
        }
    }

    @Test
    void aWrongPasswordIsReportedImmediatelyAndNotShown() { // H54
        user("known", "~*", "&*", "+@all");
        for (String login : List.of("known:wrong-hunter2", "nobody:wrong-hunter2")) {
            Throwable failure = catchThrowable(() -> Lockkeeper.connect(url(login)));
            assertThat(failure)
                    .isInstanceOfSatisfying(StoreUnavailableException.class, e -> assertThat(e.worthRepeating())
                            .isFalse());
            assertShowsNoSecret(failure);
        }
    }

    @Test
    void aChangedPasswordIsReportedImmediately() throws Exception { // H54
        try (RedisServer own = RedisServer.start("--requirepass", "first");
                Lockkeeper keeper = Lockkeeper.builder("redis://:first@" + own.address())
                        .operationTimeout(Duration.ofSeconds(20))
                        .build()) {
            keeper.lock("a").acquire().close();
            try (redis.clients.jedis.Connection connection =
                    new redis.clients.jedis.Connection(new redis.clients.jedis.HostAndPort(own.host(), own.port()))) {
                connection.executeCommand(
                        new redis.clients.jedis.CommandArguments(redis.clients.jedis.Protocol.Command.AUTH)
                                .add("first"));
                connection.executeCommand(
                        new redis.clients.jedis.CommandArguments(redis.clients.jedis.Protocol.Command.CONFIG)
                                .add("SET")
                                .add("requirepass")
                                .add("second"));
                connection.executeCommand(
                        new redis.clients.jedis.CommandArguments(redis.clients.jedis.Protocol.Command.CLIENT)
                                .add("KILL")
                                .add("TYPE")
                                .add("normal")
                                .add("SKIPME")
                                .add("yes"));
            }
            long start = System.nanoTime();
            assertThatThrownBy(() -> keeper.lock("a").acquire())
                    .isInstanceOfSatisfying(StoreUnavailableException.class, e -> assertThat(e.worthRepeating())
                            .isFalse());
            assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(15));
        }
    }

    static void assertShowsNoSecret(Throwable failure) {
        assertThat(SecretSearch.text(failure)).doesNotContain("hunter2");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "redis://user:hunter2@127.0.0.1:1",
                "rediss://user:hunter2@127.0.0.1:1",
                "redis://user:hunter2@127.0.0.1:1/x",
                "redis://user:hunter2/x@127.0.0.1",
                "redis://user:hunter2#x@127.0.0.1",
                "redis://user:%hunter2@127.0.0.1",
                "redis://user:hunter2@127.0.0.1:notaport",
                "redis://:hunter2@127.0.0.1:1?nosuch=1",
                "redis://:hunter2@",
                "redis-sentinel://user:hunter2@127.0.0.1:1/0#m",
                "redis-sentinel://user:hunter2@127.0.0.1:1/0",
                "redis-cluster://user:hunter2@127.0.0.1:1,127.0.0.1:2",
                "rediss-sentinel://user:hunter2@127.0.0.1:1/0#m?sentinelPassword=hunter2",
                "rediss-cluster://user:hunter2@127.0.0.1:1?trustStore=/none&trustStorePassword=hunter2"
            })
    void noSecretIsTold(String url) {
        Throwable failure = catchThrowable(() -> Lockkeeper.connect(url));
        assertThat(failure).isInstanceOfAny(IllegalArgumentException.class, StoreUnavailableException.class);
        assertShowsNoSecret(failure);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "redis:127.0.0.1",
                "redis://",
                "redis://h1,h2",
                "redis://h/x",
                "redis://h:0",
                "redis://h:70000",
                "redis://h#m",
                "redis-sentinel://h",
                "redis-cluster://h/1",
                "redis://h?replicas=-1",
                "redis://h?replicas=101",
                "redis://h?replicas=many",
                "redis://h?allowEviction=maybe",
                "redis://h?prefix=",
                "redis://h?prefix=a%7Bb",
                "redis://h?prefix=a%20b",
                "redis://h?operationTimeout=0s",
                "redis://h?connectTimeout=soon",
                "redis://h?tablePrefix=x"
            })
    void badUrlsAreRefusedBeforeAnythingIsAsked(String url) {
        assertThatThrownBy(() -> Lockkeeper.connect(url)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void anEvictingServerIsRefusedUnlessAllowed() throws Exception { // H34
        for (String policy : List.of("allkeys-lru", "volatile-ttl", "allkeys-random")) {
            try (RedisServer evicting = RedisServer.start("--maxmemory", "100mb", "--maxmemory-policy", policy)) {
                assertThatThrownBy(() -> Lockkeeper.connect("redis://" + evicting.address()))
                        .isInstanceOf(StoreUnavailableException.class)
                        .hasMessageContaining(policy)
                        .hasMessageContaining("allowEviction=true");
                try (Lockkeeper keeper = Lockkeeper.connect("redis://" + evicting.address() + "?allowEviction=true");
                        Lease lease = keeper.lock("a").acquire()) {
                    assertThat(lease.isValid()).isTrue();
                }
            }
        }
    }
}
