// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.DistributedLock;
import io.lockkeeper.Lease;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.testservers.Direction;
import io.lockkeeper.testservers.RedisServer;
import io.lockkeeper.testservers.TcpProxy;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import javax.management.ObjectName;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A crowd when a majority of members is lost, and the first claim of a client whose members are slow to connect to. */
@Timeout(value = 3, unit = TimeUnit.MINUTES)
class RedlockOutageTest {
    private static final int CROWD = 32;
    private static final Duration TIMEOUT = Duration.ofSeconds(1);

    /** Two operation timeouts, and as much again for a busy machine. One after the other they would take a minute. */
    private static final Duration ABOUT_TWO_TIMEOUTS = TIMEOUT.multipliedBy(4);

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

    /** What one of the crowd gets, each in its own way. */
    private static String ask(DistributedLock lock, int way) throws Exception {
        long began = System.nanoTime();
        String outcome;
        try {
            Optional<Lease> lease =
                    switch (way % 4) {
                        case 0 -> lock.tryAcquire();
                        case 1 -> Optional.of(lock.acquire());
                        case 2 -> lock.tryAcquire(ABOUT_TWO_TIMEOUTS);
                        default -> lock.tryLock(3, TimeUnit.SECONDS) ? Optional.of(lock.lease()) : Optional.empty();
                    };
            outcome = lease.isPresent() ? "acquired" : "not acquired";
        } catch (StoreUnavailableException e) {
            outcome = "unavailable";
        }
        Duration took = Duration.ofNanos(System.nanoTime() - began);
        return took.compareTo(ABOUT_TWO_TIMEOUTS) > 0 ? outcome + " after " + took : outcome;
    }

    @Test
    @DisplayName(
            "H61, H62: when a majority stops answering, a crowd of threads fails immediately, and nobody is told that it"
                    + " is taken")
    void whenAMajorityStopsAnsweringAllThreadsFailTogether() throws Exception {
        ExecutorService threads = Executors.newCachedThreadPool();
        try (Lockkeeper keeper = Lockkeeper.connect(RedlockFixture.url(servers) + "?operationTimeout=1s")) {
            assertThat(keeper.lock("before").acquire().release()).isTrue();
            servers.get(0).pause();
            servers.get(2).pause();
            CyclicBarrier combiner = new CyclicBarrier(CROWD);
            List<Callable<String>> crowd = new ArrayList<>();
            for (int i = 0; i < CROWD; i++) {
                int number = i;
                DistributedLock lock = keeper.lock(i % 2 == 0 ? "same" : "name" + i);
                crowd.add(() -> {
                    combiner.await(Admin.LONG.toSeconds(), TimeUnit.SECONDS);
                    return ask(lock, number / 2);
                });
            }
            for (Future<String> one : threads.invokeAll(crowd)) {
                assertThat(one.get()).isEqualTo("unavailable");
            }
            servers.get(0).resume();
            servers.get(2).resume();
            Admin.await("all is well again", () -> isFree(keeper, "same") && isFree(keeper, "name1"));
        } finally {
            threads.shutdownNow();
        }
    }

    private static boolean isFree(Lockkeeper keeper, String name) {
        try {
            return keeper.lock(name).tryAcquire().map(Lease::release).orElse(false);
        } catch (StoreUnavailableException e) {
            return false;
        }
    }

    @Test
    @DisplayName("H83: a member that is down costs a busy client a bounded number of objects")
    void aMemberThatIsDownCostsABoundedNumberOfObjects() throws Exception {
        try (Lockkeeper keeper = Lockkeeper.connect(RedlockFixture.url(servers) + "?operationTimeout=10s")) {
            assertThat(keeper.lock("before").acquire().release()).isTrue();
            servers.get(1).kill();
            for (int i = 0; i < 800; i++) {
                assertThat(keeper.lock("a").acquire().release()).isTrue();
            }
            long left = leftovers();
            System.out.println("H83: " + left + " objects after 800 cycles");
            assertThat(left).isLessThanOrEqualTo(500);
            servers.get(1).restart();
        }
    }

    /** How many objects the JVM has of what is kept for members that are down. */
    private static long leftovers() throws Exception {
        String histogram = (String) ManagementFactory.getPlatformMBeanServer()
                .invoke(
                        new ObjectName("com.sun.management:type=DiagnosticCommand"),
                        "gcClassHistogram",
                        new Object[] {null},
                        new String[] {String[].class.getName()});
        return histogram
                .lines()
                .filter(line -> line.contains("io.lockkeeper.quorum.") && line.contains("$Leftover"))
                .mapToLong(line -> Long.parseLong(line.trim().split("\\s+")[1]))
                .sum();
    }

    @Test
    void theFirstClaimWaitsUntilItsMembersAreConnected() throws Exception {
        List<TcpProxy> network = new ArrayList<>();
        for (RedisServer server : servers) {
            network.add(TcpProxy.to(server.port()));
        }
        String hosts = network.stream()
                .map(proxy -> "127.0.0.1:" + proxy.port())
                .collect(Collectors.joining(",", "redlock://", ""));
        // Each trip is quick enough for a member, and all that connecting takes are longer than an operation may be.
        network.forEach(proxy -> proxy.delay(Direction.REPLIES, Duration.ofMillis(250)));
        try (Lockkeeper keeper =
                Lockkeeper.connect(hosts + "?operationTimeout=1s&memberTimeout=700ms&connectTimeout=30s")) {
            Optional<Lease> first = keeper.lock("a").tryAcquire();
            assertThat(first).isPresent();
            assertThat(first.orElseThrow().release()).isTrue();
        } finally {
            network.forEach(TcpProxy::close);
        }
    }
}
