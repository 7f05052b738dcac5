// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.keeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.DistributedLock;
import io.lockkeeper.Guarantee;
import io.lockkeeper.KeeperClosedException;
import io.lockkeeper.KeeperListener;
import io.lockkeeper.Lease;
import io.lockkeeper.LeaseLost;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.tck.support.HandleContract;
import io.lockkeeper.tck.support.Promise;
import io.lockkeeper.tck.support.Warnings;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * H88: the user's executor does not run what it is given. If it has been shut down, nobody will ever use the lock: it is
 * released, and the future fails. If it is only full, the future completes on the keeper's own threads. Holders are notified of
 * a loss in any case.
 */
public abstract class ExecutorContract extends HandleContract {
    private final CompletableFuture<LeaseLost> lost = new CompletableFuture<>();
    private Lockkeeper other;

    /** When the executor is shut down. */
    enum Shutdown {
        BEFORE_THE_CALL,
        WHILE_IT_WAITS,
        /** The executor has accepted the completion, and drops it. */
        WITH_THE_COMPLETION_QUEUED
    }

    @BeforeEach
    final void other() {
        other = keeper();
    }

    private Lockkeeper keeper(ExecutorService pool) {
        closing(pool::shutdownNow);
        return closing(Lockkeeper.builder(store())
                .executor(pool)
                .listener(new KeeperListener() {
                    @Override
                    public void lost(LeaseLost loss) {
                        lost.complete(loss);
                    }
                })
                .build());
    }

    private static ThreadPoolExecutor pool() {
        return new ThreadPoolExecutor(1, 1, 1, TimeUnit.MINUTES, new LinkedBlockingQueue<>());
    }

