// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.DistributedReadWriteLock;
import io.lockkeeper.Lease;
import io.lockkeeper.LockInfo;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.spi.LockStore;
import io.lockkeeper.tck.rules.UnknownOutcomeContract;
import io.lockkeeper.tck.support.Contract;
import io.lockkeeper.testkit.FaultyStore;
import io.lockkeeper.testkit.StepKind;
import io.lockkeeper.testkit.VirtualTime;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/**
 * H73: a hold is passed from thread to thread for a few milliseconds only. So it takes time that stands still to see
 * that one whose downgrade was performed and never answered is not passed on as if it were still a writer's.
 */
final class DowngradeOnVirtualTimeTest {
    private static final Duration TIMEOUT = Duration.ofMillis(10);

    private final VirtualTime time = new VirtualTime();
    private final LockStore real = time.newStore();
    private final FaultyStore store = FaultyStore.on(real);

    private static Thread start(Runnable task) {
        Thread thread = new Thread(task);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    private static boolean waits(Thread thread) {
        return thread.getState() == Thread.State.WAITING;
    }

    private static void downgrade(DistributedReadWriteLock mine, CountDownLatch held, CountDownLatch go) {
        mine.writeLock().lock();
        mine.readLock().lock();
        held.countDown();
        try {
            go.await();
        } catch (InterruptedException e) {
            return;
        }
        UnknownOutcomeContract.unlockIfHeld(mine.writeLock());
        UnknownOutcomeContract.unlockIfHeld(mine.readLock()); // with each it may pass on what it still has
        UnknownOutcomeContract.unlockIfHeld(mine.writeLock());
    }

    @Test
    void aHoldWhoseDowngradeIsNotAnsweredIsNotPassedToAWriterOfTheSameProcess() throws Exception {
        try (Lockkeeper keeper =
                        Lockkeeper.builder(store).operationTimeout(TIMEOUT).build();
                Lockkeeper other = Lockkeeper.on(real)) {
            DistributedReadWriteLock mine = keeper.readWriteLock("x");
            CountDownLatch held = new CountDownLatch(1);
            CountDownLatch go = new CountDownLatch(1);
            Thread downgrading = start(() -> downgrade(mine, held, go));
            assertThat(held.await(30, TimeUnit.SECONDS)).isTrue();
            CompletableFuture<Lease> reading =
                    other.readWriteLock("x").readLock().acquireAsync();
            Contract.await("a reader waits elsewhere", () -> waiters() > 0);
            CompletableFuture<Lease> writing = new CompletableFuture<>();
            Thread writer = start(() -> {
                try {
                    writing.complete(mine.writeLock().acquire());
                } catch (InterruptedException | RuntimeException e) {
                    writing.completeExceptionally(e);
                }
            });
            Contract.await("a writer of this process waits", () -> waits(writer));
            for (int i = 0; i < 20; i++) {
                store.loseReply(StepKind.DOWNGRADE);
            }
            go.countDown();
            Contract.await("the downgrade fails", () -> {
                if (waits(downgrading)) {
                    time.jump(TIMEOUT.dividedBy(2)); // to its next attempt
                }
                return !downgrading.isAlive();
            });
            Lease reader = reading.get(30, TimeUnit.SECONDS);
            assertThat(reader.isValid()).isTrue();
            assertThat(writing.isDone()).as("reader and writer both hold").isFalse();
            assertThat(reader.release()).isTrue();
            Contract.await("the writer's turn", () -> {
                time.jump(Duration.ofSeconds(1)); // what was never answered runs out, if it is not released
                return writing.isDone();
            });
            assertThat(writing.join().token()).isGreaterThan(reader.token());
        }
    }

    private int waiters() {
        return real.inspect("x").map(LockInfo::waiters).orElse(0);
    }
}
