// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.keeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.lockkeeper.DistributedLock;
import io.lockkeeper.Guarantee;
import io.lockkeeper.KeeperClosedException;
import io.lockkeeper.LeaderElection;
import io.lockkeeper.Lease;
import io.lockkeeper.LeaseLost;
import io.lockkeeper.LeaseLostException;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.spi.LockStore;
import io.lockkeeper.tck.support.ApiContract;
import io.lockkeeper.testkit.FaultyStore;
import io.lockkeeper.testkit.Gate;
import io.lockkeeper.testkit.StepKind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** The end of a keeper: nobody waits on, nothing stays held, no thread is left. hazards H18. */
@SuppressWarnings("LockNotBeforeTry")
public abstract class CloseContract extends ApiContract {
    @Test
    void allWaitersEnd() throws Exception {
        Lockkeeper keeper = keeper();
        Lockkeeper other = keeper();
        Lease held = other.lock(name()).acquire();
        DistributedLock lock = keeper.lock(name());
        DistributedLock fair = keeper.lock(name(), LockOptions.defaults().fair(true));
        List<Future<?>> waits = new ArrayList<>();
        waits.add(async(lock::acquire));
        waits.add(async(() -> lock.tryAcquire(LONG)));
        waits.add(async(() -> lock.tryLock(LONG.toSeconds(), TimeUnit.SECONDS)));
        waits.add(async(locking(lock::lock)));
        waits.add(async(locking(lock::lockInterruptibly)));
        waits.add(async(() -> lock.tryCall(LONG, Lease::token)));
        waits.add(lock.acquireAsync());
        waits.add(lock.tryAcquireAsync(LONG));
        waits.add(async(fair::acquire));
        waits.add(fair.acquireAsync());
        awaitQueued(other, name(), 3);
        keeper.close();
        for (Future<?> each : waits) {
            endsClosed(each);
        }
        awaitQueued(other, name(), 0);
        assertThat(held.release()).isTrue();
        assertThat(isFree(other.lock(name()))).as("nobody acquires it later").isTrue();
    }

    private interface Locking {
        void run() throws Exception;
    }

    private static Callable<Boolean> locking(Locking lock) {
        return () -> {
            lock.run();
            return true;
        };
    }

    private static void endsClosed(Future<?> wait) {
        assertThatExceptionOfType(ExecutionException.class)
                .isThrownBy(() -> get(wait))
                .withCauseInstanceOf(KeeperClosedException.class);
    }

    @Test
    void waitersForPermitsAndLatchesEndToo() throws Exception {
        Lockkeeper keeper = keeper();
        Lockkeeper other = keeper();
        List<Future<?>> waits = new ArrayList<>();
        if (keeper.guarantees().has(Guarantee.PERMITS)) {
            closing(other.semaphore(name("s"), 1).acquire());
            waits.add(async(() -> keeper.semaphore(name("s"), 1).acquire()));
            waits.add(keeper.semaphore(name("s"), 1).acquireAsync(1));
            awaitQueued(other, name("s"), 1); // they share a claim
        }
        if (keeper.guarantees().has(Guarantee.LATCH)) {
            assertThat(other.latch(name("l")).trySetCount(1)).isTrue();
            waits.add(async(() -> {
                keeper.latch(name("l")).await();
                return true;
            }));
            waits.add(async(() -> keeper.latch(name("l")).await(LONG)));
            waits.add(keeper.latch(name("l")).awaitAsync());
        }
        keeper.close();
        for (Future<?> each : waits) {
            endsClosed(each);
        }
    }