    /** Shuts the executor down at its moment, while a future waits for something that {@code comes}. */
    private <T> CompletableFuture<T> shutDown(
            Shutdown when, ThreadPoolExecutor pool, Work<CompletableFuture<T>> call, Work<?> waits, Work<?> comes)
            throws Exception {
        CountDownLatch busy = new CountDownLatch(1);
        CountDownLatch never = new CountDownLatch(1);
        if (when == Shutdown.BEFORE_THE_CALL) {
            pool.shutdown();
        } else if (when == Shutdown.WITH_THE_COMPLETION_QUEUED) {
            pool.execute(() -> {
                busy.countDown();
                try {
                    never.await(); // until shutdownNow interrupts it
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            });
            assertThat(busy.await(LONG.toSeconds(), TimeUnit.SECONDS)).isTrue();
        }
        CompletableFuture<T> future = call.run();
        if (when != Shutdown.BEFORE_THE_CALL) { // then it may fail at once, and never wait
            waits.run();
        }
        if (when == Shutdown.WHILE_IT_WAITS) {
            pool.shutdown();
        }
        comes.run();
        if (when == Shutdown.WITH_THE_COMPLETION_QUEUED) {
            await("the executor has the completion", () -> !pool.getQueue().isEmpty());
            pool.shutdownNow();
        }
        return future;
    }

    private void assertRejected(CompletableFuture<?> future) throws Exception {
        assertThat(rejection(failure(future))).as("it was rejected").isTrue();
    }

    private static boolean rejection(Throwable failure) {
        for (Throwable e = failure; e != null; e = e.getCause()) {
            if (e instanceof RejectedExecutionException) {
                return true;
            }
        }
        return false;
    }

    private <T> void shutDownBehindALock(
            Shutdown when, String name, Lockkeeper keeper, ThreadPoolExecutor pool, Work<CompletableFuture<T>> call)
            throws Exception {
        Lease held = other.lock(name).acquire();
        assertRejected(shutDown(
                when,
                pool,
                call,
                () -> {
                    awaitQueued(other, name, 1);
                    return true;
                },
                held::release));
        freeSoon(other.lock(name));
        assertThat(keeper.lock(name).tryAcquire().map(Lease::release))
                .as("the keeper goes on for callers that wait themselves")
                .contains(true);
    }

    @ParameterizedTest
    @EnumSource(Shutdown.class)
    void aLockIsReleased(Shutdown when) throws Exception {
        ThreadPoolExecutor pool = pool();
        Lockkeeper keeper = keeper(pool);
        DistributedLock lock = keeper.lock(name(), outlasting());
        shutDownBehindALock(when, name(), keeper, pool, lock::acquireAsync);
    }

    @ParameterizedTest
    @EnumSource(Shutdown.class)
    void aLockThatWasTriedIsReleased(Shutdown when) throws Exception {
        ThreadPoolExecutor pool = pool();
        Lockkeeper keeper = keeper(pool);
        DistributedLock lock = keeper.lock(name(), outlasting());
        shutDownBehindALock(when, name(), keeper, pool, () -> lock.tryAcquireAsync(LONG));
    }

    @ParameterizedTest
    @EnumSource(Shutdown.class)
    void aLockOfSeveralIsReleased(Shutdown when) throws Exception {
        ThreadPoolExecutor pool = pool();
        Lockkeeper keeper = keeper(pool);
        DistributedLock all =
                DistributedLock.all(keeper.lock(name("a"), outlasting()), keeper.lock(name("b"), outlasting()));
        shutDownBehindALock(when, name("b"), keeper, pool, all::acquireAsync);
        freeSoon(other.lock(name("a")));
    }

    @ParameterizedTest
    @EnumSource(Shutdown.class)
    void permitsAreReleased(Shutdown when) throws Exception {
        ThreadPoolExecutor pool = pool();
        Lockkeeper keeper = keeper(pool);
        Promise.needed(keeper.guarantees(), Guarantee.PERMITS);
        Lease held = other.semaphore(name(), 2).acquire(2);
        assertRejected(shutDown(
                when,
                pool,
                () -> keeper.semaphore(name(), 2, outlasting()).acquireAsync(1),
                () -> {
                    awaitQueued(other, name(), 1);
                    return true;
                },
                held::release));
        soon("all permits are there", () -> other.semaphore(name(), 2).availablePermits() == 2);
    }

    @ParameterizedTest
    @EnumSource(Shutdown.class)
    void aWaitForALatchEnds(Shutdown when) throws Exception {
        ThreadPoolExecutor pool = pool();
        Lockkeeper keeper = keeper(pool);
        Promise.needed(keeper.guarantees(), Guarantee.LATCH);
        assertThat(other.latch(name()).trySetCount(1)).isTrue();
        get(shutDown(when, pool, () -> keeper.latch(name()).awaitAsync(), () -> true, () -> {
            other.latch(name()).countDown();
            return true;
        })); // there is nothing to release: it completes on a thread of the keeper's
    }

    @Test
    void theReleaseIsLogged() throws Exception {
        Warnings warnings = closing(new Warnings());
        ThreadPoolExecutor pool = pool();
        Lockkeeper keeper = keeper(pool);
        pool.shutdown();
        assertThat(rejection(failure(keeper.lock(name(), outlasting()).acquireAsync())))
                .isTrue();
        freeSoon(other.lock(name()));
        await("it is logged, with the name of the lock", () -> !warnings.of(name())
                .isEmpty());
    }

    @Test
    void anExecutorThatIsOnlyFullLosesNoCompletion() throws Exception {
        ThreadPoolExecutor pool = new ThreadPoolExecutor(1, 1, 1, TimeUnit.MINUTES, new SynchronousQueue<>());
        Lockkeeper keeper = keeper(pool);
        CountDownLatch busy = blockage();
        pool.execute(() -> block(busy));
        Lease held = other.lock(name()).acquire();
        CompletableFuture<String> completes = keeper.lock(name(), outlasting())
                .acquireAsync()
                .thenApply(lease -> Thread.currentThread().getName() + lease.release());
        CompletableFuture<Optional<Lease>> timesOut = keeper.lock(name()).tryAcquireAsync(Duration.ofMillis(20));
        assertThat(get(timesOut)).isEmpty();
        awaitQueued(other, name(), 1);
        assertThat(held.release()).isTrue();
        assertThat(get(completes)).startsWith("lockkeeper-").endsWith("true");
        freeSoon(other.lock(name()));
    }

    @Test
    void holdersAreNotifiedAlsoAfterTheExecutorWasShutDown() throws Exception {
        ThreadPoolExecutor pool = pool();
        Lockkeeper keeper = keeper(pool);
        LockOptions lively = LockOptions.defaults().lease(longer(Duration.ofMillis(2_500), keeper));
        Lease lease = keeper.lock(name(), lively).acquire();
        CompletableFuture<LeaseLost> told = new CompletableFuture<>();
        lease.onLost(told::complete);
        pool.shutdown();
        lose(lease, other);
        assertThat(get(told).token()).isEqualTo(lease.token());
        assertThat(get(lost).token()).as("the listener").isEqualTo(lease.token());
    }

    @Test
    void holdersAreNotifiedAlsoWhenTheExecutorDropsWhatItWasGiven() throws Exception {
        ThreadPoolExecutor pool = pool();
        Lockkeeper keeper = keeper(pool);
        LockOptions lively = LockOptions.defaults().lease(longer(Duration.ofMillis(2_500), keeper));
        Lease lease = keeper.lock(name(), lively).acquire();
        CompletableFuture<LeaseLost> told = new CompletableFuture<>();
        CountDownLatch busy = new CountDownLatch(1);
        CountDownLatch never = new CountDownLatch(1);
        pool.execute(() -> {
            busy.countDown();
            try {
                never.await(); // until shutdownNow interrupts it
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        assertThat(busy.await(LONG.toSeconds(), TimeUnit.SECONDS)).isTrue();
        lease.onLost(told::complete);
        lose(lease, other);
        pool.shutdownNow();
        assertThat(get(told).token()).isEqualTo(lease.token());
        assertThat(get(lost).token()).as("the listener").isEqualTo(lease.token());
    }

    /** How an executor does not run what it was given, although it is not shut down. */
    enum Stall {
        ITS_ONLY_THREAD_WAITS,
        IT_DROPS_ALL
    }

    private Lockkeeper stalled(Stall stall, ThreadPoolExecutor pool) {
        closing(pool::shutdownNow);
        Executor drops = task -> {};
        return closing(Lockkeeper.builder(store())
                .executor(stall == Stall.IT_DROPS_ALL ? drops : pool)
                .build());
    }

    @ParameterizedTest
    @EnumSource(Stall.class)
    void aClosedKeeperCompletesAllFuturesAlthoughItsExecutorRunsNone(Stall stall) throws Exception {
        ThreadPoolExecutor pool = pool();
        Lockkeeper keeper = stalled(stall, pool);
        Lease held = other.lock(name()).acquire();
        List<CompletableFuture<?>> waits = new ArrayList<>();
        waits.add(keeper.lock(name()).acquireAsync());
        waits.add(keeper.lock(name()).tryAcquireAsync(LONG));
        waits.add(
                DistributedLock.all(keeper.lock(name("a")), keeper.lock(name())).acquireAsync());
        if (keeper.guarantees().has(Guarantee.LATCH)) {
            assertThat(other.latch(name("latch")).trySetCount(1)).isTrue();
            waits.add(keeper.latch(name("latch")).awaitAsync());
        }
        Lease mine = keeper.lock(name("mine")).acquire();
        CompletableFuture<Throwable> seen = new CompletableFuture<>();
        pool.execute(() -> seen.complete(failure(waits.get(0))));
        awaitQueued(other, name(), 1);
        await("a part is held", () -> other.lock(name("a")).isLocked());
        CompletableFuture<Boolean> released = mine.releaseAsync();
        keeper.close();
        for (CompletableFuture<?> each : waits) {
            assertThat(failure(each)).isInstanceOf(KeeperClosedException.class);
        }
        assertThat(get(seen)).isInstanceOf(KeeperClosedException.class);
        assertThat(get(released)).isTrue();
        assertThat(held.release()).isTrue();
        freeSoon(other.lock(name()));
        freeSoon(other.lock(name("a")));
        freeSoon(other.lock(name("mine")));
    }

    @ParameterizedTest
    @EnumSource(Stall.class)
    void futuresCompleteAlthoughTheExecutorRunsNone(Stall stall) throws Exception {
        ThreadPoolExecutor pool = pool();
        Lockkeeper keeper = stalled(stall, pool);
        Lease held = other.lock(name()).acquire();
        Future<String> waits = pool.submit(() -> {
            String completing = get(keeper.lock(name(), outlasting())
                    .acquireAsync()
                    .thenApply(lease -> Thread.currentThread().getName() + lease.release()));
            Lease all = get(DistributedLock.all(keeper.lock(name("a")), keeper.lock(name("b")))
                    .acquireAsync());
            assertThat(get(all.releaseAsync())).isTrue();
            if (keeper.guarantees().has(Guarantee.LATCH)) {
                get(keeper.latch(name("open")).awaitAsync());
            }
            return completing;
        });
        awaitQueued(other, name(), 1);
        assertThat(held.release()).isTrue();
        assertThat(get(waits))
                .as("it completes on a thread of the keeper's")
                .startsWith("lockkeeper-")
                .endsWith("true");
        freeSoon(other.lock(name()));
        freeSoon(DistributedLock.all(other.lock(name("a")), other.lock(name("b"))));
    }
}
