// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.Lease;
import io.lockkeeper.LockInfo;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.spi.NameCodec;
import io.lockkeeper.tck.Tier;
import io.lockkeeper.testservers.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Listings: what they cost on a server that others use, and what is in the way of them. */
class ListingTest {
    private RedisServer server;
    private Admin admin;

    @BeforeEach
    void start() {
        server = RedisServer.start();
        admin = new Admin(server);
    }

    @AfterEach
    void end() {
        server.close();
    }

    private Lockkeeper keeper() {
        return Lockkeeper.builder("redis://" + server.address())
                .operationTimeout(Duration.ofSeconds(20))
                .build();
    }

    private static List<String> names(Lockkeeper keeper, String prefix) {
        return keeper.inspector().list(prefix, 100).stream().map(LockInfo::name).toList();
    }

    @Test
    void aListingCostsTheSameHoweverManyOtherKeysThereAre() throws Exception { // H84
        try (Lockkeeper keeper = keeper();
                Lease a = keeper.lock("job/a").acquire();
                Lease b = keeper.lock("job/b").acquire();
                Lease c = keeper.lock("other").acquire()) {
            assertThat(names(keeper, "job/"))
                    .containsExactly("job/a", "job/b"); // the server has the scripts from now on
            Map<String, Long> before = listingCosts(keeper);
            int foreign = Tier.pick(100_000, 1_000_000);
            admin.ask(
                    "EVAL",
                    "for i = 1, tonumber(ARGV[1]) do redis.call('SET', 'foreign:' .. i, i) end",
                    "0",
                    Integer.toString(foreign));
            assertThat(listingCosts(keeper)).isEqualTo(before);
            System.out.println("a listing among " + foreign + " keys: " + before);
            assertThat(before).doesNotContainKeys("scan", "keys");
            assertThat(before.get("evalsha")).isLessThanOrEqualTo(Keys.BUCKETS + 2L);
            assertThat(List.of(a, b, c)).allMatch(Lease::isValid);
        }
    }

    private Map<String, Long> listingCosts(Lockkeeper keeper) {
        admin.resetStatistics();
        assertThat(names(keeper, "job/")).containsExactly("job/a", "job/b");
        Map<String, Long> costs = admin.commands();
        costs.keySet().removeAll(List.of("config|resetstat", "info", "hello"));
        return costs;
    }

    @Test
    void aListingTakesAsManyPagesAsItNeeds() throws Exception {
        try (Lockkeeper keeper = keeper();
                Lease real = keeper.lock("page").acquire()) {
            admin.ask(
                    "EVAL",
                    "for i = 1, 5000 do redis.call('HSET', KEYS[1], 'x' .. i, '2 1') end",
                    "1",
                    Admin.names("page"));
            assertThat(names(keeper, "page")).containsExactly("page");
            assertThat(real.isValid()).isTrue();
        }
    }

    @Test
    void aShortListingOfManyNamesIsShort() throws Exception { // H107
        int count = Tier.pick(20_000, 200_000);
        try (Lockkeeper keeper = keeper();
                Lease real = keeper.lock("real", LockOptions.defaults().lease(Duration.ofHours(1)))
                        .acquire()) {
            plant(IntStream.range(0, count).mapToObj(i -> String.format("job/%025d", i)), admin.record("real"));
            keeper.inspector().list("", 1); // the server has the scripts from now on
            admin.resetStatistics();
            long before = sentBytes();
            List<LockInfo> first = keeper.inspector().list("", 10);
            long bytes = sentBytes() - before;
            System.out.println("10 of " + count + " names: " + bytes + " bytes, " + admin.commands());
            assertThat(first)
                    .extracting(LockInfo::name)
                    .containsExactlyElementsOf(IntStream.range(0, 10)
                            .mapToObj(i -> String.format("job/%025d", i))
                            .toList());
            assertThat(admin.commands().get("evalsha")).as("scripts").isLessThanOrEqualTo(Keys.BUCKETS + 10L);
            // A name alone is 29 bytes.
            assertThat(bytes).as("bytes that the server sent").isLessThan(8L * count);
            assertThat(real.isValid()).isTrue();
        }
    }

    @Test
    void aShortListingIsInOrderWhateverIsInTheNamesAndInTheWay() throws Exception {
        try (Lockkeeper keeper = keeper();
                Lease real = keeper.lock("real", LockOptions.defaults().lease(Duration.ofHours(1)))
                        .acquire()) {
            List<String> characters = List.of(
                    " ",
                    "!",
                    "%",
                    "-",
                    "0",
                    "A",
                    "[",
                    "a",
                    "z",
                    "{",
                    "~",
                    "\u00E9",
                    "\uD7FF",
                    "\uE000",
                    "\uFFFD",
                    "\uD83D\uDE00");
            List<String> all = characters.stream()
                    .flatMap(a -> characters.stream().map(b -> "p/" + a + b))
                    .sorted()
                    .toList();
            plant(all.stream(), admin.record("real"));
            // Out of use, and before all others: they are in the way of a listing that reads no more than it needs.
            plant(IntStream.range(0, 300).mapToObj(i -> "p/ " + " ".repeat(1 + i / 100) + i), "2 1");
            for (int limit : List.of(1, 7, 100, 200, 256, 1_000)) {
                assertThat(keeper.inspector().list("p/", limit))
                        .as("the first " + limit)
                        .extracting(LockInfo::name)
                        .containsExactlyElementsOf(all.subList(0, Math.min(limit, all.size())));
            }
            assertThat(real.isValid()).isTrue();
        }
    }