    @Test
    void holdersAreNotifiedAndOthersAcquireAtOnce() throws Exception {
        Lockkeeper keeper = keeper();
        Lockkeeper other = keeper();
        Queue<LeaseLost> told = new ConcurrentLinkedQueue<>();
        Lease lease = keeper.lock(name()).acquire().onLost(told::add);
        DistributedLock lock = keeper.lock(name("y"));
        lock.lock();
        lock.lease().onLost(told::add);
        Future<Lease> waits = other.lock(name()).acquireAsync();
        awaitQueued(other, name(), 1);
        keeper.close();
        assertThat(lease.isValid()).isFalse();
        await("both are notified", () -> told.size() == 2);
        assertThat(told).extracting(LeaseLost::reason).containsOnly(LeaseLost.Reason.CLOSED);
        assertThat(isFree(other.lock(name("y"))))
                .as("released in the store, long before the lease ends")
                .isTrue();
        Lease next = get(waits);
        assertThat(next.token()).isGreaterThan(lease.token());
        assertThat(lease.release()).isFalse();
        assertThat(get(lease.releaseAsync())).isFalse();
        assertThatExceptionOfType(LeaseLostException.class).isThrownBy(lease::ensureValid);
        assertThatExceptionOfType(IllegalMonitorStateException.class)
                .isThrownBy(lock::unlock)
                .withCauseInstanceOf(LeaseLostException.class);
        assertThat(next.isValid()).isTrue();
        assertThat(next.release()).isTrue();
        assertThat(told).as("reported once").hasSize(2);
    }

    @Test
    void closingALeaseOfAClosedKeeperReportsTheLoss() throws Exception {
        Lockkeeper keeper = keeper();
        Lease lease = keeper.lock(name()).acquire();
        keeper.close();
        assertThatExceptionOfType(LeaseLostException.class)
                .isThrownBy(lease::close)
                .satisfies(e -> assertThat(e.loss().reason()).isEqualTo(LeaseLost.Reason.CLOSED));
        lease.close();
    }

    @Test
    void theWorkOfAHolderIsInterruptedIfItAskedForThat() throws Exception {
        Lockkeeper keeper = keeper();
        CountDownLatch works = new CountDownLatch(1);
        Future<Boolean> work = async(() -> {
            Lease lease = keeper.lock(name()).acquire().interruptOnLoss();
            works.countDown();
            try {
                new CountDownLatch(1).await();
                return false;
            } catch (InterruptedException e) {
                return !lease.isValid();
            }
        });
        assertThat(works.await(LONG.toSeconds(), TimeUnit.SECONDS)).isTrue();
        keeper.close();
        assertThat(get(work)).isTrue();
    }

