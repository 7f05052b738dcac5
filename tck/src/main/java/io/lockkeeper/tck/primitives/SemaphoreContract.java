// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.primitives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.lockkeeper.ConflictingUseException;
import io.lockkeeper.DistributedSemaphore;
import io.lockkeeper.Guarantee;
import io.lockkeeper.Lease;
import io.lockkeeper.LockInfo;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.Mode;
import io.lockkeeper.tck.support.ApiContract;
import io.lockkeeper.tck.support.Promise;
import io.lockkeeper.tck.support.Rounds;
import io.lockkeeper.testkit.FaultyStore;
import io.lockkeeper.testkit.StepKind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A number of permits: never more are out than there are, and none gets lost. */
public abstract class SemaphoreContract extends ApiContract {
    @BeforeEach
    final void requirePermits() {
        Lockkeeper keeper = keeper();
        require(keeper, Guarantee.PERMITS, () -> keeper.semaphore(name(), 1));
    }

    private DistributedSemaphore semaphore(int permits) {
        return keeper().semaphore(name(), permits);
    }

    @Test
    void permitsAreSharedByAllClientsUpToTheLimit() throws Exception {
        DistributedSemaphore mine = semaphore(3);
        DistributedSemaphore other = semaphore(3);
        Lease one = mine.acquire();
        Lease two = other.tryAcquire().orElseThrow();
        Lease three = mine.tryAcquire(1, Duration.ZERO).orElseThrow();
        assertThat(List.of(one, two, three)).allMatch(Lease::isValid).allMatch(l -> l.mode() == Mode.PERMITS);
        assertThat(Set.of(one.token(), two.token(), three.token())).hasSize(3);
        assertThat(mine.tryAcquire()).isEmpty();
        assertThat(other.tryAcquire(1, Duration.ofMillis(20))).isEmpty();
        assertThat(two.release()).isTrue();
        Lease again = mine.tryAcquire().orElseThrow();
        assertThat(other.tryAcquire()).isEmpty();
        for (Lease each : List.of(one, three, again)) {
            assertThat(each.release()).isTrue();
        }
    }

    @Test
    void manyPermitsAreTakenTogetherOrNotAtAll() throws Exception {
        DistributedSemaphore mine = semaphore(5);
        DistributedSemaphore other = semaphore(5);
        Lease three = mine.acquire(3);
        assertThat(other.tryAcquire(3)).isEmpty();
        assertThat(other.availablePermits()).isEqualTo(2);
        Lease two = other.tryAcquire(2).orElseThrow();
        assertThat(other.availablePermits()).isZero();
        assertThat(three.release()).isTrue();
        assertThat(mine.availablePermits()).isEqualTo(3);
        assertThat(two.release()).isTrue();
        assertThat(mine.acquire(5).release()).isTrue();
        assertThat(mine.availablePermits()).isEqualTo(5);
    }

    @Test
    void theSamePermitsCannotBeGivenBackTwice() throws Exception {
        DistributedSemaphore mine = semaphore(2);
        Lease one = mine.acquire();
        Lease two = mine.acquire();
        assertThat(one.release()).isTrue();
        assertThat(one.release()).isTrue();
        one.close();
        assertThat(get(one.releaseAsync())).isTrue();
        assertThat(mine.availablePermits()).isOne();
        Lease three = mine.acquire();
        assertThat(one.release()).isTrue();
        assertThat(mine.availablePermits()).isZero();
        assertThat(mine.tryAcquire()).isEmpty();
        assertThat(two.release()).isTrue();
        assertThat(three.release()).isTrue();
        assertThat(mine.availablePermits()).isEqualTo(2);
    }

    @Test
    void aReleaseWhoseAnswerWasLostReturnsItsPermitsOnce() throws Exception {
        FaultyStore store = faulty();
        DistributedSemaphore mine = keeper(store).semaphore(name(), 2);
        DistributedSemaphore other = semaphore(2);
        Lease one = mine.acquire();
        Lease two = other.acquire();
        store.loseReply(StepKind.RELEASE);
        assertThat(one.release()).isTrue();
        assertThat(other.availablePermits()).isOne();
        assertThat(two.release()).isTrue();
    }

    @Test
    void anAttemptThatFailedAddsNoPermits() throws Exception {
        FaultyStore store = faulty();
        Lockkeeper keeper = keeper(store);
        DistributedSemaphore mine = keeper.semaphore(name(), 2);
        DistributedSemaphore other = semaphore(2);
        Lease held = other.acquire(2);
        assertThat(mine.tryAcquire()).isEmpty();
        assertThat(mine.tryAcquire(2)).isEmpty();
        assertThat(mine.tryAcquire(1, Duration.ofMillis(20))).isEmpty();
        CompletableFuture<Lease> cancelled = mine.acquireAsync(1);
        awaitQueued(keeper, name(), 1);
        assertThat(cancelled.cancel(true)).isTrue();
        awaitQueued(keeper, name(), 0);
        store.loseReply(StepKind.CLAIM);
        assertThat(mine.tryAcquire()).isEmpty();
        assertThat(other.availablePermits()).isZero();
        assertThat(held.release()).isTrue();
        await("all are back", () -> other.availablePermits() == 2);
        store.loseReply(StepKind.CLAIM);
        Lease one = mine.tryAcquire().orElseThrow();
        assertThat(other.availablePermits()).as("a repeated claim counts once").isOne();
        assertThat(one.release()).isTrue();
        assertThat(other.availablePermits()).isEqualTo(2);
    }

