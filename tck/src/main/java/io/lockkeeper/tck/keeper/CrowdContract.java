// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.keeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.DistributedLock;
import io.lockkeeper.Guarantee;
import io.lockkeeper.Lease;
import io.lockkeeper.LeaseLost;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.spi.Renewals;
import io.lockkeeper.tck.Tier;
import io.lockkeeper.tck.support.FaultContract;
import io.lockkeeper.tck.support.Promise;
import io.lockkeeper.tck.support.SignalTap;
import io.lockkeeper.testkit.FaultyStore;
import io.lockkeeper.testkit.StepKind;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** A client with many claims at once: nothing that it does to itself is the store's fault (H64), nor its holds' (H81). */
@SuppressWarnings("LockNotBeforeTry")
public abstract class CrowdContract extends FaultContract {
    private static final Duration TIMEOUT = Duration.ofSeconds(1);

    /** How long each claim takes. */
    private static final long STEP_MILLIS = 5;

    /** So many that the last of them waits for a thread of its lane for longer than a claim sent before that is good for. */
    private static final int CROWD = Tier.pick(1_300, 5_000);

    private FaultyStore slow() {
        FaultyStore store = faulty();
        store.observe((kind, argument) -> {
            if (kind == StepKind.CLAIM) {
                rest(STEP_MILLIS);
            }
        });
        return store;
    }

