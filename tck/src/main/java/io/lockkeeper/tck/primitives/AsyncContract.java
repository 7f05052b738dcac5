// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.primitives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.lockkeeper.DistributedLock;
import io.lockkeeper.Guarantee;
import io.lockkeeper.Lease;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.tck.support.ApiContract;
import io.lockkeeper.testkit.FaultyStore;
import io.lockkeeper.testkit.Gate;
import io.lockkeeper.testkit.StepKind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;

/** Futures: they wait without a thread, complete where the user wants it, and really leave when they are given up. */
public abstract class AsyncContract extends ApiContract {
    @Test
    void aFutureIsCompletedWithTheLockOnceItIsFree() throws Exception {
        Lockkeeper keeper = keeper();
        Lockkeeper other = keeper();
        Lease first = get(keeper.lock(name()).acquireAsync());
        CompletableFuture<Lease> second = other.lock(name()).acquireAsync();
        CompletableFuture<Optional<Lease>> third = keeper.lock(name()).tryAcquireAsync(LONG);
        awaitQueued(keeper, name(), 1); // the third waits inside of its client
        assertThat(second).isNotDone();
        assertThat(third).isNotDone();
        assertThat(first.isValid()).isTrue();
        assertThat(get(first.releaseAsync())).isTrue();
        Lease next = (Lease) get(CompletableFuture.anyOf(second, third.thenApply(Optional::orElseThrow)));
        assertThat(next.token()).isGreaterThan(first.token());
        assertThat(second.isDone() && third.isDone()).as("one at a time").isFalse();
        assertThat(next.release()).isTrue();
        Lease last = get(second) == next ? get(third).orElseThrow() : get(second);
        assertThat(last.token()).isGreaterThan(next.token());
        assertThat(last.release()).isTrue();
    }

    @Test
    void aFutureWithALimitEndsEmptyAndNotBefore() throws Exception {
        Lockkeeper keeper = keeper();
        DistributedLock mine = keeper().lock(name());
        Lease held = keeper.lock(name()).acquire();
        Duration wait = Duration.ofMillis(150);
        long start = System.nanoTime();
        assertThat(get(mine.tryAcquireAsync(wait))).isEmpty();
        assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(wait.toNanos());
        awaitQueued(keeper, name(), 0);
        assertThat(held.release()).isTrue();
        assertThat(isFree(keeper.lock(name()))).as("nobody acquires it later").isTrue();
        assertThat(get(mine.tryAcquireAsync(wait)).orElseThrow().release()).isTrue();
    }

    @Test
    void aFutureThatIsGivenUpLeavesTheQueue() throws Exception {
        Lockkeeper keeper = keeper();
        DistributedLock mine = keeper().lock(name(), LockOptions.defaults().fair(true));
        Lease held = keeper.lock(name()).acquire();
        List<CompletableFuture<?>> given =
                List.of(mine.acquireAsync(), mine.tryAcquireAsync(LONG), mine.acquireAsync(), mine.acquireAsync());
        awaitQueued(keeper, name(), 4);
        assertThat(given.get(0).cancel(true)).isTrue();
        assertThat(given.get(1).cancel(false)).isTrue();
        assertThat(given.get(2).completeExceptionally(new IllegalStateException("of the user")))
                .isTrue();
        given.get(3).orTimeout(10, TimeUnit.MILLISECONDS);
        assertThatExceptionOfType(ExecutionException.class)
                .isThrownBy(() -> get(given.get(3)))
                .withCauseInstanceOf(TimeoutException.class);
        awaitQueued(keeper, name(), 0);
        assertThat(held.release()).isTrue();
        awaitFree(keeper.lock(name()));
    }

    @Test
    void aFutureThatIsGivenUpDoesNotTakeItsNeighboursAlong() throws Exception {
        Lockkeeper keeper = keeper();
        DistributedLock mine = keeper().lock(name());
        Lease held = keeper.lock(name()).acquire();
        CompletableFuture<Lease> first = mine.acquireAsync();
        CompletableFuture<Lease> second = mine.acquireAsync();
        CompletableFuture<Lease> third = mine.acquireAsync();
        awaitQueued(keeper, name(), 1);
        assertThat(first.cancel(true)).isTrue();
        assertThat(third.cancel(true)).isTrue();
        assertThat(held.release()).isTrue();
        assertThat(get(second).release()).isTrue();
        awaitFree(keeper.lock(name())); // leaving takes a step behind the scenes
    }