    @Test
    void thePermitsOfADeadClientComeBack() throws Exception {
        FaultyStore store = faulty();
        Lockkeeper dies = keeper(store);
        DistributedSemaphore mine = semaphore(3);
        Lease lost = dies.semaphore(name(), 3, lively(dies)).acquire(2);
        assertThat(mine.tryAcquire(3)).isEmpty();
        store.down();
        Lease all = mine.tryAcquire(3, LONG).orElseThrow();
        assertThat(lost.isValid()).isFalse();
        assertThat(all.release()).isTrue();
        assertThat(mine.availablePermits()).isEqualTo(3);
        store.up();
        assertThat(lost.release()).isFalse();
        assertThat(mine.availablePermits())
                .as("what came back is not given back again")
                .isEqualTo(3);
    }

    @Test
    void aFixedLeaseOfPermitsEnds() throws Exception {
        Lockkeeper keeper = keeper();
        Lease lease = keeper.semaphore(name(), 1, brief(keeper)).acquire();
        Lease next = semaphore(1).acquire();
        assertThat(lease.isValid()).isFalse();
        assertThat(lease.release()).isFalse();
        assertThat(next.isValid()).isTrue();
        assertThat(next.release()).isTrue();
    }

    @Test
    void aLargeClaimIsNotOvertakenBySmallerOnes() throws Exception {
        Lockkeeper keeper = keeper();
        Promise.needed(keeper.guarantees(), Guarantee.FAIR);
        DistributedSemaphore mine = keeper.semaphore(name(), 3);
        DistributedSemaphore other = semaphore(3);
        Lease one = mine.acquire();
        Lease two = mine.acquire();
        CompletableFuture<Lease> large = other.acquireAsync(3);
        awaitQueued(keeper, name(), 1);
        CompletableFuture<Lease> small = semaphore(3).acquireAsync(1); // of another client: nothing is passed on to it
        awaitQueued(keeper, name(), 2);
        assertThat(other.tryAcquire())
                .as("a permit is free, but others come first")
                .isEmpty();
        assertThat(one.release()).isTrue();
        assertThat(small).isNotDone();
        assertThat(large).isNotDone();
        assertThat(two.release()).isTrue();
        Lease all = get(large);
        assertThat(small).isNotDone();
        assertThat(all.release()).isTrue();
        assertThat(get(small).release()).isTrue();
    }

    @Test
    void aLargeClaimThatLeavesLetsTheSmallerOnesIn() throws Exception {
        Lockkeeper keeper = keeper();
        DistributedSemaphore mine = keeper.semaphore(name(), 3);
        Lease two = mine.acquire(2);
        CompletableFuture<Lease> large = semaphore(3).acquireAsync(3);
        awaitQueued(keeper, name(), 1);
        CompletableFuture<Lease> small = semaphore(3).acquireAsync(1);
        awaitQueued(keeper, name(), 2);
        assertThat(large.cancel(true)).isTrue();
        Lease one = get(small);
        assertThat(mine.availablePermits()).isZero();
        assertThat(one.release()).isTrue();
        assertThat(two.release()).isTrue();
    }

    @Test
    void neverMoreArePermittedThanThereArePermits() throws Exception {
        AtomicInteger out = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        List<Future<Boolean>> all = new ArrayList<>();
        Set<Long> tokens = Collections.synchronizedSet(new HashSet<>());
        Rounds rounds = Rounds.of(15, 200);
        AtomicInteger done = new AtomicInteger();
        for (int client = 0; client < 2; client++) {
            DistributedSemaphore mine = semaphore(3);
            for (int i = 0; i < 3; i++) {
                int permits = 1 + i % 2;
                all.add(async(() -> {
                    for (int n = 0; rounds.goOnAfter(n); n++) {
                        Lease lease = mine.acquire(permits);
                        most.accumulateAndGet(out.addAndGet(permits), Math::max);
                        tokens.add(lease.token());
                        out.addAndGet(-permits);
                        lease.release();
                        done.incrementAndGet();
                    }
                    return true;
                }));
            }
        }
        for (Future<Boolean> one : all) {
            get(one);
        }
        assertThat(most.get()).isLessThanOrEqualTo(3);
        assertThat(tokens).hasSize(done.get());
        assertThat(semaphore(3).availablePermits()).isEqualTo(3);
    }