    private static void rest(long millis) {
        long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
        for (long left = until - System.nanoTime(); left > 0; left = until - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }

    private static Thread startVirtual(Runnable task) {
        try {
            Method start = Thread.class.getMethod("startVirtualThread", Runnable.class);
            return (Thread) start.invoke(null, task);
        } catch (ReflectiveOperationException e) {
            throw new LinkageError("there are virtual threads from Java 21 on", e);
        }
    }

    // ---- More steps than threads ----

    @Test
    void futuresThatWaitForAThreadAreNotRefusedAsLate() throws Exception {
        Lockkeeper keeper = keeper(slow(), b -> b.operationTimeout(TIMEOUT));
        List<CompletableFuture<Lease>> all = new ArrayList<>();
        for (int i = 0; i < CROWD; i++) {
            all.add(keeper.lock(name("n" + i), longLease()).acquireAsync());
        }
        releaseAll(all);
    }

    /** Virtual threads are there from Java 21 on; before that there is nothing to test. */
    @TestFactory
    Stream<DynamicTest> virtualThreads() {
        if (Runtime.version().feature() < 21) {
            return Stream.empty();
        }
        return Stream.of(DynamicTest.dynamicTest(
                "that wait for a thread are not refused as late", this::virtualThreadsAreNotRefusedAsLate));
    }

    private void virtualThreadsAreNotRefusedAsLate() throws Exception {
        Lockkeeper keeper = keeper(slow(), b -> b.operationTimeout(TIMEOUT));
        List<CompletableFuture<Lease>> all = new ArrayList<>();
        for (int i = 0; i < CROWD; i++) {
            DistributedLock lock = keeper.lock(name("n" + i), longLease());
            CompletableFuture<Lease> acquired = new CompletableFuture<>();
            all.add(acquired);
            startVirtual(() -> {
                try {
                    acquired.complete(lock.acquire());
                } catch (InterruptedException | RuntimeException | Error e) {
                    acquired.completeExceptionally(e);
                }
            });
        }
        releaseAll(all);
    }

    /** Asserts that all were acquired, and gives them back, so that other groups find the store as it was. */
    private static void releaseAll(List<CompletableFuture<Lease>> all) throws Exception {
        List<CompletableFuture<Boolean>> releases = new ArrayList<>();
        List<Throwable> failures = new CopyOnWriteArrayList<>();
        for (CompletableFuture<Lease> each : all) {
            releases.add(each.thenCompose(Lease::releaseAsync).whenComplete((released, failure) -> {
                if (failure != null) {
                    failures.add(failure);
                }
            }));
        }
        await("all are done", () -> releases.stream().allMatch(CompletableFuture::isDone));
        assertThat(failures).as("of " + all.size()).isEmpty();
        assertThat(releases).allMatch(CompletableFuture::join);
    }

    // ---- More waiters than can be refreshed in the time of a lease ----

    private static final int WAITERS = Tier.pick(100, 500);

    /** How long the refresh of one queued claim takes: of all, twice a short lease. */
    private static Duration refresh(Duration lease) {
        return lease.multipliedBy(2).dividedBy(WAITERS);
    }

    @Test
    void manyWaitersDoNotDelayTheRenewalOfHolds() throws Exception {
        Lockkeeper other = keeper();
        Promise.needed(other.guarantees(), Guarantee.FAIR);
        Duration lease = atLeast(2_000);
        Duration each = refresh(lease);
        FaultyStore store = faulty();
        Set<String> refreshed = ConcurrentHashMap.newKeySet();
        AtomicInteger mixed = new AtomicInteger();
        AtomicInteger refreshes = new AtomicInteger();
        store.observe((kind, argument) -> {
            if (argument instanceof Renewals batch && !batch.queued().isEmpty()) {
                refreshes.incrementAndGet();
                if (!batch.holds().isEmpty()) {
                    mixed.incrementAndGet();
                }
                rest(each.multipliedBy(batch.queued().size()).toMillis());
                batch.queued().forEach(claim -> refreshed.add(claim.name()));
            }
        });
        SignalTap tap = new SignalTap(store);
        Lockkeeper keeper = keeper(tap.store(), b -> b.patience(LONG));
        List<Lease> others = new ArrayList<>();
        List<CompletableFuture<Lease>> waiting = new ArrayList<>();
        for (int i = 0; i < WAITERS; i++) {
            others.add(hold(other.lock(name("n" + i), longLease())));
            waiting.add(keeper.lock(name("n" + i), longLease()).acquireAsync());
        }
        for (int i = 0; i < WAITERS; i++) {
            awaitWaiters(other, name("n" + i), 1);
        }
        List<LeaseLost> losses = new CopyOnWriteArrayList<>();
        LockOptions options = LockOptions.defaults().lease(lease);
        List<Lease> mine = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            mine.add(hold(keeper.lock(name("mine" + i), options)).onLost(losses::add));
        }
        refreshed.clear();
        tap.signals().missed(); // so that all are refreshed
        await("all waiters are refreshed", () -> refreshed.size() == WAITERS);
        assertThat(losses).isEmpty();
        assertThat(mine).allMatch(Lease::isValid);
        assertThat(mixed.get()).as("batches with holds and queued claims").isZero();
        assertThat(refreshes.get()).as("refreshing is batched").isLessThan(WAITERS);

        store.observe((kind, argument) -> {});
        waiting.forEach(future -> future.cancel(false));
        others.forEach(Lease::release);
        assertThat(mine).allMatch(Lease::release);
    }

    /** What was queued when the store was last heard of may be refreshed late; but all of it is, and in turn. */
    @Test
    void waitersAreStillServedWhileOthersAreRefreshed() throws Exception {
        Lockkeeper other = keeper();
        Promise.needed(other.guarantees(), Guarantee.FAIR);
        FaultyStore store = faulty();
        SignalTap tap = new SignalTap(store);
        Lockkeeper keeper = keeper(tap.store(), b -> b.patience(LONG));
        List<Lease> others = new ArrayList<>();
        List<CompletableFuture<Lease>> waiting = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            others.add(hold(other.lock(name("n" + i), longLease())));
            waiting.add(keeper.lock(name("n" + i), longLease()).acquireAsync());
        }
        for (int i = 0; i < 20; i++) {
            awaitWaiters(other, name("n" + i), 1);
        }
        store.loseSignals(true);
        store.observe((kind, argument) -> {
            if (argument instanceof Renewals batch) {
                rest(10L * batch.queued().size());
            }
        });
        others.forEach(Lease::release);
        tap.signals().missed();
        for (CompletableFuture<Lease> each : waiting) {
            assertThat(get(each).release()).isTrue();
        }
    }
}
