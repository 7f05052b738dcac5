// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.lockkeeper.Lockkeeper;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.testservers.LocalServer;
import io.lockkeeper.testservers.RedisSentinels;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Neither the master nor a Sentinel answers, and many threads want to know where the master is. */
class SentinelOutageTest {
    private static final int THREADS = 30;
    private static final Duration OPERATION = Duration.ofSeconds(1);

    /** Two operation timeouts, and two more for a busy machine; one after another the threads took 45. */
    private static final Duration LIMIT = OPERATION.multipliedBy(4);

    /** What a call failed with, and when. */
    private record Outcome(Throwable failure, Duration took) {}

    private static Outcome tryAcquire(Lockkeeper keeper, String name) {
        long start = System.nanoTime();
        Throwable failure = catchThrowable(() -> keeper.lock(name).tryAcquire());
        return new Outcome(failure, Duration.ofNanos(System.nanoTime() - start));
    }

    @Test
    void callsOfManyThreadsOnManyNamesEndTogether() throws Exception { // H62
        ExecutorService threads = Executors.newFixedThreadPool(THREADS);
        try (RedisSentinels set = RedisSentinels.start(Duration.ofMinutes(1))) {
            Lockkeeper keeper = Lockkeeper.builder(
                            "redis-sentinel://" + set.addresses() + "/0#" + RedisSentinels.MASTER)
                    .operationTimeout(OPERATION)
                    .build();
            try {
                keeper.lock("before").acquire().close();
                List<LocalServer> all = new ArrayList<>(set.sentinels());
                all.addAll(set.servers());
                all.forEach(LocalServer::pause);
                assertThat(tryAcquire(keeper, "first").failure())
                        .isInstanceOf(StoreUnavailableException.class)
                        .hasMessageContaining(set.servers().get(0).address());

                CountDownLatch go = new CountDownLatch(1);
                List<Future<Outcome>> calls = new ArrayList<>();
                for (int i = 0; i < THREADS; i++) {
                    String name = "name" + i;
                    calls.add(threads.submit(() -> {
                        go.await();
                        return tryAcquire(keeper, name);
                    }));
                }
                go.countDown();
                for (Future<Outcome> call : calls) {
                    Outcome outcome = call.get(Admin.LONG.toSeconds() * 2, TimeUnit.SECONDS);
                    assertThat(outcome.failure())
                            .isInstanceOf(StoreUnavailableException.class)
                            .hasMessageContaining("Sentinel");
                    assertThat(outcome.took()).isLessThan(LIMIT);
                }
            } finally {
                long start = System.nanoTime();
                keeper.close();
                assertThat(Duration.ofNanos(System.nanoTime() - start))
                        .as("close()")
                        .isLessThan(LIMIT);
            }
        } finally {
            threads.shutdownNow();
        }
    }
}
