// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.Lease;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.testservers.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What waiting for a quorum costs its members. */
@Timeout(value = 3, unit = TimeUnit.MINUTES)
class RedlockStandbyTest {
    private static final String PATIENT = "?operationTimeout=10s&memberTimeout=1s";

    /** As many waiters as were counted, of one client: half of them for one name, one after the other; half for others. */
    private static final int WAITERS = 40;

    private static final Duration WINDOW = Duration.ofSeconds(3);

    private final List<RedisServer> servers = new ArrayList<>();

    @BeforeEach
    void start() {
        for (int i = 0; i < 3; i++) {
            servers.add(RedisServer.start());
        }
    }

    @AfterEach
    void end() {
        servers.forEach(RedisServer::close);
    }

    private Lockkeeper connect() {
        return Lockkeeper.connect(RedlockFixture.url(servers) + PATIENT);
    }

    private static void pass(Duration time) throws Exception {
        long until = System.nanoTime() + time.toNanos();
        Admin.await("time has passed", () -> System.nanoTime() > until);
    }

    @Test
    @DisplayName("H80: waiters that do not advance cost members almost nothing, and acquire when it is their turn")
    void waitersThatDoNotAdvanceCostAlmostNothing() throws Exception {
        try (Lockkeeper holder = connect();
                Lockkeeper waiting = connect()) {
            List<Lease> held = new ArrayList<>();
            for (int i = 0; i <= WAITERS / 2; i++) {
                held.add(holder.lock("name" + i).acquire());
            }
            List<CompletableFuture<Boolean>> waiters = new ArrayList<>();
            LockOptions inTurn = LockOptions.defaults().fair(true);
            for (int i = 0; i < WAITERS; i++) {
                String name = "name" + (i < WAITERS / 2 ? 0 : i - WAITERS / 2 + 1);
                waiters.add(waiting.lock(name, inTurn).acquireAsync().thenApply(Lease::release));
            }
            pass(WINDOW); // they have all asked, and more than once
            for (RedisServer server : servers) {
                new Admin(server).resetStatistics();
            }
            pass(WINDOW);
            for (RedisServer server : servers) {
                long scripts = new Admin(server).sent().getOrDefault("evalsha", 0L);
                System.out.println("H80: " + scripts + " scripts in " + WINDOW + " at one member");
                assertThat(scripts)
                        .as("not 946 a second: less than one a second for each waiter")
                        .isLessThan(WAITERS * WINDOW.toSeconds());
            }
            assertThat(waiters).noneMatch(CompletableFuture::isDone);
            held.forEach(Lease::release);
            for (CompletableFuture<Boolean> waiter : waiters) {
                assertThat(waiter.get(Admin.LONG.toSeconds(), TimeUnit.SECONDS)).isTrue();
            }
        }
    }

    @Test
    void anAttemptDoesNotWaitForAWaiterThatStandsBy() throws Exception {
        try (Lockkeeper holder = connect();
                Lockkeeper waiting = connect()) {
            Lease held = holder.lock("name").acquire();
            CompletableFuture<Lease> waiter = waiting.lock("name").acquireAsync();
            pass(WINDOW); // by now it asks seldom
            long before = scripts();
            assertThat(waiting.lock("name").tryAcquire()).isEmpty();
            assertThat(scripts()).as("it has asked the members").isGreaterThan(before);
            assertThat(held.release()).isTrue();
            Optional<Lease> either = waiting.lock("name").tryAcquire();
            either.ifPresent(Lease::release);
            assertThat(waiter.get(Admin.LONG.toSeconds(), TimeUnit.SECONDS).release())
                    .isTrue();
        }
    }

    private long scripts() {
        return servers.stream()
                .mapToLong(server -> new Admin(server).sent().getOrDefault("evalsha", 0L))
                .sum();
    }

    @Test
    void aDeadHoldersNameIsTakenWhenItsLeaseEnds() throws Exception {
        Duration lease = Duration.ofSeconds(4);
        try (Lockkeeper holder = connect();
                Lockkeeper waiting = connect()) {
            Lease held = holder.lock("name", LockOptions.defaults().fixedLease(lease))
                    .acquire();
            CompletableFuture<Lease> waiter = waiting.lock("name").acquireAsync();
            Lease next = waiter.get(Admin.LONG.toSeconds(), TimeUnit.SECONDS);
            assertThat(held.isValid()).isFalse();
            assertThat(next.token()).isGreaterThan(held.token());
            assertThat(next.release()).isTrue();
        }
    }
}
