// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.lockkeeper.Lease;
import io.lockkeeper.LeaseLost;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.spi.LockStore;
import io.lockkeeper.spi.StoreUrl;
import io.lockkeeper.tck.Tier;
import io.lockkeeper.testservers.TcpProxy;
import io.lockkeeper.testservers.ZooKeeperEnsemble;
import io.lockkeeper.testservers.ZooKeeperServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** An ensemble of three, and what can happen to its members. */
class EnsembleTest {
    private static final Duration LONG = Duration.ofSeconds(90);
    private static final LockOptions LEASE = LockOptions.defaults().lease(Duration.ofMinutes(2));

    private static ZooKeeperEnsemble ensemble;

    @BeforeAll
    static void start() {
        ensemble = ZooKeeperEnsemble.start();
    }

    @AfterAll
    static void stop() {
        ensemble.close();
    }

    /** Every member serves again, for the next test. */
    @AfterEach
    void awaitAll() {
        await().atMost(LONG).until(() -> ensemble.members().stream()
                .allMatch(member -> member.ask("srvr").contains("Mode:")));
    }

    private static Lockkeeper keeper(String servers, String session) {
        return Lockkeeper.builder("zookeeper://" + servers + "?session=" + session)
                .operationTimeout(Duration.ofSeconds(20))
                .patience(Duration.ofSeconds(60))
                .build();
    }

    private static void awaitWaiter(Lockkeeper keeper, String name) {
        await().atMost(LONG)
                .until(() -> keeper.inspector().inspect(name).orElseThrow().waiters() == 1);
    }

    @Test
    void holdsAndWaitersOutliveTheEndOfTheLeader() throws Exception {
        try (Lockkeeper holder = keeper(ensemble.addresses(), "60s");
                Lockkeeper other = keeper(ensemble.addresses(), "60s")) {
            Lease lease = holder.lock("leader", LEASE).acquire();
            CompletableFuture<Lease> waiting = other.lock("leader", LEASE).acquireAsync();
            awaitWaiter(holder, "leader");
            ZooKeeperServer leader = ensemble.leader();
            leader.kill();
            assertThat(lease.isValid()).isTrue();
            await().atMost(LONG)
                    .until(() -> ensemble.members().stream().anyMatch(member -> member != leader && member.leads()));
            assertThat(waiting).isNotDone();
            assertThat(lease.isValid()).isTrue();
            assertThat(lease.release()).isTrue();
            try (Lease next = waiting.get(LONG.toSeconds(), TimeUnit.SECONDS)) {
                assertThat(next.token()).as("of a later epoch").isGreaterThan(lease.token());
            }
            leader.restart();
        }
    }

    @Test
    void holdsAndWaitersOutliveALeaderThatIsStopped() throws Exception {
        try (Lockkeeper holder = keeper(ensemble.addresses(), "30s");
                Lockkeeper other = keeper(ensemble.addresses(), "30s")) {
            Lease lease = holder.lock("stopped", LEASE).acquire();
            CompletableFuture<Lease> waiting = other.lock("stopped", LEASE).acquireAsync();
            awaitWaiter(holder, "stopped");
            ZooKeeperServer leader = ensemble.leader();
            leader.pause();
            try {
                await().atMost(LONG).until(() -> ensemble.members().stream()
                        .anyMatch(member -> member != leader && member.leads()));
                assertThat(waiting).isNotDone();
                assertThat(lease.isValid()).isTrue();
                releaseWhenReachable(lease);
                try (Lease next = waiting.get(LONG.toSeconds(), TimeUnit.SECONDS)) {
                    assertThat(next.token()).isGreaterThan(lease.token());
                }
            } finally {
                leader.resume();
            }
        }
    }

    /** The client was with the member that has gone: it goes to another, in the same session. */
    @Test
    void holdsAndWaitersOutliveAFollowerThatIsKilled() throws Exception {
        ZooKeeperServer follower = ensemble.follower();
        String elsewhere = ensemble.leader().address();
        try (Lockkeeper holder = keeper(follower.address() + "," + elsewhere, "60s");
                Lockkeeper other = keeper(follower.address() + "," + elsewhere, "60s")) {
            Lease lease = holder.lock("killed", LEASE).acquire();
            CompletableFuture<Lease> waiting = other.lock("killed", LEASE).acquireAsync();
            awaitWaiter(holder, "killed");
            follower.kill();
            assertThat(lease.isValid()).isTrue();
            releaseWhenReachable(lease);
            try (Lease next = waiting.get(LONG.toSeconds(), TimeUnit.SECONDS)) {
                assertThat(next.token()).isGreaterThan(lease.token());
            }
            follower.restart();
        }
    }

    /** A release that meets the fault is repeated in the background: the next grant shows that it has been carried out. */
    private static void releaseWhenReachable(Lease lease) {
        try {
            assertThat(lease.release()).isTrue();
        } catch (StoreUnavailableException e) {
            assertThat(lease.isValid()).isFalse();
        }
    }

