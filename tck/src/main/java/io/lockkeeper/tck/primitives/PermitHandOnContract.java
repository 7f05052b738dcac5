// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.primitives;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.DistributedSemaphore;
import io.lockkeeper.Guarantee;
import io.lockkeeper.Lease;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.Sequencer;
import io.lockkeeper.tck.support.HandleContract;
import io.lockkeeper.tck.support.Promise;
import io.lockkeeper.testkit.FaultyStore;
import io.lockkeeper.testkit.StepKind;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.ToIntFunction;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Permits are passed from thread to thread within a process, without the store, as an exclusive hold is: few steps for many
 * acquisitions, each with its own token, within bounds that let other processes have their turn.
 */
public abstract class PermitHandOnContract extends HandleContract {
    private static final int THREADS = 8;
    private static final int LIMIT = 2;

    private FaultyStore store;
    private Lockkeeper keeper;
    private Lockkeeper other;
    private final AtomicBoolean end = new AtomicBoolean();
    private final AtomicInteger acquisitions = new AtomicInteger();
    private final AtomicInteger inside = new AtomicInteger();
    private final AtomicInteger waiting = new AtomicInteger();
    private final AtomicInteger most = new AtomicInteger();
    private final Set<Long> tokens = ConcurrentHashMap.newKeySet();

    @BeforeEach
    final void keepers() {
        store = faulty();
        keeper = keeper(store);
        other = keeper();
        Promise.needed(keeper.guarantees(), Guarantee.PERMITS);
    }

    private int steps() {
        return store.count(StepKind.CLAIM) + store.count(StepKind.RELEASE) + store.count(StepKind.WITHDRAW);
    }

