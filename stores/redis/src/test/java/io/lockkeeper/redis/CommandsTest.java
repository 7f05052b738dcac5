// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.DistributedLock;
import io.lockkeeper.Lease;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.Mode;
import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.ClaimId;
import io.lockkeeper.spi.Grant;
import io.lockkeeper.spi.Renewals;
import io.lockkeeper.spi.Terms;
import io.lockkeeper.testservers.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What things cost, in commands that the server counts. */
class CommandsTest {
    private static final LockOptions FAIR = LockOptions.defaults().fair(true).lease(Duration.ofMinutes(5));

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

    /** A keeper whose patience is so long that it asks for nothing while it waits. */
    private static Lockkeeper keeper() {
        return Lockkeeper.builder("redis://" + server.address())
                .operationTimeout(Duration.ofSeconds(20))
                .patience(Duration.ofMinutes(5))
                .build();
    }

    @Test
    void anUncontendedCycleIsTwoCommandsAndNoMessage() throws Exception {
        try (Lockkeeper keeper = keeper()) {
            keeper.lock("warm").acquire().close();
            admin.resetStatistics();
            for (int i = 0; i < 50; i++) {
                try (Lease lease = keeper.lock("cycle" + i % 5, FAIR).acquire()) {
                    assertThat(lease.isValid()).isTrue();
                }
            }
            for (int i = 0; i < 25; i++) {
                keeper.semaphore("permits", 3).acquire(2).close();
                keeper.readWriteLock("rw").readLock().acquire().close();
            }
            assertThat(admin.sent()).isEqualTo(Map.of("evalsha", 200L));
            assertThat(admin.commands()).doesNotContainKey("publish");
            // Five of a grant (the clock, whether there is a record, the floor twice, the record), three of a release;
            // apart from
            // them, when a bucket expires, and now and then what vanished clients have left in it.
            Map<String, Long> inside = admin.commands();
            long swept = inside.getOrDefault("hscan", 0L);
            assertThat(inside).containsEntry("time", 200L).containsEntry("hmget", 200L);
            assertThat(inside).containsEntry("get", 100L).containsEntry("set", 100L);
            assertThat(inside.get("hdel")).isLessThanOrEqualTo(100 + 2 * swept);
            assertThat(inside.get("hset")).isLessThanOrEqualTo(100 + 2 * inside.get("pexpireat") + swept);
            System.out.println("an uncontended step: " + admin.microsOfScripts() + " us in the server");
        }
    }

    @Test
    void anIdleNameLeavesNoKeyAndTheFloorsNeverExpire() throws Exception {
        try (Lockkeeper keeper = keeper()) {
            keeper.lock("idle {*}[?]\u0000").acquire().close();
            assertThat(admin.keys().stream().filter(key -> key.contains("idle")))
                    .isEmpty();
            List<?> floors = (List<?>) admin.ask("KEYS", "*}:floor");
            assertThat(floors).isNotEmpty();
            for (Object floor : floors) {
                assertThat(admin.ask("PTTL", Admin.text(floor))).isEqualTo(-1L);
            }
        }
    }

    @Test
    void aContendedAcquisitionCostsTheSameWithTwoAndWithTwoHundredWaiters() throws Exception {
        List<Lockkeeper> keepers = new ArrayList<>();
        try {
            for (int i = 0; i < 10; i++) {
                keepers.add(keeper());
            }
            Cost few = costOf(keepers, 2);
            Cost many = costOf(keepers, 200);
            // The release of the first, and of each a question, because a message alone is not believed, and a release;
            // a grant
            // that lasts is confirmed by a renewal.
            assertThat(few.sent).isLessThanOrEqualTo(3.5);
            assertThat(many.sent).isLessThanOrEqualTo(3.1);
            System.out.println("a contended step: " + many.micros + " us in the server");
            assertThat(many.messages).as("messages for each that acquires").isEqualTo(1.0);
            // Every second each who still waits shows that it is alive, which costs a few commands.
            assertThat(many.all).as("with what the scripts do").isLessThanOrEqualTo(few.all + 3 + 4 * many.seconds);
        } finally {
            keepers.forEach(Lockkeeper::close);
        }
    }

    /** For each acquisition: commands sent, messages published, commands in all; and how long all of them took. */
    private record Cost(double sent, double messages, double all, double micros, double seconds) {}

    private static Cost costOf(List<Lockkeeper> keepers, int waiters) throws Exception {
        String name = "with-" + waiters;
        try (Lockkeeper first = keeper()) {
            Lease holder = first.lock(name, FAIR).acquire();
            List<CompletableFuture<Boolean>> all = new ArrayList<>();
            for (int i = 0; i < waiters; i++) {
                DistributedLock lock = keepers.get(i % keepers.size()).lock(name, FAIR);
                all.add(lock.acquireAsync().thenCompose(Lease::releaseAsync));
            }
            Admin.await(
                    "all wait",
                    () -> first.inspector().inspect(name).orElseThrow().waiters() == waiters);
            admin.resetStatistics();
            long start = System.nanoTime();
            assertThat(holder.release()).isTrue();
            for (CompletableFuture<Boolean> one : all) {
                assertThat(one.get(Admin.LONG.toSeconds(), TimeUnit.SECONDS)).isTrue();
            }
            double seconds = (System.nanoTime() - start) / 1e9;
            Map<String, Long> commands = admin.commands();
            double sent = admin.sent().values().stream().mapToLong(n -> n).sum();
            double total = commands.values().stream().mapToLong(n -> n).sum();
            return new Cost(
                    sent / waiters,
                    (double) commands.get("publish") / waiters,
                    total / waiters,
                    admin.microsOfScripts(),
                    seconds);
        }
    }

