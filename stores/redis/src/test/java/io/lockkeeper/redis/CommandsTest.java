// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.DistributedLock;
import io.lockkeeper.Lease;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.testservers.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
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

    /** A keeper with so much patience that it asks for nothing while it waits. */
    private static Lockkeeper keeper() {
        return Lockkeeper.builder("redis://" + server.address())
                .operationTimeout(Duration.ofSeconds(20))
                .patience(Duration.ofMinutes(5))
                .build();
    }

    @Test
    void anUncontendedCycleIsTwoCommandsAndTellsNobody() throws Exception {
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
            // Five of a grant (the clock, whether there is a record, the floor twice, the record), three of a release.
            assertThat(admin.commands().values().stream().mapToLong(n -> n).sum())
                    .isLessThanOrEqualTo(200 + 100 * 8 + 10);
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
            // The release of the first, and of each a release; a grant that lasts is confirmed by a renewal.
            assertThat(few.sent).isLessThanOrEqualTo(2.5);
            assertThat(many.sent).isLessThanOrEqualTo(2.1);
            assertThat(many.told).as("told, for each that was let in").isEqualTo(1.0);
            assertThat(many.all).as("with what the scripts do").isLessThanOrEqualTo(few.all + 3);
        } finally {
            keepers.forEach(Lockkeeper::close);
        }
    }

    /** For each acquisition: commands sent, messages published, commands in all. */
    private record Cost(double sent, double told, double all) {}

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
            assertThat(holder.release()).isTrue();
            for (CompletableFuture<Boolean> one : all) {
                assertThat(one.get(Admin.LONG.toSeconds(), TimeUnit.SECONDS)).isTrue();
            }
            Map<String, Long> commands = admin.commands();
            double sent = admin.sent().values().stream().mapToLong(n -> n).sum();
            double total = commands.values().stream().mapToLong(n -> n).sum();
            return new Cost(sent / waiters, (double) commands.get("publish") / waiters, total / waiters);
        }
    }

    @Test
    void aRenewalIsOneCommandAndOneMoreWhenSomebodyWaits() throws Exception {
        try (Lockkeeper keeper = keeper();
                Lockkeeper other = keeper()) {
            LockOptions options =
                    LockOptions.defaults().fixedLease(Duration.ofMinutes(5)).lockDelay(Duration.ofMinutes(20));
            Lease lease = keeper.lock("renewed", options).acquire();
            String record = admin.keys().stream()
                    .filter(key -> key.endsWith("n:renewed"))
                    .findAny()
                    .orElseThrow();
            assertThat(lease.renew(Duration.ofMinutes(6))).isTrue(); // the server has the script from now on
            admin.resetStatistics();
            assertThat(lease.renew(Duration.ofMinutes(7))).isTrue();
            assertThat(admin.sent()).isEqualTo(Map.of("evalsha", 1L));
            assertThat(admin.commands()).doesNotContainKeys("zrangebyscore", "zscore", "hget");
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
            assertThat(admin.sent()).isEqualTo(Map.of("evalsha", 2L));
            assertThat(lease.remaining()).isGreaterThan(Duration.ofMinutes(8));
            assertThat(lease.release()).isTrue();
            waiting.get(Admin.LONG.toSeconds(), TimeUnit.SECONDS).close();
        }
    }

    @Test
    void tenThousandIdleHoldsCostAFewCommandsASecond() throws Exception {
        try (Lockkeeper keeper = keeper()) {
            LockOptions options = LockOptions.defaults().lease(Duration.ofSeconds(10));
            List<Lease> leases = new ArrayList<>();
            for (int i = 0; i < 10_000; i++) {
                leases.add(keeper.lock("hold" + i, options).tryAcquire().orElseThrow());
            }
            admin.resetStatistics();
            long start = System.nanoTime();
            // Each renewal sets a record: two of each.
            Admin.await("renewals", () -> admin.commands().getOrDefault("set", 0L) >= 20_000);
            double seconds = (System.nanoTime() - start) / 1e9;
            Map<String, Long> sent = admin.sent();
            System.out.println("10,000 idle holds: " + sent + " in " + seconds + " s");
            assertThat(sent.keySet()).isSubsetOf("evalsha", "eval"); // the script's text, at first
            assertThat(sent.values().stream().mapToLong(n -> n).sum() / seconds).isLessThan(60);
            assertThat(leases).allMatch(Lease::isValid);
        }
    }
}