    @Test
    void aGrantThatArrivesTooLateIsReleased() throws Exception {
        FaultyStore store = faulty();
        Lockkeeper keeper = keeper(store);
        DistributedLock other = keeper().lock(name());
        Gate gate = store.pauseAfter(StepKind.CLAIM);
        CompletableFuture<Lease> cancelled = keeper.lock(name()).acquireAsync();
        assertThat(gate.awaitArrival(LONG)).isTrue();
        assertThat(isTaken(other)).as("the store has granted it").isTrue();
        assertThat(cancelled.cancel(true)).isTrue();
        gate.open();
        awaitFree(other);
        Gate before = store.pauseBefore(StepKind.CLAIM);
        CompletableFuture<Lease> early = keeper.lock(name()).acquireAsync();
        assertThat(before.awaitArrival(LONG)).isTrue();
        assertThat(early.cancel(true)).isTrue();
        before.open();
        await("its claim is settled", () -> store.count(StepKind.RELEASE) + store.count(StepKind.WITHDRAW) >= 2);
        awaitFree(other);
    }

    @Test
    void anyThreadCanReleaseALease() throws Exception { // H27
        Lockkeeper keeper = keeper();
        Lease lease = keeper.lock(name()).acquire();
        assertThat(get(async(lease::release))).isTrue();
        CompletableFuture<Boolean> chain = keeper.lock(name())
                .acquireAsync()
                .thenApplyAsync(got -> got)
                .thenCompose(Lease::releaseAsync)
                .thenCombine(keeper.lock(name("y")).acquireAsync().thenApply(Lease::release), Boolean::logicalAnd);
        assertThat(get(chain)).isTrue();
        assertThat(isFree(keeper().lock(name()))).isTrue();
        assertThat(isFree(keeper().lock(name("y")))).isTrue();
    }