    @Test
    void holdsOutliveARestartOfTheWholeEnsemble() throws Exception {
        try (Lockkeeper holder = keeper(ensemble.addresses(), "60s")) {
            Lease lease = holder.lock("all", LEASE).acquire();
            ensemble.members().forEach(ZooKeeperServer::kill);
            CompletableFuture.allOf(ensemble.members().stream()
                            .map(member ->
                                    CompletableFuture.runAsync(member::restart, task -> new Thread(task).start()))
                            .toArray(CompletableFuture[]::new))
                    .get(LONG.toSeconds(), TimeUnit.SECONDS);
            assertThat(lease.isValid()).isTrue();
            assertThat(lease.release()).isTrue();
            long before = lease.token();
            try (Lease next = holder.lock("all", LEASE).acquire()) {
                assertThat(next.token()).isGreaterThan(before);
            }
        }
    }

    /** How much one session may have: its end is one message between the servers. */
    @Test
    void aClientWithTooManyHoldsIsRefusedAndTheEnsembleOutlivesItsEnd() throws Exception { // H82
        // Long names fill a session quickly: each byte that is no letter takes three.
        String name = Tier.current() == Tier.CHECK ? "ä".repeat(250) : "a";
        try (Lockkeeper other = keeper(ensemble.addresses(), "20s")) {
            StoreUrl url = StoreUrl.parse("zookeeper://" + ensemble.addresses() + "?session=20s&operationTimeout=10s");
            // Closing the store alone ends the session, with all that is held in it.
            try (LockStore store = new ZooKeeperProvider().open(url)) {
                Lockkeeper keeper = Lockkeeper.on(store);
                List<Lease> leases = new ArrayList<>();
                assertThatThrownBy(() -> {
                            for (int i = 0; i < 100_000; i++) {
                                leases.add(keeper.lock(name + i, LEASE).acquire());
                            }
                        })
                        .isInstanceOf(StoreUnavailableException.class)
                        .hasMessageContaining("holds and waiters in its ZooKeeper session")
                        .hasMessageContaining("several keepers");
                assertThat(leases).hasSizeGreaterThan(Tier.current() == Tier.CHECK ? 400 : 5_000);
                assertThat(leases.remove(0).release()).isTrue();
                leases.add(keeper.lock(name, LEASE).acquire());
                assertThat(leases).allMatch(Lease::isValid);
                assertThat(other.lock("beside").tryAcquire().map(Lease::release))
                        .contains(true);
            }
            assertThat(other.lock(name + 1).tryAcquire(Duration.ofMinutes(1)).map(Lease::release))
                    .as("after a session with as much as it may have has ended")
                    .contains(true);
        }
    }

    /** A leader without followers continues to answer for a while, though others may have a leader: that is no sign of life. */
    @Test
    void aHolderAtALeaderWithoutAQuorumLosesItsHoldThoughThatAnswers() throws Exception { // H70
        ZooKeeperServer leader = ensemble.leader();
        try (Lockkeeper holder = keeper(leader.address(), "2s")) {
            Lease lease = holder.lock("isolated", LEASE).acquire();
            List<ZooKeeperServer> followers =
                    ensemble.members().stream().filter(m -> m != leader).toList();
            followers.forEach(ZooKeeperServer::pause);
            try {
                await().atMost(LONG).until(() -> !lease.isValid());
                assertThat(leader.leads())
                        .as("it still takes itself for the leader")
                        .isTrue();
            } finally {
                followers.forEach(ZooKeeperServer::resume);
            }
        }
    }

    /** Its follower is stopped, as if cut off: the leader ends the session, and the holder must know before others get in. */
    @Test
    void aHolderAtAFollowerThatIsStoppedLosesItsHoldBeforeOthersAcquire() throws Exception {
        ZooKeeperServer follower = ensemble.follower();
        try (TcpProxy proxy = TcpProxy.to(follower.port());
                Lockkeeper holder = keeper("127.0.0.1:" + proxy.port(), "6s");
                Lockkeeper other = keeper(ensemble.leader().address(), "60s")) {
            AtomicReference<LeaseLost> told = new AtomicReference<>();
            Lease lease = holder.lock("follower", LEASE).acquire().onLost(told::set);
            CompletableFuture<Boolean> bothValid = other.lock("follower", LEASE)
                    .acquireAsync()
                    .thenApply(next -> {
                        boolean valid = lease.isValid();
                        next.release();
                        return valid;
                    });
            awaitWaiter(other, "follower");
            follower.pause();
            try {
                assertThat(bothValid.get(LONG.toSeconds(), TimeUnit.SECONDS)).isFalse();
                assertThat(told.get()).isNotNull();
            } finally {
                follower.resume();
            }
        }
    }
}
