// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.lockkeeper.DistributedLock;
import io.lockkeeper.KeeperListener;
import io.lockkeeper.Lease;
import io.lockkeeper.LeaseLost;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.testservers.Direction;
import io.lockkeeper.testservers.TcpProxy;
import io.lockkeeper.testservers.ZooKeeperServer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a server and the network to it can do. */
class FaultsTest {
    private static final Duration LONG = Duration.ofSeconds(60);
    private static final LockOptions LEASE = LockOptions.defaults().lease(Duration.ofMinutes(1));

    private static ZooKeeperServer server;

    @BeforeAll
    static void start() {
        server = ZooKeeperServer.start();
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    private static Lockkeeper.Builder builder(int port, String session, Duration timeout) {
        return Lockkeeper.builder("zookeeper://127.0.0.1:" + port + "?session=" + session)
                .operationTimeout(timeout)
                .patience(Duration.ofSeconds(40));
    }

    private static Lockkeeper keeper(String session) {
        return builder(server.port(), session, Duration.ofSeconds(20)).build();
    }

    private static void awaitWaiters(Lockkeeper keeper, String name, int waiters) {
        await().atMost(LONG)
                .until(() -> keeper.inspector().inspect(name).orElseThrow().waiters() == waiters);
    }

    @Test
    void aHoldAndAWaiterOutliveAServerThatIsKilledAndStartedAgain() throws Exception { // H31
        try (Lockkeeper holder = keeper("60s");
                Lockkeeper other = keeper("60s")) {
            Lease lease = holder.lock("restart", LEASE).acquire();
            CompletableFuture<Lease> waiting = other.lock("restart", LEASE).acquireAsync();
            awaitWaiters(holder, "restart", 1);
            server.kill();
            assertThat(lease.isValid()).isTrue();
            server.restart();
            assertThat(other.lock("restart").tryAcquire()).as("still held").isEmpty();
            assertThat(waiting).isNotDone();
            assertThat(lease.release()).isTrue();
            try (Lease next = waiting.get(LONG.toSeconds(), TimeUnit.SECONDS)) {
                assertThat(next.token()).isGreaterThan(lease.token());
            }
        }
    }

    /** A connection that was accepted and on which nothing comes, as one made while a server starts, is given up before the session is. */
    @Test
    void aHandshakeThatIsNotAnsweredIsTriedAgainAfterTheConnectTimeout() throws Exception {
        try (TcpProxy proxy = TcpProxy.to(server.port());
                Lockkeeper keeper = Lockkeeper.builder(
                                "zookeeper://127.0.0.1:" + proxy.port() + "?session=5m&connectTimeout=500ms")
                        .operationTimeout(Duration.ofSeconds(20))
                        .build()) {
            Lease lease = keeper.lock("handshake", LockOptions.defaults().lease(Duration.ofMinutes(10)))
                    .acquire();
            proxy.drop(Direction.REQUESTS);
            long connections = proxy.connections();
            proxy.reset();
            await().atMost(LONG).until(() -> proxy.connections() >= connections + 3);
            proxy.pass();
            assertThat(lease.release()).isTrue();
        }
    }

    @Test
    void aServerThatIsPausedForLessThanASessionCostsNoHold() throws Exception {
        try (Lockkeeper holder = keeper("60s")) {
            Lease lease = holder.lock("paused", LEASE).acquire();
            server.pause();
            long begun = System.nanoTime();
            try {
                await().atMost(LONG).until(() -> System.nanoTime() - begun > 2_000_000_000L);
                assertThat(lease.isValid()).isTrue();
            } finally {
                server.resume();
            }
            assertThat(lease.release()).isTrue();
            assertThat(holder.inspector().inspect("paused")).isEmpty();
        }
    }

    @Test
    void aServerThatIsAwayIsAnErrorAndNotBusy() throws Exception {
        try (Lockkeeper keeper =
                builder(server.port(), "20s", Duration.ofMillis(500)).build()) {
            DistributedLock lock = keeper.lock("away", LEASE);
            await().atMost(LONG)
                    .ignoreExceptions()
                    .until(() -> lock.tryAcquire().map(Lease::release).orElse(false));
            server.pause();
            try {
                assertThatThrownBy(lock::tryAcquire).isInstanceOf(StoreUnavailableException.class);
            } finally {
                server.resume();
            }
            await().atMost(LONG)
                    .ignoreExceptions()
                    .until(() -> lock.tryAcquire().map(Lease::release).orElse(false));
            await().atMost(LONG).until(() -> keeper.inspector().inspect("away").isEmpty());
        }
    }

    @Test
    void aClaimWhoseAnswerIsLostIsGrantedOnceAndAReleaseReleasesOnce() throws Exception { // H39, H40
        try (TcpProxy proxy = TcpProxy.to(server.port());
                Lockkeeper keeper =
                        builder(proxy.port(), "60s", Duration.ofSeconds(20)).build();
                Lockkeeper other = keeper("60s")) {
            DistributedLock lock = keeper.lock("lost-reply", LEASE);
            lock.acquire().close();
            proxy.drop(Direction.REPLIES);
            CompletableFuture<Lease> claiming = lock.acquireAsync();
            await().atMost(LONG)
                    .until(() -> other.inspector().inspect("lost-reply").isPresent());
            proxy.reset();
            proxy.pass();
            Lease lease = claiming.get(LONG.toSeconds(), TimeUnit.SECONDS);
            assertThat(other.inspector().inspect("lost-reply").orElseThrow().holders())
                    .hasSize(1);
            assertThat(other.inspector().inspect("lost-reply").orElseThrow().waiters())
                    .isZero();
            proxy.drop(Direction.REPLIES);
            CompletableFuture<Boolean> releasing = lease.releaseAsync();
            await().atMost(LONG)
                    .until(() -> other.inspector().inspect("lost-reply").isEmpty());
            Lease theirs = other.lock("lost-reply", LEASE).acquire();
            proxy.reset();
            proxy.pass();
            assertThat(releasing.get(LONG.toSeconds(), TimeUnit.SECONDS)).isTrue();
            assertThat(theirs.isValid()).isTrue();
            assertThat(other.inspector().inspect("lost-reply").orElseThrow().holders())
                    .as("the repeated release has not touched it")
                    .hasSize(1);
            assertThat(theirs.release()).isTrue();
        }
    }

    @Test
    void aClaimThatArrivesAfterItsSenderHasGivenUpLeavesNothing() throws Exception {
        try (TcpProxy proxy = TcpProxy.to(server.port());
                Lockkeeper keeper =
                        builder(proxy.port(), "20s", Duration.ofMillis(500)).build();
                Lockkeeper other = keeper("60s")) {
            DistributedLock lock = keeper.lock("late", LEASE);
            await().atMost(LONG)
                    .ignoreExceptions()
                    .until(() -> lock.tryAcquire().map(Lease::release).orElse(false));
            proxy.hold(Direction.REQUESTS);
            assertThatThrownBy(lock::tryAcquire).isInstanceOf(StoreUnavailableException.class);
            long connections = proxy.connections();
            proxy.pass();
            await().atMost(LONG)
                    .until(() -> other.inspector().inspect("late").isEmpty()
                            && other.lock("late", LEASE)
                                    .tryAcquire()
                                    .map(Lease::release)
                                    .orElse(false));
            assertThat(lock.tryAcquire(LONG).map(Lease::release)).contains(true);
            assertThat(proxy.connections()).isGreaterThanOrEqualTo(connections);
            assertThat(other.inspector().inspect("late")).isEmpty();
        }
    }

    /** Although ZooKeeper knows no leases, and the session would go on for a minute. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void anOverdueHoldIsEvictedByTheNextEvenIfItsClientIsCutOff(boolean capped) throws Exception {
        LockOptions brief = capped
                ? LockOptions.defaults().lease(Duration.ofSeconds(30)).maxHold(Duration.ofSeconds(3))
                : LockOptions.defaults().fixedLease(Duration.ofSeconds(3));
        String name = "overdue-" + capped;
        try (TcpProxy proxy = TcpProxy.to(server.port());
                Lockkeeper holder =
                        builder(proxy.port(), "5m", Duration.ofSeconds(1)).build();
                Lockkeeper other = keeper("60s")) {
            Lease lease = holder.lock(name, brief).acquire();
            CompletableFuture<Boolean> validWhenOtherGotIn = other.lock(name, LEASE)
                    .acquireAsync()
                    .thenApply(next -> {
                        boolean both = lease.isValid();
                        next.release();
                        return both;
                    });
            awaitWaiters(other, name, 1);
            proxy.drop(Direction.REPLIES);
            proxy.drop(Direction.REQUESTS);
            assertThat(validWhenOtherGotIn.get(LONG.toSeconds(), TimeUnit.SECONDS))
                    .isFalse();
            proxy.reset();
            proxy.pass();
            await().atMost(LONG).until(() -> other.inspector().inspect(name).isEmpty());
        }
    }

    @Test
    void aHolderThatIsCutOffIsAtRiskThenLosesItsHoldAndOnlyThenOthersAcquire() throws Exception { // H41
        AtomicInteger atRisk = new AtomicInteger();
        AtomicReference<LeaseLost> told = new AtomicReference<>();
        KeeperListener listener = new KeeperListener() {
            @Override
            public void atRisk(String name, long token, Duration remaining) {
                atRisk.incrementAndGet();
            }
        };
        try (TcpProxy proxy = TcpProxy.to(server.port());
                Lockkeeper holder = builder(proxy.port(), "6s", Duration.ofSeconds(1))
                        .listener(listener)
                        .build();
                Lockkeeper other = keeper("60s")) {
            Lease lease = holder.lock("cut-off", LEASE).acquire().onLost(told::set);
            CompletableFuture<Boolean> validWhenOtherGotIn = other.lock("cut-off", LEASE)
                    .acquireAsync()
                    .thenApply(next -> {
                        boolean both = lease.isValid();
                        next.release();
                        return both;
                    });
            awaitWaiters(other, "cut-off", 1);
            proxy.drop(Direction.REPLIES);
            proxy.drop(Direction.REQUESTS);
            await().atMost(LONG).until(() -> told.get() != null);
            assertThat(told.get().reason()).isIn(LeaseLost.Reason.STORE_UNREACHABLE, LeaseLost.Reason.SESSION_LOST);
            assertThat(validWhenOtherGotIn.get(LONG.toSeconds(), TimeUnit.SECONDS))
                    .as("valid while another has it")
                    .isFalse();
            assertThat(atRisk).hasPositiveValue();
            proxy.reset();
            proxy.pass();
            await().atMost(LONG).ignoreExceptions().until(() -> holder.lock("cut-off", LEASE)
                    .tryAcquire(Duration.ofSeconds(10))
                    .map(Lease::release)
                    .orElse(false));
        }
    }
}