    @Test
    void numbersOutOfRangeAreRefusedBeforeAnyStep() {
        FaultyStore store = faulty();
        Lockkeeper keeper = keeper(store);
        for (int bad : new int[] {0, -1, Integer.MIN_VALUE}) {
            assertThatIllegalArgumentException().isThrownBy(() -> keeper.semaphore(name(), bad));
        }
        DistributedSemaphore mine = keeper.semaphore(name(), 2);
        assertThat(mine.limit()).isEqualTo(2);
        for (int bad : new int[] {0, -1, 3, Integer.MIN_VALUE, Integer.MAX_VALUE}) {
            assertThatIllegalArgumentException().isThrownBy(() -> mine.acquire(bad));
            assertThatIllegalArgumentException().isThrownBy(() -> mine.tryAcquire(bad));
            assertThatIllegalArgumentException().isThrownBy(() -> mine.tryAcquire(bad, LONG));
            assertThatIllegalArgumentException().isThrownBy(() -> mine.acquireAsync(bad));
        }
        assertThat(store.count()).isZero();
    }

    @Test
    void theLargestSemaphoreCountsWithoutOverflow() throws Exception {
        int most = Integer.MAX_VALUE;
        DistributedSemaphore mine = semaphore(most);
        DistributedSemaphore other = semaphore(most);
        Lease almost = mine.acquire(most - 1);
        assertThat(other.availablePermits()).isOne();
        assertThat(other.tryAcquire(most)).isEmpty();
        assertThat(other.tryAcquire(2)).isEmpty();
        Lease last = other.tryAcquire().orElseThrow();
        assertThat(other.tryAcquire(most)).isEmpty();
        assertThat(almost.release()).isTrue();
        assertThat(last.release()).isTrue();
        assertThat(mine.tryAcquire(most).orElseThrow().release()).isTrue();
    }

    @Test
    void aNameInUseHasOneLimitAndOneKind() throws Exception {
        Lockkeeper keeper = keeper();
        Lockkeeper other = keeper();
        Lease held = keeper.semaphore(name(), 2).acquire();
        DistributedSemaphore wrong = other.semaphore(name(), 3);
        conflicts(wrong::tryAcquire, "2");
        conflicts(wrong::acquire, "2");
        conflicts(wrong::availablePermits, "2");
        assertThatExceptionOfType(ExecutionException.class)
                .isThrownBy(() -> get(wrong.acquireAsync(1)))
                .withCauseInstanceOf(ConflictingUseException.class);
        conflicts(() -> other.lock(name()).tryAcquire(), "semaphore");
        conflicts(() -> other.lock(name()).acquire(), "semaphore");
        conflicts(() -> other.lock(name()).tryLock(), "semaphore");
        assertThat(keeper.semaphore(name(), 2).availablePermits()).isOne();
        assertThat(held.release()).isTrue();
        assertThat(wrong.availablePermits())
                .as("a name that is not in use may be used again")
                .isEqualTo(3);
        Lease three = wrong.acquire(3);
        conflicts(() -> keeper.semaphore(name(), 2).tryAcquire(), "3");
        assertThat(three.release()).isTrue();
        try (Lease lock = keeper.lock(name()).acquire()) {
            assertThat(lock.isValid()).isTrue();
            conflicts(wrong::tryAcquire, "lock");
            conflicts(wrong::availablePermits, "lock");
        }
    }

    private void conflicts(ThrowingCallable use, String says) {
        assertThatExceptionOfType(ConflictingUseException.class)
                .isThrownBy(use)
                .withMessageContaining(name())
                .withMessageContaining(says);
    }

    @Test
    void anInspectorSeesLimitAndPermits() throws Exception {
        Lockkeeper keeper = keeper();
        Lease two = keeper.semaphore(name(), 5).acquire(2);
        Lease one = keeper.semaphore(name(), 5).acquire();
        LockInfo info = keeper().inspector().inspect(name()).orElseThrow();
        assertThat(info.mode()).isEqualTo(Mode.PERMITS);
        assertThat(info.limit()).isEqualTo(5);
        assertThat(info.holders()).extracting(LockInfo.Hold::permits).containsExactlyInAnyOrder(1, 2);
        assertThat(info.holders()).extracting(LockInfo.Hold::token).containsExactlyInAnyOrder(one.token(), two.token());
        assertThat(keeper.inspector().check(one.sequencer())).isTrue();
        assertThat(one.release()).isTrue();
        assertThat(keeper.inspector().check(one.sequencer())).isFalse();
        assertThat(keeper.inspector().check(two.sequencer())).isTrue();
        assertThat(two.release()).isTrue();
    }

    @Test
    void aWaitThatIsInterruptedLeavesTheQueue() throws Exception {
        Lockkeeper keeper = keeper();
        DistributedSemaphore mine = keeper.semaphore(name(), 1);
        Lease held = mine.acquire();
        CompletableFuture<Throwable> ended = new CompletableFuture<>();
        Thread waiter = new Thread(() -> {
            try {
                ended.complete(new AssertionError("acquired " + mine.acquire()));
            } catch (InterruptedException e) {
                ended.complete(e);
            }
        });
        waiter.start();
        awaitQueued(keeper, name(), 1);
        waiter.interrupt();
        assertThat(get(ended)).isInstanceOf(InterruptedException.class);
        awaitQueued(keeper, name(), 0);
        assertThat(held.release()).isTrue();
        assertThat(mine.availablePermits()).isOne();
    }
}
