// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.lockkeeper.Lockkeeper;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.testservers.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What a URL says about connections, and what a failure says about them. */
class ConnectionOptionsTest {
    private static final int THREADS = 8;

    private static RedisServer server;

    @BeforeAll
    static void start() {
        server = RedisServer.start();
    }

    @AfterAll
    static void end() {
        server.close();
    }

    private static List<String> connectionsNamed(String name) {
        return new Admin(server)
                .text("CLIENT", "LIST")
                .lines()
                .filter(line -> line.contains(" name=" + name + " "))
                .toList();
    }

    @Test
    void connectionsBearTheNameOfTheClient() throws Exception {
        try (Lockkeeper keeper = Lockkeeper.builder("redis://" + server.address())
                .clientName("w\u00e4b 1/100%")
                .build()) {
            keeper.lock("a").acquire().close();
            assertThat(connectionsNamed("w%C3%A4b%201/100%25"))
                    .as("one for steps, one that listens")
                    .hasSizeGreaterThanOrEqualTo(2);
        }
    }

    @Test
    void aPoolOfOneConnectionServesManyThreads() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(THREADS);
        try (Lockkeeper keeper = Lockkeeper.builder("redis://" + server.address() + "?poolSize=1")
                .clientName("small")
                .operationTimeout(Duration.ofSeconds(20))
                .build()) {
            List<Future<?>> all = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                String name = "pool" + i;
                all.add(threads.submit(() -> {
                    for (int cycle = 0; cycle < 50; cycle++) {
                        keeper.lock(name).acquire().close();
                    }
                    return null;
                }));
            }
            for (Future<?> one : all) {
                one.get(Admin.LONG.toSeconds(), TimeUnit.SECONDS);
            }
            assertThat(connectionsNamed("small"))
                    .as("one for steps, one that listens, one for renewals at most")
                    .hasSizeBetween(2, 3);
        } finally {
            threads.shutdownNow();
        }
    }

    @Test
    void aFailureNamesTheServerAndTheLock() throws Exception {
        try (Lockkeeper keeper = Lockkeeper.builder("redis://" + server.address())
                .operationTimeout(Duration.ofSeconds(2))
                .build()) {
            keeper.lock("orders/42").acquire().close();
            server.pause();
            assertThatThrownBy(() -> keeper.lock("orders/42").tryAcquire())
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining(server.address())
                    .hasMessageContaining("orders/42");
        } finally {
            server.resume();
        }
    }

    @Test
    void aPolicyThatEvictsIsHarmlessWithoutALimit() throws Exception { // H34
        try (RedisServer unlimited = RedisServer.start("--maxmemory-policy", "allkeys-lru", "--maxmemory", "0");
                Lockkeeper keeper = Lockkeeper.connect("redis://" + unlimited.address())) {
            keeper.lock("a").acquire().close();
        }
    }

    @Test
    void parametersOfOtherSchemesAreRejectedWithTheKnownOnes() {
        for (String url : List.of(
                "redis://h?trustStore=x",
                "redis-cluster://h?keyStore=x",
                "redis-cluster://h?sentinelPassword=hunter2",
                "redlock://h1,h2,h3?trustStorePassword=hunter2")) {
            assertThatThrownBy(() -> Lockkeeper.connect(url))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("unknown parameter")
                    .hasMessageContaining("poolSize")
                    .hasMessageNotContaining("hunter2");
        }
    }

    @Test
    void aDamagedRecordIsNamedWithItsServer() throws Exception {
        Admin admin = new Admin(server);
        try (Lockkeeper keeper = Lockkeeper.connect("redis://" + server.address())) {
            admin.ask("HSET", Admin.names("pool/1"), "pool/1", "2 9999999999999999\nnonsense");
            assertThatThrownBy(() -> keeper.semaphore("pool/1", 3).availablePermits())
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining("Redis at " + server.address())
                    .hasMessageContaining(Admin.names("pool/1") + " pool/1")
                    .hasMessageContaining("damaged");
        } finally {
            admin.ask("HDEL", Admin.names("pool/1"), "pool/1");
        }
    }

    @Test
    void numbersAreRejectedWithTheValueAndTheRange() {
        for (String value : List.of("abc", "0", "1001", "-1", "99999999999")) {
            assertThatThrownBy(() -> Lockkeeper.connect("redis://h?poolSize=" + value))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("'poolSize' is '" + value + "'")
                    .hasMessageContaining("1 to 1000");
        }
        for (String value : List.of("many", "101", "-1")) {
            assertThatThrownBy(() -> Lockkeeper.connect("redis://h?replicas=" + value))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("'replicas' is '" + value + "'")
                    .hasMessageContaining("0 to 100");
        }
    }

    @Test
    void malformedHostsAreRejectedBeforeAnyServerIsAsked() {
        for (String url : List.of(
                "redis-sentinel://,#m",
                "redis-sentinel://h,#m",
                "redis-cluster://,",
                "redis://a b:1",
                "redis://a\tb")) {
            assertThatThrownBy(() -> Lockkeeper.connect(url))
                    .as(url)
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("host");
        }
    }

    @Test
    void valuesOutOfRangeAreRejectedWithTheRange() {
        for (String url : List.of("redis://h?poolSize=0", "rediss://h?poolSize=1001", "redis://h?poolSize=many")) {
            assertThatThrownBy(() -> Lockkeeper.connect(url))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("poolSize");
        }
        for (String url : List.of(
                "rediss://h?trustStore=/no/such/file&trustStorePassword=hunter2",
                "rediss-cluster://h?keyStore=/no/such/file&keyStorePassword=hunter2",
                "rediss-cluster://h?keyStorePassword=hunter2",
                "rediss-sentinel://h#m?sentinelUser=u",
                "rediss-sentinel://h?sentinelPassword=hunter2")) {
            Throwable failure = catchThrowable(() -> Lockkeeper.connect(url));
            assertThat(failure).isInstanceOf(IllegalArgumentException.class);
            AccessTest.assertShowsNoSecret(failure);
        }
    }
}
