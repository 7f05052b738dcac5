// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.lockkeeper.DistributedLock;
import io.lockkeeper.KeeperClosedException;
import io.lockkeeper.Lease;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.tck.Tier;
import io.lockkeeper.testservers.Direction;
import io.lockkeeper.testservers.TcpProxy;
import io.lockkeeper.testservers.ZooKeeperServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** How long a session lasts for its client, and what those do who need one. */
class SessionLifeTest {
    private static final Duration LONG = Duration.ofSeconds(60);
    private static final LockOptions LEASE = LockOptions.defaults().lease(Duration.ofMinutes(2));

    private static ZooKeeperServer server;

    @BeforeAll
    static void start() {
        server = ZooKeeperServer.start();
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    private static Lockkeeper keeper(int port, String session, Duration timeout) {
        return Lockkeeper.builder("zookeeper://127.0.0.1:" + port + "?session=" + session)
                .operationTimeout(timeout)
                .build();
    }

    private static void pass(Duration time) {
        long begun = System.nanoTime();
        await().atMost(LONG).until(() -> System.nanoTime() - begun > time.toNanos());
    }

    /** Twelve clients, each at another point between two signs of life. */
    @Test
    void aStallOfHalfASessionCostsNoHold() throws Exception { // H71
        Duration session = Duration.ofSeconds(20);
        List<Lockkeeper> keepers = new ArrayList<>();
        try {
            List<Lease> leases = new ArrayList<>();
            for (int i = 0; i < 12; i++) {
                keepers.add(keeper(server.port(), "20s", Duration.ofSeconds(4)));
                leases.add(keepers.get(i).lock("stall-" + i, LEASE).acquire());
                pass(session.dividedBy(12 * 11));
            }
            int stalls = Tier.pick(1, 4);
            for (int i = 0; i < stalls; i++) {
                pass(session.dividedBy(3)); // so that nothing is left of how the sessions began
                server.pause();
                pass(session.dividedBy(2));
                server.resume();
                pass(session.dividedBy(10));
                assertThat(leases).as("valid after a stall").allMatch(Lease::isValid);
            }
            leases.forEach(lease -> assertThat(lease.release()).isTrue());
        } finally {
            keepers.forEach(Lockkeeper::close);
        }
    }

    @Test
    void threadsThatNeedASessionWaitTogetherAndNotInTurn() throws Exception { // H62
        Duration timeout = Duration.ofMillis(500);
        int threads = 20;
        try (TcpProxy proxy = TcpProxy.to(server.port())) {
            proxy.refuse();
            Lockkeeper keeper = keeper(proxy.port(), "10s", timeout);
            long begun = System.nanoTime();
            List<CompletableFuture<Void>> trying = new ArrayList<>();
            for (int i = 0; i < threads; i++) {
                String name = "away-" + i;
                trying.add(CompletableFuture.runAsync(
                        () -> assertThatThrownBy(() -> keeper.lock(name).tryAcquire())
                                .isInstanceOf(StoreUnavailableException.class),
                        task -> new Thread(task, name).start()));
            }
            for (CompletableFuture<Void> each : trying) {
                each.get(LONG.toSeconds(), TimeUnit.SECONDS);
            }
            assertThat(System.nanoTime() - begun)
                    .as("in turn it would be " + threads + " timeouts")
                    .isLessThan(timeout.multipliedBy(threads / 2).toNanos());
            CompletableFuture<Lease> waiting = keeper.lock("away").acquireAsync();
            long closing = System.nanoTime();
            keeper.close();
            assertThat(System.nanoTime() - closing)
                    .isLessThan(timeout.multipliedBy(threads / 2).toNanos());
            assertThatThrownBy(() -> waiting.get(LONG.toSeconds(), TimeUnit.SECONDS))
                    .cause()
                    .isInstanceOfAny(KeeperClosedException.class, StoreUnavailableException.class);
        }
    }

    /** A server that is stopped under a session that lives: each call ends by its own timeout, however many there are. */
    @Test
    void manyThreadsAtAServerThatIsStoppedWaitNoLongerThanOne() throws Exception { // H62
        Duration timeout = Duration.ofSeconds(1);
        try (ZooKeeperServer stopped = ZooKeeperServer.start()) {
            try {
                long one = slowest(stopped, 1, timeout);
                long many = slowest(stopped, 20, timeout);
                assertThat(one).isLessThan(timeout.multipliedBy(5).toNanos());
                assertThat(many).isLessThan(one + timeout.multipliedBy(2).toNanos());
            } finally {
                stopped.resume();
            }
        }
    }

    /** How long the slowest of that many calls takes, or the end of their keeper. */
    private static long slowest(ZooKeeperServer stopped, int threads, Duration timeout) throws Exception {
        Lockkeeper keeper = keeper(stopped.port(), "20s", timeout);
        List<Callable<Object>> calls = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            Lease held = keeper.lock("held-" + threads + "-" + i, LEASE)
                    .tryAcquire(LONG)
                    .orElseThrow();
            DistributedLock lock = keeper.lock("free-" + threads + "-" + i);
            lock.tryAcquire(LONG).orElseThrow().close(); // so that all threads and connections are there
            calls.add(
                    switch (i % 4) {
                        case 0 -> lock::tryAcquire;
                        case 1 -> lock::acquire;
                        case 2 -> held::release;
                        default -> () -> keeper.inspector().inspect(held.name());
                    });
        }
        stopped.pause();
        try {
            CountDownLatch gate = new CountDownLatch(1);
            List<CompletableFuture<Long>> ended = new ArrayList<>();
            for (Callable<Object> call : calls) {
                ended.add(CompletableFuture.supplyAsync(
                        () -> {
                            long begun = begin(gate);
                            assertThatThrownBy(call::call).isInstanceOf(StoreUnavailableException.class);
                            return System.nanoTime() - begun;
                        },
                        task -> new Thread(task, "caller").start()));
            }
            gate.countDown();
            long slowest = 0;
            for (CompletableFuture<Long> each : ended) {
                slowest = Math.max(slowest, each.get(LONG.toSeconds(), TimeUnit.SECONDS));
            }
            long closing = System.nanoTime();
            keeper.close();
            long closed = System.nanoTime() - closing;
            System.out.println("at a stopped server, " + threads + " at once: the slowest call took "
                    + slowest / 1_000_000 + " ms, the end of the keeper " + closed / 1_000_000 + " ms");
            return Math.max(slowest, closed);
        } finally {
            stopped.resume();
        }
    }

