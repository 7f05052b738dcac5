// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.lockkeeper.KeeperListener;
import io.lockkeeper.Lease;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.testservers.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.exceptions.JedisConnectionException;

/** What a server can be busy with, and what its operator can do to it. */
class ServerStatesTest {
    private static final LockOptions LEASE = LockOptions.defaults().lease(Duration.ofSeconds(30));

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

    /** One that gives a new claim up soon, and a queued one late. */
    private Lockkeeper hasty() {
        return Lockkeeper.builder("redis://" + server.address())
                .operationTimeout(Duration.ofSeconds(2))
                .patience(Duration.ofSeconds(30))
                .build();
    }

    private Lockkeeper steady() {
        return Lockkeeper.builder("redis://" + server.address())
                .operationTimeout(Duration.ofSeconds(20))
                .patience(Duration.ofSeconds(30))
                .build();
    }

    private void awaitWaiter(Lockkeeper keeper, String name) throws Exception {
        Admin.await(
                "it waits", () -> keeper.inspector().inspect(name).orElseThrow().waiters() == 1);
    }

    private static Lease get(CompletableFuture<Lease> waiting) throws Exception {
        return waiting.get(Admin.LONG.toSeconds(), TimeUnit.SECONDS);
    }

    @Test
    void scriptsThatTheServerForgotAreSentAgain() throws Exception { // H35
        ConcurrentLinkedQueue<StoreUnavailableException> failures = new ConcurrentLinkedQueue<>();
        try (Lockkeeper keeper = Lockkeeper.builder("redis://" + server.address())
                        .listener(new KeeperListener() {
                            @Override
                            public void storeDown(StoreUnavailableException e) {
                                failures.add(e);
                            }
                        })
                        .operationTimeout(Duration.ofSeconds(20))
                        .build();
                Lease kept = keeper.lock("kept", LockOptions.defaults().lease(Duration.ofSeconds(1)))
                        .acquire()) {
            for (int i = 0; i < 10; i++) {
                admin.ask("SCRIPT", "FLUSH");
                try (Lease lease = keeper.lock("a").acquire()) {
                    admin.ask("SCRIPT", "FLUSH");
                    assertThat(keeper.inspector().check(lease.sequencer())).isTrue();
                    admin.ask("SCRIPT", "FLUSH");
                }
            }
            admin.resetStatistics();
            Admin.await(
                    "renewals",
                    () -> admin.commands().getOrDefault("evalsha", 0L) > 4 && admin.ask("SCRIPT", "FLUSH") != null);
            assertThat(kept.isValid()).isTrue();
            assertThat(failures).isEmpty();
        }
    }

    @Test
    void aWaiterIsServedThoughItsSubscriptionWasKilled() throws Exception {
        try (Lockkeeper holder = steady();
                Lockkeeper other = steady()) {
            for (int i = 0; i < 5; i++) {
                Lease lease = holder.lock("signal", LEASE).acquire();
                CompletableFuture<Lease> waiting = other.lock("signal", LEASE).acquireAsync();
                awaitWaiter(holder, "signal");
                assertThat((Long) admin.ask("CLIENT", "KILL", "TYPE", "pubsub")).isPositive();
                lease.release(); // nobody is notified, or only one that has just come back
                get(waiting).close();
                Admin.await(
                        "both listen again",
                        () -> admin.text("CLIENT", "LIST", "TYPE", "pubsub")
                                        .lines()
                                        .count()
                                == 2);
            }
        }
    }

    @Test
    void connectionsThatAnOperatorKillsAreReplaced() throws Exception { // H39, H40
        try (Lockkeeper keeper = steady()) {
            long last = 0;
            for (int i = 0; i < 30; i++) {
                CompletableFuture<Void> killing = CompletableFuture.runAsync(this::killAll);
                Lease lease = keeper.lock("killed", LEASE).acquire();
                assertThat(lease.token()).isGreaterThan(last);
                last = lease.token();
                killAll();
                assertThat(lease.release()).isTrue();
                killing.get(Admin.LONG.toSeconds(), TimeUnit.SECONDS);
            }
            assertThat(admin.keys().stream().filter(key -> key.contains("}:n:")))
                    .isEmpty();
        }
    }

