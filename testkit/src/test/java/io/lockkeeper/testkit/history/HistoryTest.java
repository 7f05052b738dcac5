// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testkit.history;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class HistoryTest {
    private final History history = new History(() -> 0);

    @Test
    void operationIsAnsweredOnce() {
        RecordedClaim claim = history.client("a").acquire("n", HistoryMode.EXCLUSIVE);
        claim.ok(1);
        assertThatThrownBy(claim::info)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("#1");
        assertThat(history.events()).hasSize(3);
    }

    @Test
    void onlyWhatWasGrantedIsReenteredOrDowngraded() {
        RecordedClaim claim = history.client("a").acquire("n", HistoryMode.SHARED);
        assertThatThrownBy(claim::reenter).isInstanceOf(IllegalStateException.class);
        claim.ok(1);
        claim.reenter().ok(1);
        assertThatThrownBy(claim::downgrade).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void limitsAreDeclaredFirstAndOnce() {
        RecordedClient client = history.client("a");
        assertThatThrownBy(() -> client.acquirePermits("s", 1)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> client.countDown("l")).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> client.await("l")).isInstanceOf(IllegalStateException.class);
        history.declareSemaphore("s", 2);
        history.declareSemaphore("s", 2);
        assertThatThrownBy(() -> history.declareSemaphore("s", 3)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> history.declareSemaphore("t", 0)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> client.acquirePermits("s", 0)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> client.acquire("s", HistoryMode.SHARED)).isInstanceOf(IllegalArgumentException.class);
    }

    /** A clock may start anywhere, also just before its numbers wrap around. */
    @Test
    void clockMayOverflow() {
        AtomicLong clock = new AtomicLong(Long.MAX_VALUE - 5);
        History wrapping = new History(clock::get);
        RecordedClaim first = wrapping.client("a").acquire("n", HistoryMode.EXCLUSIVE);
        first.ok(1, wrapping.now() + 10);
        clock.addAndGet(9);
        RecordedClaim second =
                wrapping.client("b").acquire("n", HistoryMode.EXCLUSIVE).answeredBy(wrapping.now() + 1);
        second.ok(2);
        assertThat(HistoryChecker.everyRule().check(wrapping))
                .extracting(Violation::rule)
                .containsExactly(Rule.EXCLUSION);
    }

    @Test
    void readsLikeLog() {
        AtomicLong clock = new AtomicLong();
        History told = new History(clock::get);
        RecordedClaim claim = told.client("a").acquire("n", HistoryMode.EXCLUSIVE);
        clock.set(1_500_000);
        claim.fail();
        assertThat(told.toString().lines())
                .hasSize(2)
                .first()
                .asString()
                .startsWith("0.000000 ms  Invoked[")
                .contains("client=a", "name=n");
    }

    @Test
    void manyThreadsRecordWhatRealLockDoes() throws Exception {
        History real = new History();
        Semaphore lock = new Semaphore(1);
        AtomicLong token = new AtomicLong();
        List<Future<?>> threads = new ArrayList<>();
        ExecutorService executor = Executors.newFixedThreadPool(4);
        try {
            for (int i = 0; i < 4; i++) {
                RecordedClient client = real.client("c" + i);
                threads.add(executor.submit(() -> {
                    for (int round = 0; round < 500; round++) {
                        RecordedClaim claim = client.acquire("n", HistoryMode.EXCLUSIVE);
                        lock.acquireUninterruptibly();
                        claim.ok(token.incrementAndGet());
                        real.storage("s").accepted(token.get());
                        RecordedStep release = claim.release();
                        lock.release();
                        release.ok();
                    }
                }));
            }
            for (Future<?> thread : threads) {
                thread.get();
            }
        } finally {
            executor.shutdownNow();
        }
        assertThat(real.events()).hasSize(4 * 500 * 6);
        HistoryChecker.everyRule().assertLegal(real);
    }
}