    @Test
    void aCompletionThatBlocksDelaysNoOtherFuture() throws Exception {
        FaultyStore store = faulty();
        Lockkeeper keeper = keeper(store);
        Lockkeeper other = keeper();
        LockOptions options = LockOptions.defaults().lease(longer(Duration.ofSeconds(5), keeper));
        Lease kept = keeper.lock(name("kept"), options).acquire();
        CountDownLatch end = new CountDownLatch(1);
        List<CompletableFuture<Boolean>> blocked = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            Lease held = other.lock(name("b" + i)).acquire();
            CompletableFuture<Lease> waits = keeper.lock(name("b" + i)).acquireAsync();
            blocked.add(waits.thenApply(lease -> {
                awaitQuietly(end);
                return lease.release();
            }));
            awaitQueued(other, name("b" + i), 1);
            assertThat(held.release()).isTrue();
            String granted = name("b" + i);
            await("it was granted", () -> other.lock(granted).isLocked());
        }
        Lease held = other.lock(name()).acquire();
        CompletableFuture<Lease> after = keeper.lock(name()).acquireAsync();
        awaitQueued(other, name(), 1);
        assertThat(held.release()).isTrue();
        assertThat(get(after).release()).isTrue();
        store.resetCounts();
        await("renewals go on", () -> store.count(StepKind.RENEW) >= 3);
        assertThat(kept.isValid()).isTrue();
        assertThat(blocked).noneMatch(CompletableFuture::isDone);
        end.countDown();
        for (CompletableFuture<Boolean> each : blocked) {
            assertThat(get(each)).isTrue();
        }
    }

    @Test
    void futuresCompleteOnTheUsersExecutor() throws Exception {
        ExecutorService pool = Executors.newSingleThreadExecutor(task -> new Thread(task, "the-users-own"));
        closing(pool::shutdownNow);
        Lockkeeper keeper = keeper(pool);
        Lockkeeper other = keeper();
        Lease held = other.lock(name()).acquire();
        CompletableFuture<String> granted =
                keeper.lock(name()).acquireAsync().thenApply(lease -> currentThread() + lease.release());
        CompletableFuture<String> timedOut =
                keeper.lock(name()).tryAcquireAsync(Duration.ofMillis(50)).thenApply(lease -> currentThread());
        assertThat(get(timedOut)).isEqualTo("the-users-own");
        assertThat(held.release()).isTrue();
        assertThat(get(granted)).isEqualTo("the-users-owntrue");
        if (keeper.guarantees().has(Guarantee.LATCH)) {
            assertThat(keeper.latch(name()).trySetCount(1)).isTrue();
            CompletableFuture<String> opened = keeper.latch(name()).awaitAsync().thenApply(nothing -> currentThread());
            other.latch(name()).countDown();
            assertThat(get(opened)).isIn("the-users-own", currentThread()); // it may be open already
        }
    }

    private static String currentThread() {
        return Thread.currentThread().getName();
    }

    private Lockkeeper keeper(Executor executor) {
        return closing(Lockkeeper.builder(store()).executor(executor).build());
    }

    @Test
    void aDirectExecutorBlocksNobody() throws Exception {
        Lockkeeper keeper = keeper((Executor) Runnable::run);
        Lockkeeper other = keeper();
        CountDownLatch end = new CountDownLatch(1);
        Lease held = other.lock(name()).acquire();
        CompletableFuture<Boolean> blocked = keeper.lock(name()).acquireAsync().thenApply(lease -> {
            awaitQuietly(end);
            return lease.release();
        });
        Lease lost = keeper.lock(name("lost"), lively(keeper)).acquire();
        CountDownLatch told = new CountDownLatch(1);
        lost.onLost(loss -> {
            told.countDown();
            awaitQuietly(end);
        });
        awaitQueued(other, name(), 1);
        assertThat(held.release())
                .as("the releaser is not kept by the other's callback")
                .isTrue();
        lose(lost, other);
        assertThat(told.await(LONG.toSeconds(), TimeUnit.SECONDS)).isTrue();
        assertThat(get(keeper.lock(name("y")).acquireAsync()).release()).isTrue();
        assertThat(keeper.lock(name("y")).acquire().release()).isTrue();
        end.countDown();
        assertThat(get(blocked)).isTrue();
    }

    @Test
    void anExecutorThatRefusesLosesNoCompletion() throws Exception {
        Lockkeeper keeper = keeper((Executor) task -> {
            throw new RejectedExecutionException("shut down by the user");
        });
        assertThat(get(keeper.lock(name()).acquireAsync()).release()).isTrue();
        Lease lease = keeper.lock(name(), lively(keeper)).acquire();
        CountDownLatch told = new CountDownLatch(1);
        lease.onLost(loss -> told.countDown());
        lose(lease, keeper());
        assertThat(told.await(LONG.toSeconds(), TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void waitingFuturesOccupyNoThread() throws Exception {
        String client = "crowd-" + Long.toHexString(System.nanoTime());
        Lockkeeper keeper =
                closing(Lockkeeper.builder(store()).clientName(client).build());
        Lockkeeper other = keeper();
        int crowd = 200;
        Lease held = other.lock(name()).acquire();
        Lease shared = other.lock(name("shared")).acquire();
        List<CompletableFuture<Lease>> waits = new ArrayList<>();
        LockOptions fair = LockOptions.defaults().fair(true);
        for (int i = 0; i < crowd; i++) {
            waits.add(keeper.lock(name(), fair).acquireAsync());
            waits.add(keeper.lock(name("shared")).acquireAsync());
        }
        awaitQueued(other, name(), crowd);
        awaitQueued(other, name("shared"), 1);
        long threads = Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("lockkeeper-" + client))
                .count();
        assertThat(threads).isLessThan(60);
        assertThat(held.release()).isTrue();
        assertThat(shared.release()).isTrue();
        for (CompletableFuture<Lease> each : waits) {
            each.thenAccept(Lease::releaseAsync);
        }
        for (CompletableFuture<Lease> each : waits) {
            get(each);
        }
        awaitFree(other.lock(name()));
        awaitFree(other.lock(name("shared")));
    }

    @Test
    void aFutureFailsWhenTheStoreCannotBeAsked() throws Exception {
        FaultyStore store = faulty();
        Lockkeeper keeper = closing(Lockkeeper.builder(store)
                .operationTimeout(Duration.ofMillis(500))
                .build());
        Lease lease = get(keeper.lock(name("y")).acquireAsync());
        store.down();
        fails(keeper.lock(name()).acquireAsync());
        fails(keeper.lock(name()).tryAcquireAsync(Duration.ZERO));
        fails(lease.releaseAsync());
        assertThat(lease.isValid()).isFalse();
        store.up();
        awaitFree(keeper().lock(name()));
        awaitFree(keeper().lock(name("y")));
    }

    private static void fails(CompletableFuture<?> future) {
        assertThatExceptionOfType(ExecutionException.class)
                .isThrownBy(() -> get(future))
                .withCauseInstanceOf(StoreUnavailableException.class);
    }

    @Test
    void aReleaseWithoutWaitingEndsTheHoldOnce() throws Exception {
        FaultyStore store = faulty();
        Lockkeeper keeper = keeper(store);
        Lease lease = keeper.lock(name()).acquire();
        assertThat(get(lease.releaseAsync())).isTrue();
        assertThat(get(lease.releaseAsync())).isTrue();
        assertThat(lease.release()).isTrue();
        lease.close();
        assertThat(store.count(StepKind.RELEASE)).isOne();
        Lease lost = keeper.lock(name(), lively(keeper)).acquire();
        lose(lost, keeper());
        assertThat(get(lost.releaseAsync())).isFalse();
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