    private void killAll() {
        try {
            admin.ask("CLIENT", "KILL", "TYPE", "normal");
        } catch (JedisConnectionException e) {
            // Killed itself, by the same order on another thread.
        }
    }

    @Test
    void aReplicaIsAnErrorForANewClaimAndPassesForAQueuedOne() throws Exception { // H37
        try (RedisServer elsewhere = RedisServer.start();
                Lockkeeper holder = steady();
                Lockkeeper other = hasty()) {
            // What it takes over has the lock, too: as of a moment ago it is the same.
            Lease lease = holder.lock("readonly", LEASE).acquire();
            CompletableFuture<Lease> waiting = other.lock("readonly", LEASE).acquireAsync();
            awaitWaiter(holder, "readonly");
            new Admin(elsewhere).ask("REPLICAOF", server.host(), Integer.toString(server.port()));
            Admin.await(
                    "a copy",
                    () -> new Admin(elsewhere).text("INFO", "replication").contains("master_link_status:up"));
            new Admin(elsewhere).ask("REPLICAOF", "NO", "ONE");
            admin.ask("REPLICAOF", elsewhere.host(), Integer.toString(elsewhere.port()));
            assertThatThrownBy(() -> other.lock("free", LEASE).tryAcquire())
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining("replica");
            assertThat(waiting).isNotDone();
            admin.ask("REPLICAOF", "NO", "ONE");
            assertThat(lease.release()).isTrue();
            get(waiting).close();
        }
    }

    @Test
    void aFullServerSaysSoAndStillTakesReleases() throws Exception { // H34
        try (Lockkeeper keeper = hasty()) {
            Lease lease = keeper.lock("full", LEASE).acquire();
            CompletableFuture<Lease> waiting =
                    keeper.lock("full", LEASE.fair(true)).acquireAsync();
            awaitWaiter(keeper, "full");
            admin.ask("CONFIG", "SET", "maxmemory", "1");
            assertThatThrownBy(() -> keeper.lock("more", LEASE).tryAcquire())
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining("full")
                    .hasMessageContaining("OOM");
            assertThat(lease.release()).as("what makes room is allowed").isTrue();
            admin.ask("CONFIG", "SET", "maxmemory", "0");
            get(waiting).close();
            keeper.lock("more", LEASE).acquire().close();
        }
    }

