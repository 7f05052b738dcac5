// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.lockkeeper.DistributedReadWriteLock;
import io.lockkeeper.Lease;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.testservers.Direction;
import io.lockkeeper.testservers.TcpProxy;
import io.lockkeeper.testservers.ZooKeeperServer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** A client that was disconnected is not notified of what happened meanwhile: after that a listing decides, never a watch. */
class ReconnectTest {
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

    private static Lockkeeper keeper(int port) {
        // So patient that nobody looks at a queue by itself, but for what a reconnect brings about.
        return Lockkeeper.builder("zookeeper://127.0.0.1:" + port + "?session=60s")
                .operationTimeout(Duration.ofSeconds(20))
                .patience(Duration.ofMinutes(10))
                .build();
    }

    private static void awaitWaiter(Lockkeeper keeper, String name) {
        await().atMost(LONG)
                .until(() -> keeper.inspector().inspect(name).orElseThrow().waiters() == 1);
    }

    private static void disconnect(TcpProxy proxy) {
        proxy.refuse();
        proxy.reset();
        await().atMost(LONG).until(() -> proxy.openConnections() == 0);
    }

    @Test
    void aDowngradeThatAWaitingWriterDidNotSeeDoesNotAdmitIt() throws Exception { // H67
        try (TcpProxy proxy = TcpProxy.to(server.port());
                Lockkeeper holder = keeper(server.port());
                Lockkeeper waiter = keeper(proxy.port())) {
            DistributedReadWriteLock lock = holder.readWriteLock("downgraded", LEASE);
            lock.writeLock().lock();
            CompletableFuture<Lease> writing =
                    waiter.readWriteLock("downgraded", LEASE).writeLock().acquireAsync();
            awaitWaiter(holder, "downgraded");
            disconnect(proxy);
            lock.readLock().lock();
            lock.writeLock().unlock();
            Lease reading = lock.readLock().lease();
            proxy.pass();
            // It has looked again when it watches the reader's node.
            await().atMost(LONG)
                    .until(() -> writing.isDone() || server.ask("wchp").contains("/S_"));
            assertThat(writing).as("a writer while a reader holds it").isNotDone();
            assertThat(reading.isValid()).isTrue();
            lock.readLock().unlock();
            assertThat(writing.get(LONG.toSeconds(), TimeUnit.SECONDS).release())
                    .isTrue();
        }
    }

    /** The hold is lost, because nobody knows what it is; what is left of it must not keep others out as long as the session lives. */
    @Test
    void aDowngradeWhoseAnswerDoesNotComeLeavesNothing() throws Exception { // H68, H73
        try (TcpProxy proxy = TcpProxy.to(server.port());
                Lockkeeper other = keeper(server.port());
                Lockkeeper holder = Lockkeeper.builder("zookeeper://127.0.0.1:" + proxy.port() + "?session=8s")
                        .operationTimeout(Duration.ofMillis(500))
                        .build()) {
            LockOptions lease = LockOptions.defaults().lease(Duration.ofSeconds(20)); // kept by the session
            DistributedReadWriteLock lock = holder.readWriteLock("halfway", lease);
            lock.writeLock().lock();
            lock.readLock().lock();
            proxy.hold(Direction.REPLIES);
            assertThatThrownBy(() -> lock.writeLock().unlock()).isInstanceOf(StoreUnavailableException.class);
            proxy.pass();
            assertThatThrownBy(() -> lock.readLock().unlock()).isInstanceOf(IllegalMonitorStateException.class);
            Lease next = other.lock("halfway", LEASE).tryAcquire(LONG).orElseThrow();
            assertThat(next.release()).isTrue();
        }
    }

    @Test
    void theLockDelayOfABreakThatAWaiterDidNotSeeKeepsItOut() throws Exception { // H67
        try (TcpProxy proxy = TcpProxy.to(server.port());
                Lockkeeper holder = keeper(server.port());
                Lockkeeper waiter = keeper(proxy.port())) {
            Lease held = holder.lock("broken", LEASE).acquire();
            CompletableFuture<Lease> waiting = waiter.lock("broken", LEASE).acquireAsync();
            awaitWaiter(holder, "broken");
            disconnect(proxy);
            Duration delay = Duration.ofSeconds(4);
            assertThat(holder.inspector().breakHold("broken", held.token(), delay))
                    .isTrue();
            await().atMost(LONG).until(() -> !held.isValid());
            await().atMost(LONG).until(() -> holder.inspector()
                    .inspect("broken")
                    .filter(info ->
                            info.holders().isEmpty() && !info.closedFor().isZero())
                    .isPresent());
            long closed = System.nanoTime();
            proxy.pass();
            Lease next = waiting.get(LONG.toSeconds(), TimeUnit.SECONDS);
            assertThat(System.nanoTime() - closed)
                    .as("how long the name stayed closed")
                    .isGreaterThan(delay.dividedBy(2).toNanos());
            assertThat(next.release()).isTrue();
        }
    }

    @Test
    void aWaiterWhoseTurnCameWhileItWasAwayAcquires() throws Exception {
        try (TcpProxy proxy = TcpProxy.to(server.port());
                Lockkeeper holder = keeper(server.port());
                Lockkeeper waiter = keeper(proxy.port())) {
            Lease held = holder.lock("turn", LEASE).acquire();
            CompletableFuture<Lease> waiting = waiter.lock("turn", LEASE).acquireAsync();
            awaitWaiter(holder, "turn");
            disconnect(proxy);
            assertThat(held.release()).isTrue();
            proxy.pass();
            Lease next = waiting.get(LONG.toSeconds(), TimeUnit.SECONDS);
            assertThat(next.token()).isGreaterThan(held.token());
            assertThat(next.release()).isTrue();
        }
    }
}
