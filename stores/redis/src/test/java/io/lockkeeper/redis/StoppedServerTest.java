// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.DistributedLock;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.testservers.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A server stops with open connections, and many threads send it requests: all fail, together, and none gets a wrong answer. */
class StoppedServerTest { // H61
    private static final Duration OPERATION = Duration.ofSeconds(1);

    /** Two operation timeouts, and two more for a busy machine; one after another ten threads take ten. */
    private static final Duration LIMIT = OPERATION.multipliedBy(4);

    /** Longer than two operation timeouts: who gives up by then does so because of the server. */
    private static final long WAIT_SECONDS = 3;

    private static final String UNAVAILABLE = "unavailable";

    private RedisServer server;
    private ExecutorService threads;

    @BeforeEach
    void start() {
        server = RedisServer.start();
        threads = Executors.newCachedThreadPool();
    }

    @AfterEach
    void end() {
        threads.shutdownNow();
        server.close();
    }

    private enum Ask {
        TRY_LOCK,
        ACQUIRE;

        String of(DistributedLock lock) throws Exception {
            try {
                if (this == ACQUIRE) {
                    return "acquired " + lock.acquire();
                }
                return "tryLock said " + lock.tryLock(WAIT_SECONDS, TimeUnit.SECONDS);
            } catch (StoreUnavailableException e) {
                return UNAVAILABLE;
            }
        }
    }

    /** What a call came to, and when. */
    private record Outcome(String what, Duration took) {}

    private List<Outcome> ask(int count, IntFunction<Ask> how, IntFunction<DistributedLock> what) throws Exception {
        CyclicBarrier combiner = new CyclicBarrier(count);
        List<Future<Outcome>> all = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Ask ask = how.apply(i);
            DistributedLock lock = what.apply(i);
            all.add(threads.submit(() -> {
                combiner.await();
                long start = System.nanoTime();
                return new Outcome(ask.of(lock), Duration.ofNanos(System.nanoTime() - start));
            }));
        }
        List<Outcome> outcomes = new ArrayList<>();
        for (Future<Outcome> each : all) {
            outcomes.add(each.get(Admin.LONG.toSeconds() * 2, TimeUnit.SECONDS));
        }
        return outcomes;
    }

    private void failTogether(int count, IntFunction<Ask> how, IntFunction<String> names) throws Exception {
        try (Lockkeeper keeper = Lockkeeper.builder("redis://" + server.address())
                .operationTimeout(OPERATION)
                .build()) {
            keeper.lock("before").acquire().close();
            server.pause();
            Outcome alone = ask(1, how, i -> keeper.lock("alone")).get(0);
            List<Outcome> crowd = ask(count, how, i -> keeper.lock(names.apply(i)));
            Duration slowest =
                    crowd.stream().map(Outcome::took).max(Duration::compareTo).orElseThrow();
            System.out.println("alone " + alone.took + ", the slowest of " + count + " " + slowest);
            crowd.add(alone);
            assertThat(crowd).extracting(Outcome::what).containsOnly(UNAVAILABLE);
            assertThat(slowest).isLessThan(LIMIT);
            server.resume();
            Admin.await("the server is back, and no ghost holds anything", () -> {
                try {
                    for (int i = 0; i < count; i++) {
                        keeper.lock(names.apply(i)).tryAcquire().orElseThrow().close();
                    }
                    return true;
                } catch (StoreUnavailableException | NoSuchElementException e) {
                    return false;
                }
            });
        } finally {
            server.resume();
        }
    }

    @ParameterizedTest
    @EnumSource
    void threadsThatWantOneNameFailTogether(Ask ask) throws Exception {
        failTogether(10, i -> ask, i -> "one");
    }

    @Test
    void threadsThatWantManyNamesFailTogether() throws Exception {
        failTogether(30, i -> Ask.values()[i % 2], i -> "name" + i);
    }
}