    private static long begin(CountDownLatch gate) {
        try {
            assertThat(gate.await(LONG.toSeconds(), TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        return System.nanoTime();
    }

    /** Clients that were killed ahead in the queue go together with their sessions: the queue stalls for one session, not for each. */
    @Test
    void killedClientsAheadStallTheQueueForOneSession() throws Exception { // H66, H116
        Duration session = Duration.ofSeconds(8);
        int killed = 4;
        List<Lockkeeper> dying = new ArrayList<>();
        try (TcpProxy proxy = TcpProxy.to(server.port());
                Lockkeeper holder = keeper(server.port(), "60s", Duration.ofSeconds(20));
                Lockkeeper alive = keeper(server.port(), "60s", Duration.ofSeconds(20))) {
            Lease held = holder.lock("killed", LEASE).acquire();
            for (int i = 0; i < killed; i++) {
                dying.add(keeper(proxy.port(), "8s", Duration.ofSeconds(2)));
                dying.get(i).lock("killed", LEASE.fair(true)).acquireAsync();
                dying.get(i).lock("killed", LEASE.fair(true)).acquireAsync();
                int waiters = 2 * (i + 1);
                await().atMost(LONG)
                        .until(() -> holder.inspector()
                                        .inspect("killed")
                                        .orElseThrow()
                                        .waiters()
                                == waiters);
            }
            CompletableFuture<Lease> waiting = alive.lock("killed", LEASE).acquireAsync();
            await().atMost(LONG)
                    .until(() ->
                            holder.inspector().inspect("killed").orElseThrow().waiters() == 2 * killed + 1);
            proxy.drop(Direction.REQUESTS);
            proxy.drop(Direction.REPLIES);
            long begun = System.nanoTime();
            assertThat(held.release()).isTrue();
            Lease lease = waiting.get(LONG.toSeconds(), TimeUnit.SECONDS);
            assertThat(System.nanoTime() - begun)
                    .as("one after the other it would be " + killed + " sessions")
                    .isLessThan(session.multipliedBy(killed - 1).toNanos());
            assertThat(lease.release()).isTrue();
            proxy.pass(); // so that they can be closed
            dying.forEach(Lockkeeper::close);
        }
    }
}