    /** Threads that acquire and release until the end; each takes as many permits as its number says. */
    private List<Future<Boolean>> work(
            DistributedSemaphore permits, ToIntFunction<Integer> wants, boolean readsSequencer) {
        List<Future<Boolean>> threads = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            int wanted = wants.applyAsInt(i);
            threads.add(async(() -> {
                while (!end.get()) {
                    waiting.incrementAndGet();
                    try (Lease lease = permits.acquire(wanted)) {
                        waiting.decrementAndGet();
                        int now = inside.addAndGet(wanted);
                        most.accumulateAndGet(now, Math::max);
                        assertThat(tokens.add(lease.token()))
                                .as("its own token")
                                .isTrue();
                        assertThat(lease.isValid()).isTrue();
                        if (readsSequencer) {
                            assertThat(lease.sequencer().token()).isEqualTo(lease.token());
                        }
                        inside.addAndGet(-wanted);
                        letOthersCome();
                    }
                    acquisitions.incrementAndGet();
                }
                return true;
            }));
        }
        return threads;
    }

    /** What nobody waits for cannot be passed on: on a busy machine the others may not have had a turn yet. */
    private void letOthersCome() {
        long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(2);
        while (waiting.get() < 2 && !end.get() && System.nanoTime() < until) {
            LockSupport.parkNanos(10_000);
        }
    }

    private void end(List<Future<Boolean>> threads) throws Exception {
        end.set(true);
        for (Future<Boolean> each : threads) {
            assertThat(get(each)).isTrue();
        }
    }

    private void allAreBack(int limit) throws Exception {
        soon("all permits are there", () -> other.semaphore(name(), limit).availablePermits() == limit);
    }

    @Test
    void manyAcquisitionsCostFewSteps() throws Exception {
        long begin = System.nanoTime();
        List<Future<Boolean>> threads = work(keeper.semaphore(name(), LIMIT, outlasting()), i -> 1, false);
        await("thousands of acquisitions", () -> acquisitions.get() >= 3_000);
        int done = acquisitions.get();
        int made = steps();
        long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begin);
        end(threads);
        // A hold is passed on for 50 ms: where that is not enough for many, each permit costs a claim and a release in
        // that time.
        long byTime = 2L * LIMIT * (millis / 50 + 1);
        assertThat((long) made)
                .as("steps for %d acquisitions in %d ms", done, millis)
                .isLessThan(done / 4 + byTime)
                .isLessThan(done);
        assertThat(most).as("at once").hasValueLessThanOrEqualTo(LIMIT);
        assertThat(tokens).hasSize(acquisitions.get());
        allAreBack(LIMIT);
    }

    @Test
    void otherProcessesHaveTheirTurn() throws Exception {
        List<Future<Boolean>> threads = work(keeper.semaphore(name(), LIMIT, outlasting()), i -> 1, false);
        DistributedSemaphore others = other.semaphore(name(), LIMIT, outlasting());
        for (int i = 0; i < 5; i++) {
            int before = acquisitions.get();
            await("they work", () -> acquisitions.get() > before + THREADS);
            Lease one = others.tryAcquire(1, LONG).orElseThrow(() -> new AssertionError("it was never its turn"));
            assertThat(one.isValid()).isTrue();
            assertThat(one.release()).isTrue();
            Lease both = others.tryAcquire(LIMIT, LONG).orElseThrow(() -> new AssertionError("never all permits"));
            assertThat(inside).as("all permits are here").hasValue(0);
            assertThat(both.release()).isTrue();
        }
        end(threads);
        assertThat(most).hasValueLessThanOrEqualTo(LIMIT);
        allAreBack(LIMIT);
    }

    @Test
    void fairOnesPassNothingOn() throws Exception {
        LockOptions fair = outlasting().fair(true);
        List<Future<Boolean>> threads = work(keeper.semaphore(name(), LIMIT, fair), i -> 1, false);
        await("many acquisitions", () -> acquisitions.get() >= 200);
        end(threads);
        assertThat(store.count(StepKind.CLAIM)).isGreaterThanOrEqualTo(acquisitions.get());
        assertThat(store.count(StepKind.RELEASE)).isGreaterThanOrEqualTo(acquisitions.get());
        allAreBack(LIMIT);
    }

    @Test
    void aHoldWhoseSequencerWasReadIsNotPassedOn() throws Exception {
        List<Future<Boolean>> threads = work(keeper.semaphore(name(), LIMIT, outlasting()), i -> 1, true);
        await("many acquisitions", () -> acquisitions.get() >= 200);
        end(threads);
        assertThat(store.count(StepKind.RELEASE)).isGreaterThanOrEqualTo(acquisitions.get());
        allAreBack(LIMIT);
    }

    @Test
    void aSequencerIsNotInForceOnceItsPermitsArePassedToOthers() throws Exception {
        DistributedSemaphore permits = keeper.semaphore(name(), 1, outlasting());
        Lease first = permits.acquire();
        Sequencer sequencer = first.sequencer();
        Future<Lease> next = permits.acquireAsync(1);
        assertThat(first.release()).isTrue();
        Lease second = get(next);
        assertThat(other.inspector().check(sequencer)).isFalse();
        assertThat(second.token()).isNotEqualTo(first.token());
        assertThat(second.release()).isTrue();
    }

    @Test
    void permitsPassOnlyToWaitersForTheSameNumber() throws Exception {
        int limit = 4;
        List<Future<Boolean>> threads = work(keeper.semaphore(name(), limit, outlasting()), i -> 1 + i % 3, false);
        await("many acquisitions", () -> acquisitions.get() >= 500);
        end(threads);
        assertThat(most).as("permits out at once").hasValueLessThanOrEqualTo(limit);
        assertThat(tokens).hasSize(acquisitions.get());
        allAreBack(limit);
    }

    @Test
    void aHoldOfTwoPermitsIsTwoAlsoAfterItWasPassedOn() throws Exception {
        DistributedSemaphore permits = keeper.semaphore(name(), 3, outlasting());
        Lease two = permits.acquire(2);
        Future<Lease> sameAgain = permits.acquireAsync(2);
        assertThat(two.release()).isTrue();
        Lease next = get(sameAgain);
        assertThat(other.semaphore(name(), 3).availablePermits()).isOne();
        assertThat(other.semaphore(name(), 3).tryAcquire(2)).isEmpty();
        Lease third = other.semaphore(name(), 3).tryAcquire().orElseThrow();
        assertThat(next.release()).isTrue();
        assertThat(third.release()).isTrue();
        allAreBack(3);
    }

    @Test
    void anAttemptSucceedsWhileAPermitIsFreeAlthoughOthersOfTheProcessHoldSome() throws Exception {
        DistributedSemaphore permits = keeper.semaphore(name(), 3, outlasting());
        Lease one = permits.acquire();
        Lease two = permits.tryAcquire().orElseThrow(() -> new AssertionError("a permit was free"));
        Lease three = get(async(permits::tryAcquire)).orElseThrow(() -> new AssertionError("a permit was free"));
        assertThat(permits.tryAcquire()).isEmpty();
        assertThat(new HashSet<>(List.of(one.token(), two.token(), three.token())))
                .hasSize(3);
        for (Lease each : List.of(one, two, three)) {
            assertThat(each.release()).isTrue();
        }
        allAreBack(3);
    }

    @Test
    void aWaiterDoesNotWaitForItsProcessWhileAPermitIsFree() throws Exception {
        DistributedSemaphore permits = keeper.semaphore(name(), 2, outlasting());
        Lease one = permits.acquire();
        Lease two = get(async(() -> permits.acquire()));
        assertThat(one.isValid() && two.isValid()).isTrue();
        assertThat(one.release()).isTrue();
        assertThat(two.release()).isTrue();
        allAreBack(2);
    }

    @Test
    void timedWaitersForDifferentNumbersAreAllServed() throws Exception {
        int limit = 3;
        DistributedSemaphore permits = keeper.semaphore(name(), limit, outlasting());
        Lease all = permits.acquire(limit);
        CountDownLatch begun = new CountDownLatch(12);
        List<Future<Optional<Lease>>> waiting = new ArrayList<>();
        for (int i = 0; i < 12; i++) {
            int wanted = 1 + i % limit;
            waiting.add(async(() -> {
                begun.countDown();
                Optional<Lease> lease = permits.tryAcquire(wanted, LONG);
                lease.ifPresent(Lease::release);
                return lease;
            }));
        }
        assertThat(begun.await(LONG.toSeconds(), TimeUnit.SECONDS)).isTrue();
        assertThat(all.release()).isTrue();
        Set<Long> seen = new HashSet<>(Set.of(all.token()));
        for (Future<Optional<Lease>> each : waiting) {
            Lease lease = get(each).orElseThrow(() -> new AssertionError("it was never its turn"));
            assertThat(seen.add(lease.token())).as("its own token").isTrue();
        }
        allAreBack(limit);
    }
}
