// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lockkeeper.DistributedLock;
import io.lockkeeper.Lease;
import io.lockkeeper.LeaseLostException;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.spi.StoreUrl;
import io.lockkeeper.testservers.Direction;
import io.lockkeeper.testservers.LocalServer;
import io.lockkeeper.testservers.TcpProxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** What a server and the network to it can do, to this class's own server. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class ServerFaults {
    private static final Duration LONG = Duration.ofSeconds(40);
    private static final LockOptions LEASE = LockOptions.defaults().lease(Duration.ofSeconds(20));

    private LocalServer server;

    abstract LocalServer start();

    abstract String url(int port);

    @BeforeAll
    void startServer() {
        server = start();
    }

    @AfterAll
    void closeServer() {
        server.close();
    }

    LocalServer server() {
        return server;
    }

    /** Opens a store; on a busy machine that may take longer than its steps may. */
    static SqlStore open(String url, String operationTimeout) {
        long deadline = System.nanoTime() + LONG.toNanos();
        while (true) {
            try {
                return (SqlStore)
                        new SqlProvider().open(StoreUrl.parse(Db.with(url, "operationTimeout=" + operationTimeout)));
            } catch (StoreUnavailableException e) {
                if (!e.worthRepeating() || System.nanoTime() > deadline) {
                    throw e;
                }
            }
        }
    }

    static Lockkeeper keeper(SqlStore store, Duration operationTimeout) {
        return Lockkeeper.builder(store)
                .operationTimeout(operationTimeout)
                .patience(Duration.ofSeconds(30))
                .build();
    }

    static void await(String what, BooleanSupplier condition) throws InterruptedException {
        long deadline = System.nanoTime() + LONG.toNanos();
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime()).as("in time: " + what).isLessThan(deadline);
            TimeUnit.MILLISECONDS.sleep(5);
        }
    }

    /** Gives something time to happen that need not. */
    private static void awaitOr(Duration most, BooleanSupplier condition) throws InterruptedException {
        long deadline = System.nanoTime() + most.toNanos();
        while (!condition.getAsBoolean() && System.nanoTime() < deadline) {
            TimeUnit.MILLISECONDS.sleep(5);
        }
    }

    @Test
    void aHoldAndAWaiterOutliveAServerThatIsKilledAndStartedAgain() throws Exception { // H31
        try (SqlStore a = open(url(server.port()), "1s");
                SqlStore b = open(url(server.port()), "1s");
                Lockkeeper holder = keeper(a, Duration.ofSeconds(20));
                Lockkeeper other = keeper(b, Duration.ofSeconds(20))) {
            Lease lease = holder.lock("restart", LEASE).acquire();
            CompletableFuture<Lease> waiting = other.lock("restart", LEASE).acquireAsync();
            await(
                    "it waits",
                    () -> holder.inspector().inspect("restart").orElseThrow().waiters() == 1);
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

    /** Looks at everybody that acquires the lock. */
    private static final class Witness {
        private final Map<String, Lease> inside = new HashMap<>();
        private final Map<String, Long> tokens = new HashMap<>();
        private final List<String> faults = new ArrayList<>();
        private int entries;

        synchronized void enter(Lease lease) {
            Lease other = inside.put(lease.name(), lease);
            if (other != null && other.isValid()) {
                faults.add(lease + " came in while " + other + " was there");
            }
            Long before = tokens.put(lease.name(), lease.token());
            if (before != null && before >= lease.token()) {
                faults.add(lease + " came after token " + before);
            }
            entries++;
        }

        synchronized void leave(Lease lease) {
            inside.remove(lease.name(), lease);
        }

        synchronized int entries() {
            return entries;
        }

        synchronized List<String> faults() {
            return List.copyOf(faults);
        }
    }

    @Test
    void holdsExcludeEachOtherAndTokensRiseWhenTheServerIsKilledUnderLoad() throws Exception { // H31, H32
        LockOptions brief = LockOptions.defaults().lease(Duration.ofSeconds(2));
        Witness witness = new Witness();
        AtomicBoolean stopped = new AtomicBoolean();
        List<CompletableFuture<Void>> threads = new ArrayList<>();
        ExecutorService pool = Executors.newCachedThreadPool();
        try (SqlStore a = open(url(server.port()), "1s");
                SqlStore b = open(url(server.port()), "1s");
                Lockkeeper first = keeper(a, Duration.ofSeconds(1));
                Lockkeeper second = keeper(b, Duration.ofSeconds(1))) {
            for (int i = 0; i < 6; i++) {
                DistributedLock lock = (i % 2 == 0 ? first : second).lock("load" + i / 4, brief);
                threads.add(CompletableFuture.runAsync(() -> takeInTurn(lock, witness, stopped), pool));
            }
            for (int kill = 0; kill < 3; kill++) {
                int before = witness.entries();
                await("they acquire", () -> witness.entries() > before + 50);
                server.kill();
                server.restart();
            }
            int before = witness.entries();
            await("they acquire", () -> witness.entries() > before + 50);
            stopped.set(true);
            CompletableFuture.allOf(threads.toArray(CompletableFuture[]::new)).get(LONG.toSeconds(), TimeUnit.SECONDS);
        } finally {
            stopped.set(true);
            pool.shutdown();
        }
        assertThat(witness.faults()).isEmpty();
    }

    private static void takeInTurn(DistributedLock lock, Witness witness, AtomicBoolean stopped) {
        while (!stopped.get()) {
            try (Lease lease = lock.acquire()) {
                witness.enter(lease);
                witness.leave(lease);
            } catch (StoreUnavailableException | LeaseLostException e) {
                // That is the right answer while the server is away.
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }
    }

    @Test
    void aServerThatIsAwayIsAnErrorAndNotBusy() throws Exception {
        try (SqlStore store = open(url(server.port()), "500ms");
                Lockkeeper keeper = keeper(store, Duration.ofMillis(500))) {
            // With a short lease: a server that is killed may forget a release, which PostgreSQL need not have written
            // yet.
            DistributedLock lock = keeper.lock("away", LockOptions.defaults().lease(Duration.ofSeconds(1)));
            lock.acquire().close();
            server.kill();
            try {
                assertThatThrownBy(() -> lock.tryAcquire()).isInstanceOf(StoreUnavailableException.class);
            } finally {
                server.restart();
            }
            await("it is back", () -> {
                try {
                    return lock.tryAcquire().map(Lease::release).orElse(false);
                } catch (StoreUnavailableException e) {
                    return false;
                }
            });
        }
    }

    @Test
    void aClaimWhoseReplyIsLostIsGrantedOnce() throws Exception { // H39
        try (TcpProxy proxy = TcpProxy.to(server.port());
                SqlStore near = open(url(server.port()), "1s");
                SqlStore far = open(url(proxy.port()), "1s");
                Lockkeeper look = keeper(near, Duration.ofSeconds(20));
                Lockkeeper keeper = keeper(far, Duration.ofSeconds(20))) {
            keeper.lock("warm").acquire().close();
            proxy.drop(Direction.REPLIES);
            CompletableFuture<Lease> acquiring =
                    keeper.lock("lost reply", LEASE).acquireAsync();
            await("it was carried out", () -> look.lock("lost reply").isLocked());
            long token = look.inspector()
                    .inspect("lost reply")
                    .orElseThrow()
                    .holders()
                    .get(0)
                    .token();
            proxy.pass();
            Lease lease = acquiring.get(LONG.toSeconds(), TimeUnit.SECONDS);
            assertThat(lease.token()).as("the same grant").isEqualTo(token);
            assertThat(look.inspector().inspect("lost reply").orElseThrow().holders())
                    .hasSize(1);
            lease.release();

            Lease next = keeper.lock("lost reply", LEASE).acquire();
            proxy.drop(Direction.REPLIES);
            CompletableFuture<Boolean> releasing = next.releaseAsync();
            awaitOr(Duration.ofSeconds(2), () -> !look.lock("lost reply").isLocked());
            proxy.pass();
            assertThat(releasing.get(LONG.toSeconds(), TimeUnit.SECONDS)).isTrue();
            assertThat(look.lock("lost reply").isLocked()).isFalse();
        }
    }

    @Test
    void aClaimThatComesAfterItWasGivenUpHoldsNothing() throws Exception { // a ghost
        try (TcpProxy proxy = TcpProxy.to(server.port());
                SqlStore near = open(url(server.port()), "1s");
                SqlStore far = open(url(proxy.port()), "300ms");
                Lockkeeper look = keeper(near, Duration.ofSeconds(20));
                Lockkeeper keeper = keeper(far, Duration.ofMillis(300))) {
            keeper.lock("warm").acquire().close();
            proxy.hold(Direction.REQUESTS);
            assertThatThrownBy(() -> keeper.lock("late", LEASE).tryAcquire())
                    .isInstanceOf(StoreUnavailableException.class);
            proxy.pass(); // what was sent arrives now
            await("it is free for good", () -> {
                Optional<Lease> lease = look.lock("late").tryAcquire();
                lease.ifPresent(Lease::release);
                return lease.isPresent();
            });
            Lease mine = look.lock("late", LEASE).acquire();
            assertThat(look.inspector().inspect("late").orElseThrow().holders()).hasSize(1);
            mine.release();
        }
    }

    @Test
    void connectionsThatBreakInTheMiddleAreNotSeen() throws Exception {
        try (TcpProxy proxy = TcpProxy.to(server.port());
                SqlStore far = open(url(proxy.port()), "1s");
                Lockkeeper keeper = keeper(far, Duration.ofSeconds(20))) {
            long last = 0;
            for (int i = 0; i < 20; i++) {
                CompletableFuture<Void> breaking = CompletableFuture.runAsync(proxy::reset);
                try (Lease lease = keeper.lock("resets", LEASE).acquire()) {
                    assertThat(lease.token()).isGreaterThan(last);
                    last = lease.token();
                    proxy.reset();
                }
                breaking.get(LONG.toSeconds(), TimeUnit.SECONDS);
            }
        }
    }

    /** Ends all connections but the one it is asked on. */
    abstract void killConnections() throws Exception;

    /** The parameter, if any, that has the server end connections that have done nothing for a second. */
    abstract String urlOfShortLivedConnections(int port) throws Exception;

    @Test
    void aHoldOutlivesTheEndOfEveryConnection() throws Exception { // H49
        try (SqlStore store = open(url(server.port()), "1s");
                Lockkeeper keeper = keeper(store, Duration.ofSeconds(20))) {
            Lease lease = keeper.lock("killed", LockOptions.defaults().lease(Duration.ofSeconds(5)))
                    .acquire();
            long end = System.nanoTime() + Duration.ofSeconds(11).toNanos();
            while (System.nanoTime() - end < 0) {
                killConnections();
                Spi.during(Duration.ofMillis(700), () -> assertThat(lease.isValid())
                        .isTrue());
            }
            assertThat(lease.release()).isTrue();
        }
    }

    @Test
    void connectionsThatTheServerFindsIdleForTooLongAreMadeAgain() throws Exception { // H49
        try (SqlStore store = open(urlOfShortLivedConnections(server.port()), "1s");
                Lockkeeper keeper = keeper(store, Duration.ofSeconds(20))) {
            Lease lease = keeper.lock("idle", LockOptions.defaults().lease(Duration.ofSeconds(6)))
                    .acquire();
            Spi.during(Duration.ofSeconds(13), () -> assertThat(lease.isValid()).isTrue());
            assertThat(lease.release()).isTrue();
            keeper.lock("idle").acquire().close();
        }
    }

    @Test
    void aHoldOutlivesConnectionsThatBreakWhileItIsRenewed() throws Exception {
        try (TcpProxy proxy = TcpProxy.to(server.port());
                SqlStore far = open(url(proxy.port()), "1s");
                Lockkeeper keeper = keeper(far, Duration.ofSeconds(20))) {
            LockOptions options = LockOptions.defaults().lease(Duration.ofSeconds(5));
            Lease lease = keeper.lock("breaking", options).acquire();
            Lease first = keeper.readWriteLock("readers", options).readLock().acquire();
            long end = System.nanoTime() + Duration.ofSeconds(11).toNanos();
            while (System.nanoTime() - end < 0) {
                long received = proxy.received(Direction.REQUESTS);
                awaitOr(Duration.ofSeconds(2), () -> proxy.received(Direction.REQUESTS) > received);
                proxy.reset(); // in the middle of what has just begun
                Spi.during(Duration.ofMillis(600), () -> {
                    assertThat(lease.isValid()).isTrue();
                    assertThat(first.isValid()).isTrue();
                });
            }
            assertThat(lease.release()).isTrue();
            assertThat(first.release()).isTrue();
        }
    }

    @Test
    void aServerThatIsPausedHoldsNobodyUpForLong() throws Exception { // H45
        try (SqlStore store = open(url(server.port()), "500ms");
                Lockkeeper keeper = keeper(store, Duration.ofMillis(500))) {
            keeper.lock("paused").acquire().close();
            server.pause();
            try {
                long start = System.nanoTime();
                assertThatThrownBy(() -> keeper.lock("paused").tryAcquire())
                        .isInstanceOf(StoreUnavailableException.class);
                assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(10));
            } finally {
                server.resume();
            }
            await("it is back", () -> {
                try {
                    return keeper.lock("paused")
                            .tryAcquire()
                            .map(Lease::release)
                            .orElse(false);
                } catch (StoreUnavailableException e) {
                    return false;
                }
            });
        }
    }
}
