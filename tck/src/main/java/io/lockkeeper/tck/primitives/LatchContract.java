// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.primitives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.lockkeeper.DistributedLatch;
import io.lockkeeper.Lease;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.spi.LatchStep;
import io.lockkeeper.tck.Tier;
import io.lockkeeper.testkit.FaultyStore;
import io.lockkeeper.testkit.StepKind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** A count that many await to reach zero, once for each generation. */
public abstract class LatchContract extends AbstractLatchContract {
    private static final long MOST = (1L << 53) - 1;

    @Test
    void anUnsetLatchIsOpen() throws Exception {
        DistributedLatch latch = keeper().latch(name());
        assertThat(latch.count()).isZero();
        latch.await();
        assertThat(latch.await(Duration.ZERO)).isTrue();
        assertThat(latch.await(Duration.ofSeconds(-1))).isTrue();
        get(latch.awaitAsync());
        latch.countDown();
        assertThat(latch.count()).as("nothing below zero").isZero();
        assertThat(latch.trySetCount(1)).isTrue();
        assertThat(latch.count()).isOne();
        latch.countDown();
    }

    @Test
    void aLatchIsSetOnceUntilItIsOpen() {
        DistributedLatch mine = keeper().latch(name());
        DistributedLatch other = keeper().latch(name());
        assertThat(mine.trySetCount(2)).isTrue();
        assertThat(mine.trySetCount(5)).isFalse();
        assertThat(other.trySetCount(2)).isFalse();
        assertThat(other.count()).isEqualTo(2);
        mine.countDown();
        other.countDown();
        for (int i = 0; i < 3; i++) {
            other.countDown();
        }
        assertThat(mine.count()).isZero();
        assertThat(other.trySetCount(7)).isTrue();
        assertThat(mine.count()).isEqualTo(7);
        for (int i = 0; i < 7; i++) {
            mine.countDown();
        }
    }

    @Test
    void countsOutOfRangeAreRefusedBeforeAnyStep() {
        FaultyStore store = faulty();
        DistributedLatch latch = keeper(store).latch(name());
        for (long bad : new long[] {0, -1, Long.MIN_VALUE, MOST + 1, Long.MAX_VALUE}) {
            assertThatIllegalArgumentException().isThrownBy(() -> latch.trySetCount(bad));
        }
        assertThat(store.count()).isZero();
        assertThat(latch.trySetCount(MOST)).isTrue();
        latch.countDown();
        assertThat(latch.count()).isEqualTo(MOST - 1);
    }

    @Test
    void allWaitersReturnWhenTheCountIsZero() throws Exception {
        FaultyStore store = faulty();
        DistributedLatch mine = keeper(store).latch(name());
        DistributedLatch other = keeper().latch(name());
        assertThat(mine.trySetCount(2)).isTrue();
        store.resetCounts();
        Future<Boolean> sync = async(() -> {
            mine.await();
            return true;
        });
        Future<Boolean> timed = async(() -> mine.await(LONG));
        CompletableFuture<Void> future = mine.awaitAsync();
        CompletableFuture<Void> elsewhere = other.awaitAsync();
        awaitWatch(store, 3);
        other.countDown();
        assertThat(mine.count()).isOne();
        assertThat(List.of(sync.isDone(), timed.isDone(), future.isDone(), elsewhere.isDone()))
                .containsOnly(false);
        other.countDown();
        assertThat(get(sync)).isTrue();
        assertThat(get(timed)).isTrue();
        get(future);
        get(elsewhere);
    }

    @Test
    void aWaitEndsWithItsTimeAndNotBefore() throws Exception {
        DistributedLatch latch = keeper().latch(name());
        assertThat(latch.trySetCount(1)).isTrue();
        assertThat(latch.await(Duration.ZERO)).isFalse();
        assertThat(latch.await(Duration.ofSeconds(Long.MIN_VALUE))).isFalse();
        long start = System.nanoTime();
        assertThat(latch.await(Duration.ofMillis(150))).isFalse();
        assertThat(System.nanoTime() - start)
                .isGreaterThanOrEqualTo(Duration.ofMillis(150).toNanos());
        Future<Boolean> forEver = async(() -> latch.await(Duration.ofSeconds(Long.MAX_VALUE)));
        latch.countDown();
        assertThat(get(forEver)).isTrue();
    }