    /** Has names held that nobody holds: with a record that was made for another name. */
    private void plant(Stream<String> names, String record) {
        names.collect(Collectors.groupingBy(Keys::bucket)).values().forEach(some -> {
            Stream<String> key = Stream.of(Admin.names(some.get(0)));
            Stream<String> fields = some.stream().flatMap(name -> Stream.of(NameCodec.encode(name), record));
            admin.ask("HSET", Stream.concat(key, fields).toArray(String[]::new));
        });
    }

    private long sentBytes() {
        return admin.text("INFO", "stats")
                .lines()
                .filter(line -> line.startsWith("total_net_output_bytes:"))
                .mapToLong(line -> Long.parseLong(line.substring(line.indexOf(':') + 1)))
                .sum();
    }

    @Test
    void aWatchThatSeesNoChangesLooksLessOften() throws Exception { // H84
        Queue<String> told = new ConcurrentLinkedQueue<>();
        try (Lockkeeper keeper = keeper();
                Lockkeeper other = keeper();
                AutoCloseable watch = keeper.inspector().watch("", info -> told.add(info.name()))) {
            long start = System.nanoTime();
            admin.resetStatistics();
            Admin.await("eight seconds are over", () -> System.nanoTime() - start > 8_000_000_000L);
            long scripts = admin.commands().getOrDefault("evalsha", 0L);
            System.out.println("scripts of an idle watch in 8 s: " + scripts);
            assertThat(scripts / Keys.BUCKETS).as("looks; 31 at four a second").isBetween(1L, 20L);
            try (Lease lease = other.lock("seen").acquire()) {
                Admin.await("it is reported", () -> told.contains("seen"));
                assertThat(lease.isValid()).isTrue();
            }
            Admin.await("its end is reported", () -> told.size() >= 2);
            assertThat(watch).isNotNull();
        }
    }

    @Test
    void whatIsDamagedOrForeignIsSkippedAndNamedAndTheRestIsListed() throws Exception { // H76
        try (Logged logged = new Logged();
                Lockkeeper keeper = keeper();
                Lease a = keeper.lock("a").acquire();
                Lease z = keeper.lock("z").acquire()) {
            admin.ask("SET", "lockkeeper:{00}:n:%Z", "planted"); // what a record was called before
            admin.ask("HSET", Admin.names("a"), "%Z", "2 1");
            admin.ask("HSET", Admin.names("a"), "{line}\nend", "2 1");
            admin.ask("HSET", Admin.names("damaged"), "damaged", "2 9999999999999999\nnonsense");
            admin.ask("HSET", Admin.names("newer"), "newer", "7 9999999999999999");
            admin.ask("HSET", Admin.names("empty"), "empty", "");
            String bucket = "lockkeeper:{" + (Keys.bucket("a") == 0 || Keys.bucket("z") == 0 ? "01" : "00") + "}:names";
            admin.ask("DEL", bucket);
            admin.ask("SET", bucket, "a string");
            for (int i = 0; i < 2; i++) {
                assertThat(names(keeper, "")).containsExactly("a", "z");
            }
            for (String what : List.of("%25Z", "%7Bline%7D%0Aend", "of damaged", "of newer", "of empty", bucket)) {
                assertThat(logged.with(what)).as(what).hasSize(1);
            }
            assertThat(List.of(a, z)).allMatch(Lease::isValid);
        }
    }

    @Test
    void nothingIsLeftOfNamesThatAreUsedAndReleasedOrWhoseClientsVanish() throws Exception { // H84
        try (Lockkeeper keeper = keeper()) {
            Lease stays = keeper.lock("stays", LockOptions.defaults().lease(Duration.ofHours(1)))
                    .acquire();
            String bucket = Admin.names("stays");
            long size = (Long) admin.ask("HLEN", bucket);
            // Vanished clients, in a bucket that is in use for an hour: what they leave is swept by those who come
            // later.
            for (int i = 0; i < 500; i++) {
                admin.ask("HSET", bucket, "vanished" + i, "2 " + (1_000_000 + i));
            }
            String beside = IntStream.range(0, 100_000)
                    .mapToObj(i -> "name" + i)
                    .filter(name -> Keys.bucket(name) == Keys.bucket("stays"))
                    .findFirst()
                    .orElseThrow();
            Admin.await("what vanished clients left is swept", () -> {
                keeper.lock(beside).acquire().close();
                return (Long) admin.ask("HLEN", bucket) <= size;
            });
            assertThat(stays.release()).isTrue();
            assertThat(admin.keys()).isEmpty();
        }
    }

    @Test
    void aBucketThatNobodyUsesExpires() throws Exception {
        try (Lockkeeper keeper = keeper()) {
            keeper.lock("idle", LockOptions.defaults().lease(Duration.ofSeconds(1)))
                    .acquire()
                    .close();
            assertThat((Long) admin.ask("PTTL", Admin.names("idle"))).isBetween(1L, 10_000L);
        }
    }
}
