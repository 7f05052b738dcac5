// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.keeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.DistributedLatch;
import io.lockkeeper.DistributedLock;
import io.lockkeeper.Guarantee;
import io.lockkeeper.Lease;
import io.lockkeeper.LeaseLost;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.spi.LockStore;
import io.lockkeeper.spi.Renewals;
import io.lockkeeper.tck.Tier;
import io.lockkeeper.tck.support.Contract;
import io.lockkeeper.tck.support.OneAfterTheOther;
import io.lockkeeper.testkit.FaultyStore;
import io.lockkeeper.testkit.StepKind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/** Many names, many waiters, many holds: what each costs does not grow with their number, and nothing stays (H59, H60). */
@SuppressWarnings("LockNotBeforeTry")
public abstract class ScaleContract extends Contract implements OneAfterTheOther.Alone {
    private static final LockOptions FAIR = LockOptions.defaults().fair(true);

    private static final int CLIENTS = 4;

    /** A keeper's threads: some for each lane, some for callbacks, a timer; far fewer than there are locks here. */
    private static final int THREADS_OF_A_KEEPER = 64;

    /** A claim, a release, now and then a look: no acquisition needs more steps than this. */
    private static final int STEPS_PER_ACQUISITION = 4;

    // ---- Names ----

    @Test
    void namesThatComeAndGoLeaveNothingBehind() throws Exception {
        LockStore store = store();
        Lockkeeper keeper = keeper(store);
        assertThat(isFree(keeper.lock(name("first")))).isTrue();
        int threads = threads();
        long baseline = fixture().size();
        int names = Tier.pick(2_000, 100_000);
        AtomicInteger next = new AtomicInteger();
        List<Future<Integer>> workers = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            workers.add(async(() -> {
                int done = 0;
                for (int n = next.getAndIncrement(); n < names; n = next.getAndIncrement()) {
                    use(keeper, name("n" + n), n);
                    done++;
                }
                return done;
            }));
        }
        int used = 0;
        for (Future<Integer> worker : workers) {
            used += Tier.current() == Tier.CHECK ? get(worker) : worker.get();
        }
        assertThat(used).isEqualTo(names);
        assertThat(threads() - threads).as("more threads").isLessThan(THREADS_OF_A_KEEPER * lanes(store, names));
        awaitSize(store, baseline);
        assertThat(keeper.inspector().list(name("n"), 10)).isEmpty();
    }

    /** Each name once, in one of the ways that there are. */
    private static void use(Lockkeeper keeper, String name, int n) throws InterruptedException {
        switch (n % 6) {
            case 0 -> {
                DistributedLock lock = keeper.lock(name);
                lock.lock();
                lock.unlock();
            }
            case 1 ->
                assertThat(keeper.lock(name).tryAcquire().orElseThrow().release())
                        .isTrue();
            case 2 -> {
                if (keeper.guarantees().has(Guarantee.SHARED)) {
                    keeper.readWriteLock(name).readLock().acquire().close();
                }
            }
            case 3 -> {
                if (keeper.guarantees().has(Guarantee.PERMITS)) {
                    keeper.semaphore(name, 3).acquire(2).close();
                }
            }
            case 4 -> {
                if (keeper.guarantees().has(Guarantee.LATCH)) {
                    DistributedLatch latch = keeper.latch(name);
                    assertThat(latch.trySetCount(1)).isTrue();
                    latch.countDown();
                }
            }
            default -> {
                // One that is asked for twice: the second is refused, and leaves nothing either.
                try (Lease lease = keeper.lock(name, FAIR).acquire()) {
                    assertThat(lease.isValid()).isTrue();
                    assertThat(keeper.lock(name, FAIR).tryAcquire()).isEmpty();
                }
            }
        }
    }

    // ---- Waiters ----

    @Test
    void theStepsOfAnAcquisitionDoNotGrowWithTheThreadsThatWait() throws Exception {
        stepsDoNotGrow(10, this::thread);
        stepsDoNotGrow(100, this::thread);
    }

    private Future<?> thread(DistributedLock lock) {
        return async(() -> {
            try (Lease lease = lock.acquire()) {
                return lease.token();
            }
        });
    }

    @Test
    void theStepsOfAnAcquisitionDoNotGrowWithTheFuturesThatWait() throws Exception {
        int many = Tier.pick(300, 1_000);
        stepsDoNotGrow(10, ScaleContract::future);
        stepsDoNotGrow(many, ScaleContract::future);
    }

    private static Future<?> future(DistributedLock lock) {
        return lock.acquireAsync().thenCompose(Lease::releaseAsync);
    }

    /** Queues this many claims of several clients, lets them be served one after the other, and counts. */
    private void stepsDoNotGrow(int waiters, Function<DistributedLock, Future<?>> begin) throws Exception {
        String name = name("with-" + waiters);
        Lockkeeper first = keeper();
        Lease holder = first.lock(name).acquire();
        List<FaultyStore> stores = new ArrayList<>();
        List<DistributedLock> locks = new ArrayList<>();
        AtomicLong refreshes = new AtomicLong();
        for (int i = 0; i < CLIENTS; i++) {
            FaultyStore store = faulty();
            store.observe((kind, argument) -> {
                if (argument instanceof Renewals batch) {
                    refreshes.addAndGet(batch.queued().size());
                }
            });
            stores.add(store);
            locks.add(keeper(store).lock(name, FAIR));
        }
        List<Future<?>> all = new ArrayList<>();
        for (int n = 0; n < waiters; n++) {
            all.add(begin.apply(locks.get(n % CLIENTS)));
        }
        awaitWaiters(first, name, waiters);
        stores.forEach(FaultyStore::resetCounts);
        refreshes.set(0);
        long start = System.nanoTime();
        assertThat(holder.release()).isTrue();
        for (Future<?> future : all) {
            get(future);
        }
        long seconds = (System.nanoTime() - start) / 1_000_000_000;
        int steps = 0;
        for (FaultyStore store : stores) {
            // There is one renewal per client and interval, however many claims they name; each claim needs one every
            // few
            // seconds.
            steps += store.count() - store.count(StepKind.RENEW);
        }
        assertThat(steps).as("steps of " + waiters).isBetween(waiters, STEPS_PER_ACQUISITION * waiters);
        assertThat(refreshes.get()).as("claims refreshed").isLessThanOrEqualTo(waiters * (3 + seconds));
        assertThat(isFree(first.lock(name))).isTrue();
    }

    @Test
    void waitersCancelledAtOnceAllLeave() throws Exception {
        String name = name();
        LockStore store = store();
        Lockkeeper first = keeper(store);
        FaultyStore counted = faulty();
        // With this patience its claims leave the queue only when they are withdrawn.
        Lockkeeper second = closing(
                Lockkeeper.builder(counted).patience(Duration.ofHours(1)).build());
        long baseline = fixture().size();
        Lease holder = first.lock(name).acquire();
        int waiters = Tier.pick(300, 1_000);
        int threads = threads();
        List<CompletableFuture<Lease>> all = new ArrayList<>();
        for (int n = 0; n < waiters; n++) {
            all.add(second.lock(name, FAIR).acquireAsync());
        }
        awaitWaiters(first, name, waiters);
        assertThat(threads() - threads).as("more threads").isLessThan(THREADS_OF_A_KEEPER);
        counted.resetCounts();
        all.forEach(future -> future.cancel(true));
        awaitWaiters(first, name, 0);
        assertThat(counted.count() - counted.count(StepKind.RENEW))
                .as("steps to leave")
                .isLessThanOrEqualTo(2 * waiters);
        assertThat(all).allMatch(CompletableFuture::isCancelled);
        assertThat(holder.isValid()).isTrue();
        assertThat(holder.release()).isTrue();
        // Nobody was left to hand it to.
        Lease next = first.lock(name).tryAcquire().orElseThrow();
        assertThat(next.release()).isTrue();
        awaitSize(store, baseline);
    }

    // ---- Holds ----

    @Test
    void idleHoldsAreKeptAliveByAFewStepsForAll() throws Exception {
        FaultyStore store = faulty();
        Lockkeeper keeper = keeper(store);
        long baseline = fixture().size();
        Duration shortest = keeper.guarantees().shortestLease();
        Duration usual = Duration.ofSeconds(Tier.pick(3, 10));
        Duration lease = shortest.compareTo(usual) < 0 ? usual : shortest;
        int holds = Math.min(Tier.pick(500, 10_000), fixture().mostHolds());
        Map<String, Integer> renewals = new ConcurrentHashMap<>();
        store.observe((kind, argument) -> {
            if (argument instanceof Renewals batch) {
                batch.holds()
                        .forEach(hold -> renewals.merge(hold.grant().claim().name(), 1, Integer::sum));
            }
        });
        List<Lease> all = new ArrayList<>();
        ConcurrentLinkedQueue<LeaseLost> losses = new ConcurrentLinkedQueue<>();
        for (int n = 0; n < holds; n++) {
            Lease held = keeper.lock(name("n" + n), LockOptions.defaults().lease(lease))
                    .tryAcquire()
                    .orElseThrow();
            all.add(held.onLost(losses::add));
        }

        renewals.clear();
        store.resetCounts();
        long start = System.nanoTime();
        await(
                "three renewals of each",
                () -> renewals.size() == holds && renewals.values().stream().allMatch(times -> times >= 3));
        double leases = (double) (System.nanoTime() - start) / lease.toNanos();
        // Each is renewed three times a lease, together with those that are due a tenth of the lease later.
        assertThat(store.count(StepKind.RENEW))
                .as("renewals in " + leases + " leases")
                .isLessThanOrEqualTo((int) (12 * lanes(store, holds) * (leases + 1)));
        assertThat(store.count()).isEqualTo(store.count(StepKind.RENEW));
        assertThat(losses).isEmpty();
        assertThat(all).allMatch(Lease::isValid);

        List<CompletableFuture<Boolean>> releases =
                all.stream().map(Lease::releaseAsync).toList();
        for (CompletableFuture<Boolean> release : releases) {
            assertThat(get(release)).isTrue();
        }
        awaitSize(store, baseline);
    }

    // ---- Help ----

    /** Waits until the store is as small as before; what it must remember for a moment is gone then. */
    private void awaitSize(LockStore store, long baseline) throws InterruptedException {
        await("a store of " + baseline + " records", () -> {
            assertThat(store.inspect(name("unused"))).isEmpty(); // a store may clear up only when it is used
            return fixture().size() <= baseline;
        });
    }

    /** The number of lanes that the names of a test are in. */
    private int lanes(LockStore store, int names) {
        Set<Object> lanes = new HashSet<>();
        for (int n = 0; n < names; n++) {
            lanes.add(store.lane(name("n" + n)));
        }
        return lanes.size();
    }

    /** The threads of all keepers in this JVM. */
    private static int threads() {
        return (int) Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("lockkeeper-"))
                .count();
    }
}