    @Test
    void anInterruptEndsTheWait() throws Exception {
        FaultyStore store = faulty();
        DistributedLatch latch = keeper(store).latch(name());
        assertThat(latch.trySetCount(1)).isTrue();
        store.resetCounts();
        CompletableFuture<Boolean> ended = new CompletableFuture<>();
        Thread waiter = new Thread(() -> {
            try {
                latch.await();
            } catch (InterruptedException e) {
                ended.complete(!Thread.currentThread().isInterrupted());
            }
        });
        waiter.start();
        awaitWatch(store, 1);
        waiter.interrupt();
        assertThat(get(ended)).as("the flag is cleared").isTrue();
        Thread.currentThread().interrupt();
        assertThatExceptionOfType(InterruptedException.class).isThrownBy(latch::await);
        assertThat(Thread.interrupted()).isFalse();
        latch.countDown();
    }

    @Test
    void aCancelledWaitStopsLooking() throws Exception {
        FaultyStore store = faulty();
        DistributedLatch latch = impatient(store).latch(name());
        assertThat(latch.trySetCount(1)).isTrue();
        store.resetCounts();
        CompletableFuture<Void> cancelled = latch.awaitAsync();
        CompletableFuture<Void> waits = latch.awaitAsync();
        awaitWatch(store, 2);
        assertThat(cancelled.cancel(true)).isTrue();
        assertThat(waits).isNotDone();
        keeper().latch(name()).countDown();
        get(waits);
        assertThat(cancelled).isCancelled();
    }

    @Test
    void aWaitThatBeginsAfterTheLatchWasSetAgainIsForTheNewGeneration() throws Exception {
        DistributedLatch mine = keeper().latch(name());
        assertThat(mine.trySetCount(1)).isTrue();
        CompletableFuture<Void> first = mine.awaitAsync();
        mine.countDown();
        get(first);
        assertThat(mine.trySetCount(1)).isTrue();
        CompletableFuture<Void> second = mine.awaitAsync();
        assertThat(mine.await(Duration.ofMillis(50))).isFalse();
        assertThat(second).isNotDone();
        mine.countDown();
        get(second);
    }

    @Test
    void manyWaitersShareOneWatch() throws Exception {
        FaultyStore store = faulty();
        DistributedLatch mine = keeper(store).latch(name());
        assertThat(mine.trySetCount(1)).isTrue();
        AtomicInteger watches = new AtomicInteger();
        List<CompletableFuture<Void>> all = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            all.add(mine.awaitAsync());
        }
        await("all have looked", () -> store.count(StepKind.LATCH) >= 101);
        store.observe((kind, argument) -> {
            if (argument instanceof LatchStep.Watch) {
                watches.incrementAndGet();
            }
        });
        keeper().latch(name()).countDown();
        for (CompletableFuture<Void> each : all) {
            get(each);
        }
        assertThat(watches.get()).as("looks to learn that it is open").isLessThan(20);
    }

    @Test
    void countDownsOfManyClientsAllCount() throws Exception {
        int each = Tier.pick(20, 500);
        DistributedLatch latch = keeper().latch(name());
        assertThat(latch.trySetCount(4L * each)).isTrue();
        CompletableFuture<Void> open = latch.awaitAsync();
        List<Future<Boolean>> all = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            DistributedLatch mine = keeper().latch(name());
            all.add(async(() -> {
                for (int n = 0; n < each; n++) {
                    mine.countDown();
                }
                return true;
            }));
        }
        for (Future<Boolean> one : all) {
            get(one);
        }
        assertThat(latch.count()).isZero();
        get(open);
    }

    @Test
    void aLatchIsIndependentOfTheLockOfItsName() throws Exception {
        Lockkeeper keeper = keeper();
        DistributedLatch latch = keeper.latch(name());
        assertThat(latch.trySetCount(1)).isTrue();
        assertThat(keeper.inspector().inspect(name())).isEmpty();
        try (Lease lease = keeper.lock(name()).acquire()) {
            latch.countDown();
            latch.await();
            assertThat(lease.isValid()).isTrue();
            assertThat(keeper.inspector().check(lease.sequencer())).isTrue();
        }
    }
}