    @Test
    void noThreadIsLeft() throws Exception {
        String client = "leaves-" + Long.toHexString(System.nanoTime());
        Lockkeeper other = keeper();
        Lockkeeper keeper =
                closing(Lockkeeper.builder(store()).clientName(client).build());
        Lease held = other.lock(name("busy")).acquire();
        closing(keeper.inspector().watch(name(""), info -> {}));
        Lease lease = keeper.lock(name(), lively(keeper)).acquire();
        lease.onLost(loss -> {});
        Future<Lease> async = keeper.lock(name("busy")).acquireAsync();
        Future<Lease> sync = async(() -> keeper.lock(name("busy")).acquire());
        LeaderElection election = keeper.election(name("e")).start(won -> {
            try {
                new CountDownLatch(1).await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        await("it leads", election::isLeader);
        if (keeper.guarantees().has(Guarantee.LATCH)) {
            assertThat(keeper.latch(name()).trySetCount(1)).isTrue();
            Future<Void> opens = keeper.latch(name()).awaitAsync();
            assertThat(opens).isNotDone();
        }
        awaitQueued(other, name("busy"), 1);
        assertThat(threads(client)).isNotEmpty();
        keeper.close();
        endsClosed(async);
        endsClosed(sync);
        await("its threads have ended", () -> threads(client).isEmpty());
        assertThat(held.release()).isTrue();
        assertThat(lease.release()).isFalse();
        assertThat(threads(client)).as("nothing starts again").isEmpty();
    }

    private static List<String> threads(String client) {
        return Thread.getAllStackTraces().keySet().stream()
                .map(Thread::getName)
                .filter(name -> name.startsWith("lockkeeper-" + client))
                .toList();
    }

    @Test
    void aStoreThatWasGivenIsNotClosed() throws Exception {
        LockStore store = store();
        Lockkeeper one = keeper(store);
        Lockkeeper two = keeper(store);
        Lease lease = two.lock(name()).acquire();
        one.close();
        assertThat(lease.isValid()).isTrue();
        assertThat(two.inspector().check(lease.sequencer())).isTrue();
        assertThat(isTaken(keeper(store).lock(name()))).isTrue();
        assertThat(lease.release()).isTrue();
    }

    @Test
    void aGrantThatArrivesWhileClosingIsReleased() throws Exception {
        for (StepWay way : StepWay.values()) {
            FaultyStore store = faulty();
            Lockkeeper keeper = keeper(store);
            DistributedLock other = keeper().lock(name());
            Gate gate = way == StepWay.AFTER ? store.pauseAfter(StepKind.CLAIM) : store.pauseBefore(StepKind.CLAIM);
            Future<Lease> waits = async(() -> keeper.lock(name()).acquire());
            assertThat(gate.awaitArrival(LONG)).isTrue();
            keeper.close();
            gate.open();
            endsClosed(waits);
            assertThat(isFree(other)).isTrue();
        }
    }

    private enum StepWay {
        BEFORE,
        AFTER
    }

    @Test
    void aClaimQueuedWhileClosingIsWithdrawn() throws Exception {
        FaultyStore store = faulty();
        Lockkeeper keeper = keeper(store);
        Lockkeeper other = keeper();
        Lease held = other.lock(name()).acquire();
        Gate gate = store.pauseAfter(StepKind.CLAIM);
        Future<Lease> waits = async(() -> keeper.lock(name()).acquire());
        assertThat(gate.awaitArrival(LONG)).isTrue();
        keeper.close();
        gate.open();
        endsClosed(waits);
        awaitQueued(other, name(), 0);
        assertThat(held.release()).isTrue();
        assertThat(isFree(other.lock(name()))).isTrue();
    }

    @Test
    void closeEndsAlsoWhenTheStoreIsAway() throws Exception {
        FaultyStore store = faulty();
        Lockkeeper keeper = closing(Lockkeeper.builder(store)
                .operationTimeout(Duration.ofMillis(500))
                .build());
        Lockkeeper other = keeper();
        closing(other.lock(name("busy")).acquire());
        Lease lease = keeper.lock(name(), brief(keeper)).acquire();
        Future<Lease> waits = async(() -> keeper.lock(name("busy")).acquire());
        awaitQueued(other, name("busy"), 1);
        await(
                "it waits",
                () -> store.count(StepKind.CLAIM) >= (keeper.guarantees().has(Guarantee.FAIR) ? 2 : 3));
        store.down();
        get(async(locking(keeper::close)));
        endsClosed(waits);
        assertThat(lease.isValid()).isFalse();
        assertThat(other.lock(name()).acquire().release())
                .as("the lease ends by itself")
                .isTrue();
        store.up();
    }

    @Test
    void aKeeperMayBeClosedByACallback() throws Exception {
        Lockkeeper keeper = keeper();
        Lockkeeper other = keeper();
        Lease lease = keeper.lock(name(), lively(keeper)).acquire();
        Lease kept = keeper.lock(name("kept")).acquire();
        CountDownLatch closed = new CountDownLatch(1);
        lease.onLost(loss -> {
            keeper.close();
            closed.countDown();
        });
        lose(lease, other);
        assertThat(closed.await(LONG.toSeconds(), TimeUnit.SECONDS)).isTrue();
        assertThat(kept.isValid()).isFalse();
        awaitFree(other.lock(name("kept")));
    }

    @Test
    void closingFromManyThreadsIsClosingOnce() throws Exception {
        Lockkeeper keeper = keeper();
        Queue<LeaseLost> told = new ConcurrentLinkedQueue<>();
        Lease lease = keeper.lock(name()).acquire().onLost(told::add);
        List<Future<Boolean>> all = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            all.add(async(locking(keeper::close)));
        }
        for (Future<Boolean> each : all) {
            get(each);
        }
        await("notified", () -> !told.isEmpty());
        awaitFree(keeper().lock(name()));
        assertThat(told).hasSize(1);
        assertThat(lease.release()).isFalse();
    }
}
