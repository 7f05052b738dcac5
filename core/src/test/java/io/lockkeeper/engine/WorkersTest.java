// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.Lease;
import io.lockkeeper.LeaseLost;
import io.lockkeeper.spi.Ticker;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The threads that run the user's code: whatever that does to one of them, other tasks are run all the same. */
final class WorkersTest {
    private final AtomicInteger refused = new AtomicInteger();
    private volatile boolean isShort;
    private final Threads threads = new Threads("test", task -> {
        if (isShort) {
            refused.incrementAndGet();
            throw new OutOfMemoryError("unable to create native thread (as the test wants it)");
        }
        return new Thread(task);
    });
    private final Timer timer = new Timer(Ticker.SYSTEM, now -> Long.MAX_VALUE, threads);
    private final CountDownLatch end = new CountDownLatch(1);

    @AfterEach
    void end() {
        end.countDown();
        timer.close();
    }

    /** Blocks until the test ends. */
    private void block() {
        try {
            end.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static <T> T get(CompletableFuture<T> future) throws Exception {
        return future.get(Race.LONG_SECONDS, TimeUnit.SECONDS);
    }

    @Test
    void aThreadThatCouldNotBeStartedBesideABlockedOneIsTriedAgain() throws Exception {
        timer.schedule(0, () -> {}); // it has its thread now
        Workers workers = Workers.growing("test", threads, timer, 4, () -> false);
        CountDownLatch blocked = new CountDownLatch(1);
        workers.execute(() -> {
            blocked.countDown();
            block();
        });
        assertThat(blocked.await(Race.LONG_SECONDS, TimeUnit.SECONDS)).isTrue();
        isShort = true;
        CompletableFuture<Boolean> ran = new CompletableFuture<>();
        workers.execute(() -> ran.complete(true));
        assertThat(refused.get()).isPositive();
        isShort = false;
        assertThat(get(ran)).isTrue();
    }

    @Test
    void tasksBehindBlockedOnesGetThreadsOfTheirOwn() throws Exception {
        Workers workers = Workers.growing("test", threads, timer, 2, () -> false);
        for (int i = 0; i < 5; i++) {
            workers.execute(this::block);
        }
        CompletableFuture<Boolean> ran = new CompletableFuture<>();
        workers.execute(() -> ran.complete(true));
        assertThat(get(ran)).isTrue();
    }

    @Test
    void anInterruptThatOneTaskLeavesDoesNotMeetTheNext() throws Exception {
        Workers workers = new Workers("test", threads, timer, 1, () -> false);
        CompletableFuture<Thread> first = new CompletableFuture<>();
        CompletableFuture<Thread> second = new CompletableFuture<>();
        CompletableFuture<Boolean> isInterrupted = new CompletableFuture<>();
        CountDownLatch bothAreThere = new CountDownLatch(1);
        workers.execute(() -> {
            try {
                bothAreThere.await();
            } catch (InterruptedException e) {
                first.completeExceptionally(e);
            }
            Thread.currentThread().interrupt();
            first.complete(Thread.currentThread());
        });
        workers.execute(() -> {
            second.complete(Thread.currentThread());
            isInterrupted.complete(Thread.currentThread().isInterrupted());
        });
        bothAreThere.countDown();
        assertThat(get(isInterrupted)).isFalse();
        assertThat(get(first)).isSameAs(get(second));
    }

    @Test
    void closingTheKeeperInACallbackDoesNotInterruptIt() throws Exception {
        Rig rig = new Rig();
        CompletableFuture<Boolean> isInterrupted = new CompletableFuture<>();
        rig.lock("x").acquireAsync().thenAccept(lease -> {
            rig.close();
            isInterrupted.complete(Thread.currentThread().isInterrupted());
        });
        assertThat(get(isInterrupted)).isFalse();
    }

    /** Closing waits for callbacks for a moment; what they are blocked in is not its to interrupt. */
    @Test
    void closingTheKeeperDoesNotInterruptACallback() throws Exception {
        Rig rig = new Rig();
        CompletableFuture<Boolean> begun = new CompletableFuture<>();
        CompletableFuture<Boolean> isInterrupted = new CompletableFuture<>();
        CompletableFuture<Lease> future = rig.lock("x").acquireAsync();
        future.thenAcceptAsync(
                lease -> {
                    begun.complete(true);
                    block();
                    isInterrupted.complete(Thread.currentThread().isInterrupted());
                },
                task -> rig.keeper.events().runCallback(task));
        assertThat(get(begun)).isTrue();
        rig.close();
        end.countDown();
        assertThat(get(isInterrupted)).isFalse();
    }

    /** A pool whose queue is full and whose caller is made to wait, as some are built. */
    @Test
    void anExecutorThatBlocksItsCallersDelaysNoLossAndNoFutureForLong() throws Exception {
        Rig rig = new Rig(task -> block());
        Lease lease = rig.lock("x").acquire();
        CompletableFuture<LeaseLost> told = new CompletableFuture<>();
        lease.onLost(told::complete);
        assertThat(rig.keeper.store().breakHold("x", lease.token(), Duration.ZERO, true))
                .isTrue();
        CompletableFuture<Lease> future = rig.lock("y").acquireAsync();
        assertThat(get(told).name()).isEqualTo("x");
        assertThat(get(future).release()).isTrue();
        end.countDown();
        rig.close();
    }
}