    /** What is held, and what is handed over, needs no room that was not there before. */
    @Test
    void aFullServerKeepsWhatIsHeldAndHandsItOver() throws Exception { // H34
        LockOptions brief = LockOptions.defaults().lease(Duration.ofSeconds(2));
        try (Lockkeeper keeper = hasty();
                Lockkeeper other = hasty()) {
            Lease alone = keeper.lock("alone", brief).acquire();
            Lease awaited = keeper.lock("awaited", brief).acquire();
            List<Lease> permits = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                permits.add(keeper.semaphore("permits", 5, brief).acquire());
            }
            CompletableFuture<Lease> waiting = other.lock("awaited", brief).acquireAsync();
            awaitWaiter(keeper, "awaited");
            admin.ask("CONFIG", "SET", "maxmemory", "1");
            try {
                long until = System.nanoTime() + Duration.ofSeconds(5).toNanos();
                Admin.await("two leases are over", () -> System.nanoTime() - until >= 0);
                assertThat(alone.isValid()).isTrue();
                assertThat(permits).allMatch(Lease::isValid);
                assertThat(awaited.release()).isTrue();
                try (Lease next = get(waiting)) {
                    assertThat(next.token()).isGreaterThan(awaited.token());
                }
                assertThat(alone.release()).isTrue();
                assertThat(permits).allMatch(Lease::release);
            } finally {
                admin.ask("CONFIG", "SET", "maxmemory", "0");
            }
        }
    }

    @Test
    void aServerThatIsBusyWithAScriptIsAnErrorForANewClaimAndPasses() throws Exception { // H36
        try (Lockkeeper holder = steady();
                Lockkeeper other = hasty()) {
            Lease lease = holder.lock("busy", LEASE).acquire();
            CompletableFuture<Lease> waiting = other.lock("busy", LEASE).acquireAsync();
            awaitWaiter(holder, "busy");
            admin.ask("CONFIG", "SET", "busy-reply-threshold", "50");
            CompletableFuture<Throwable> endless = CompletableFuture.supplyAsync(
                    () -> catchThrowable(() -> admin.ask("EVAL", "while true do end", "0")));
            try {
                Admin.await("it is busy", () -> {
                    Throwable failure = catchThrowable(
                            () -> other.lock("free", LEASE).tryAcquire().map(Lease::release));
                    return failure instanceof StoreUnavailableException
                            && String.valueOf(failure.getMessage()).contains("BUSY");
                });
            } finally {
                admin.ask("SCRIPT", "KILL");
            }
            assertThat(endless.get(Admin.LONG.toSeconds(), TimeUnit.SECONDS)).isNotNull();
            assertThat(waiting).isNotDone();
            assertThat(lease.isValid()).isTrue();
            lease.release();
            get(waiting).close();
        }
    }

    @Test
    void aServerThatIsLoadingItsDataIsAnErrorForANewClaimAndPasses() throws Exception { // H36
        server.close();
        server = RedisServer.start("--enable-debug-command", "yes", "--loading-process-events-interval-bytes", "1024");
        admin = new Admin(server);
        try (Lockkeeper holder = steady();
                Lockkeeper other = hasty()) {
            Lease lease = holder.lock("loading", LEASE).acquire();
            CompletableFuture<Lease> waiting = other.lock("loading", LEASE).acquireAsync();
            awaitWaiter(holder, "loading");
            admin.ask("EVAL", "for i = 1, 800 do redis.call('SET', 'x' .. i, string.rep(tostring(i), 100)) end", "0");
            admin.ask("CONFIG", "SET", "key-load-delay", "10000"); // eight seconds in all
            CompletableFuture<Object> loading = CompletableFuture.supplyAsync(() -> admin.ask("DEBUG", "RELOAD"));
            Admin.await("it is loading", () -> {
                Throwable failure = catchThrowable(
                        () -> other.lock("free", LEASE).tryAcquire().map(Lease::release));
                return failure instanceof StoreUnavailableException
                        && String.valueOf(failure.getMessage()).contains("LOADING");
            });
            assertThat(waiting).isNotDone();
            loading.get(Admin.LONG.toSeconds(), TimeUnit.SECONDS);
            assertThat(lease.isValid()).isTrue();
            assertThat(lease.release()).isTrue();
            get(waiting).close();
        }
    }

    @Test
    void whatIsKeptOnDiskOutlivesAServerThatIsKilled() throws Exception { // H31
        server.close();
        server = RedisServer.start("--appendonly", "yes", "--appendfsync", "always");
        admin = new Admin(server);
        try (Lockkeeper holder = steady();
                Lockkeeper other = steady()) {
            Lease lease = holder.lock("kept", LEASE).acquire();
            CompletableFuture<Lease> waiting = other.lock("kept", LEASE).acquireAsync();
            awaitWaiter(holder, "kept");
            server.kill();
            assertThat(lease.isValid()).isTrue();
            server.restart();
            assertThat(other.lock("kept").tryAcquire()).as("still held").isEmpty();
            assertThat(waiting).isNotDone();
            assertThat(lease.release()).isTrue();
            try (Lease next = get(waiting)) {
                assertThat(next.token()).isGreaterThan(lease.token());
            }
        }
    }
}