    @Test
    void aContendedStepIsAFewCommandsInTheServer() {
        try (RedisStore store = RedisFixture.open("redis://" + server.address())) {
            for (int i = 0; i < 2; i++) { // at first the server is sent the scripts
                Claim holder = claim(store);
                Claim waiter = claim(store);
                Grant held = Grant.of(holder, (Answer.Granted) store.claim(holder));
                assertThat(inside(() -> store.claim(waiter)))
                        .as("a claim that queues")
                        .isLessThanOrEqualTo(12);
                assertThat(inside(() -> store.release(held))).as("a hand-over").isLessThanOrEqualTo(12);
                assertThat(inside(() -> store.renew(new Renewals(List.of(), List.of(waiter)))))
                        .as("a question")
                        .isLessThanOrEqualTo(4);
                store.withdraw(waiter);
            }
        }
    }

    private static long inside(Runnable step) {
        admin.resetStatistics();
        step.run();
        Map<String, Long> commands = admin.commands();
        commands.keySet().removeAll(List.of("config|resetstat", "info", "hello", "evalsha", "eval"));
        return commands.values().stream().mapToLong(n -> n).sum();
    }

    private static Claim claim(RedisStore store) {
        Duration minutes = Duration.ofMinutes(5);
        Terms terms = new Terms(Mode.EXCLUSIVE, 1, 0, minutes, Duration.ZERO, minutes, 64, true, "test", "");
        ClaimId id = new ClaimId(UUID.randomUUID().toString(), 1);
        return new Claim("few", id, terms, store.time(store.lane("few")).plusMicros(600_000_000), false);
    }

    @Test
    void aRenewalIsOneCommandEvenWhileAnotherWaits() throws Exception {
        try (Lockkeeper keeper = keeper();
                Lockkeeper other = keeper()) {
            LockOptions options =
                    LockOptions.defaults().fixedLease(Duration.ofMinutes(5)).lockDelay(Duration.ofMinutes(20));
            Lease lease = keeper.lock("renewed", options).acquire();
            String record = Admin.names("renewed");
            assertThat(lease.renew(Duration.ofMinutes(6))).isTrue(); // the server has the script from now on
            admin.resetStatistics();
            assertThat(lease.renew(Duration.ofMinutes(7))).isTrue();
            assertThat(admin.sent()).isEqualTo(Map.of("evalsha", 1L));
            assertThat(admin.commands()).doesNotContainKeys("zrangebyscore", "zscore", "hget", "zadd");
            assertThat((Long) admin.ask("PTTL", record))
                    .as("lease and lock-delay")
                    .isGreaterThan(26 * 60_000L);
            assertThat(lease.remaining()).isGreaterThan(Duration.ofMinutes(6));

            CompletableFuture<Lease> waiting =
                    other.lock("renewed", options.lockDelay(Duration.ZERO)).acquireAsync();
            Admin.await(
                    "one waits",
                    () -> keeper.inspector().inspect("renewed").orElseThrow().waiters() == 1);
            lease.renew(Duration.ofMinutes(7));
            admin.resetStatistics();
            assertThat(lease.renew(Duration.ofMinutes(9))).isTrue();
            assertThat(admin.sent()).isEqualTo(Map.of("evalsha", 1L));
            assertThat(lease.remaining()).isGreaterThan(Duration.ofMinutes(8));
            assertThat(lease.release()).isTrue();
            waiting.get(Admin.LONG.toSeconds(), TimeUnit.SECONDS).close();
        }
    }

    @Test
    void tenThousandIdleHoldsAreRenewedManyWithACommand() throws Exception {
        try (Lockkeeper keeper = keeper()) {
            LockOptions options = LockOptions.defaults().lease(Duration.ofSeconds(10));
            List<Lease> leases = new ArrayList<>();
            for (int i = 0; i < 10_000; i++) {
                leases.add(keeper.lock("hold" + i, options).tryAcquire().orElseThrow());
            }
            admin.resetStatistics();
            long start = System.nanoTime();
            // Each renewal sets a record: two of each.
            Admin.await("renewals", () -> admin.commands().getOrDefault("hset", 0L) >= 20_000);
            double seconds = (System.nanoTime() - start) / 1e9;
            Map<String, Long> sent = admin.sent();
            System.out.println("10,000 idle holds: " + sent + " in " + seconds + " s");
            assertThat(sent.keySet()).isSubsetOf("evalsha", "eval"); // the script's text, at first
            // A pass is one command per bucket.
            assertThat(sent.values().stream().mapToLong(n -> n).sum())
                    .isLessThan(admin.commands().get("hset") / 8);
            assertThat(leases).allMatch(Lease::isValid);
        }
    }
}
