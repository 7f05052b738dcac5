// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lockkeeper.ConflictingUseException;
import io.lockkeeper.DistributedLock;
import io.lockkeeper.DistributedReadWriteLock;
import io.lockkeeper.DistributedSemaphore;
import io.lockkeeper.Lease;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.Mode;
import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.tck.support.Attempt;
import io.lockkeeper.tck.support.Rounds;
import io.lockkeeper.tck.support.SpiClient;
import io.lockkeeper.tck.support.StepContract;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Rule 1: conflicting holds of a name never overlap, and a name in use is used in one way. */
@SuppressWarnings("LockNotBeforeTry")
public abstract class ExclusionContract extends StepContract {
    /** Counts the holders; fails if there are ever too many. */
    private static final class Witness {
        private final int limit;
        private final AtomicInteger inside = new AtomicInteger();
        private final AtomicInteger most = new AtomicInteger();
        /** Guarded by nothing but the lock under test. */
        private int entries;

        Witness(int limit) {
            this.limit = limit;
        }

        void enter(int weight) {
            int now = inside.addAndGet(weight);
            most.accumulateAndGet(now, Math::max);
            assertThat(now).as("inside at the same time").isLessThanOrEqualTo(limit);
            entries++;
        }

        void leave(int weight) {
            inside.addAndGet(-weight);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void threadsOfTwoClientsAreNeverInsideTogether(boolean fair) throws Exception {
        Rounds rounds = Rounds.of(100, 2_000);
        AtomicInteger done = new AtomicInteger();
        Witness witness = new Witness(1);
        List<Future<?>> all = new ArrayList<>();
        for (Lockkeeper keeper : List.of(keeper(), keeper())) {
            DistributedLock lock = keeper.lock(name(), LockOptions.defaults().fair(fair));
            for (int thread = 0; thread < 3; thread++) {
                all.add(async(() -> {
                    for (int i = 0; rounds.goOnAfter(i); i++) {
                        try (Lease lease = lock.acquire()) {
                            witness.enter(1);
                            assertThat(lease.isValid()).isTrue();
                            witness.leave(1);
                        }
                        done.incrementAndGet();
                    }
                    return null;
                }));
            }
        }
        for (Future<?> one : all) {
            get(one);
        }
        assertThat(witness.entries).as("no entry was overwritten").isEqualTo(done.get());
        assertIdle(name());
    }

    @Test
    void threadsOfOneClientNeverHoldAtOnceByLockAndUnlock() throws Exception {
        Rounds rounds = Rounds.of(300, 5_000);
        AtomicInteger done = new AtomicInteger();
        Witness witness = new Witness(1);
        DistributedLock lock = keeper().lock(name());
        List<Future<?>> all = new ArrayList<>();
        for (int thread = 0; thread < 4; thread++) {
            boolean waits = thread % 2 == 0;
            all.add(async(() -> {
                for (int i = 0; rounds.goOnAfter(i); ) {
                    if (waits) {
                        lock.lock();
                    } else if (!lock.tryLock()) {
                        Thread.onSpinWait();
                        continue;
                    }
                    witness.enter(1);
                    witness.leave(1);
                    lock.unlock();
                    i++;
                    done.incrementAndGet();
                }
                return null;
            }));
        }
        for (Future<?> one : all) {
            get(one);
        }
        assertThat(witness.entries).isEqualTo(done.get());
        assertIdle(name());
    }

    @Test
    void permitsInUseNeverExceedTheLimit() throws Exception {
        needs(Mode.PERMITS);
        Rounds rounds = Rounds.of(60, 1_000);
        Witness witness = new Witness(4);
        List<Future<?>> all = new ArrayList<>();
        for (Lockkeeper keeper : List.of(keeper(), keeper())) {
            DistributedSemaphore semaphore = keeper.semaphore(name(), 4);
            for (int thread = 1; thread <= 3; thread++) {
                int permits = thread;
                all.add(async(() -> {
                    for (int i = 0; rounds.goOnAfter(i); i++) {
                        try (Lease lease = semaphore.acquire(permits)) {
                            witness.enter(permits);
                            assertThat(lease.isValid()).isTrue();
                            witness.leave(permits);
                        }
                    }
                    return null;
                }));
            }
        }
        for (Future<?> one : all) {
            get(one);
        }
        assertIdle(name());
    }

    @Test
    void writersAreNeverInsideWithReaders() throws Exception {
        needs(Mode.SHARED);
        Rounds rounds = Rounds.of(60, 1_000);
        Witness witness = new Witness(1_000);
        List<Future<?>> all = new ArrayList<>();
        for (Lockkeeper keeper : List.of(keeper(), keeper())) {
            DistributedReadWriteLock lock = keeper.readWriteLock(name());
            for (int thread = 0; thread < 3; thread++) {
                boolean writes = thread == 0;
                int weight = writes ? 1_000 : 1;
                all.add(async(() -> {
                    for (int i = 0; rounds.goOnAfter(i); i++) {
                        DistributedLock one = writes ? lock.writeLock() : lock.readLock();
                        try (Lease lease = one.acquire()) {
                            witness.enter(weight);
                            assertThat(lease.isValid()).isTrue();
                            witness.leave(weight);
                        }
                    }
                    return null;
                }));
            }
        }
        for (Future<?> one : all) {
            get(one);
        }
        assertIdle(name());
    }

    @Test
    void aLockThatIsHeldIsRefusedToAllOthers() throws Exception {
        Lockkeeper a = keeper();
        Lockkeeper b = keeper();
        Lease lease = a.lock(name()).acquire();
        assertThat(b.lock(name()).tryAcquire()).isEmpty();
        assertThat(a.lock(name()).tryAcquire()).as("handles never re-enter").isEmpty();
        assertThat(b.lock(name()).tryLock()).isFalse();
        assertThat(b.lock(name()).tryAcquire(Duration.ofMillis(20))).isEmpty();
        assertThat(lease.isValid()).isTrue();
        assertThat(lease.release()).isTrue();
        assertThat(isFree(b.lock(name()))).isTrue();
    }

    @Test
    @DisplayName("H24: one thread that uses two clients is two owners")
    void oneThreadThatUsesTwoClientsIsTwoOwners() throws Exception {
        DistributedLock mine = keeper().lock(name());
        DistributedLock other = keeper().lock(name());
        mine.lock();
        assertThat(other.tryLock()).isFalse();
        assertThat(other.isHeldByCurrentThread()).isFalse();
        assertThatThrownBy(other::unlock).isInstanceOf(IllegalMonitorStateException.class);
        assertThat(mine.isHeldByCurrentThread()).isTrue();
        mine.unlock();
        assertThat(other.tryLock()).isTrue();
        other.unlock();
    }

    @Test
    void readersAreInsideTogetherAndKeepWritersOut() throws Exception {
        needs(Mode.SHARED);
        DistributedReadWriteLock a = keeper().readWriteLock(name());
        DistributedReadWriteLock b = keeper().readWriteLock(name());
        Lockkeeper c = keeper();
        Lease first = a.readLock().acquire();
        Lease second = b.readLock().acquire();
        assertThat(holders(name())).hasSize(2);
        assertThat(c.readWriteLock(name()).writeLock().tryAcquire()).isEmpty();
        assertThat(c.lock(name()).tryAcquire()).as("the lock is the write lock").isEmpty();
        assertThat(first.release()).isTrue();
        assertThat(c.lock(name()).tryAcquire()).as("one reader is left").isEmpty();
        assertThat(second.release()).isTrue();
        try (Lease writer = c.lock(name()).acquire()) {
            assertThat(a.readLock().tryAcquire()).isEmpty();
            assertThat(b.writeLock().tryAcquire()).isEmpty();
            assertThat(writer.mode()).isEqualTo(Mode.EXCLUSIVE);
        }
    }

    @Test
    void aWriterThatBecomesAReaderLetsReadersInButNoWriter() throws Exception {
        needs(Mode.SHARED);
        DistributedReadWriteLock mine = keeper().readWriteLock(name());
        DistributedReadWriteLock other = keeper().readWriteLock(name());
        mine.writeLock().lock();
        mine.readLock().lock();
        assertThat(other.readLock().tryAcquire()).isEmpty();
        mine.writeLock().unlock();
        assertThat(other.writeLock().tryAcquire()).isEmpty();
        Lease reader = other.readLock().tryAcquire().orElseThrow();
        mine.readLock().unlock();
        assertThat(other.writeLock().tryAcquire()).isEmpty();
        assertThat(reader.release()).isTrue();
        assertThat(isFree(mine.writeLock())).isTrue();
    }

    @Test
    void permitsAreTakenByAllClientsFromOneStock() throws Exception {
        needs(Mode.PERMITS);
        DistributedSemaphore a = keeper().semaphore(name(), 3);
        DistributedSemaphore b = keeper().semaphore(name(), 3);
        Lease two = a.acquire(2);
        assertThat(b.tryAcquire(2)).isEmpty();
        Lease one = b.tryAcquire(1).orElseThrow();
        assertThat(a.tryAcquire()).isEmpty();
        assertThat(two.release()).isTrue();
        Lease again = b.tryAcquire(2).orElseThrow();
        assertThat(a.availablePermits()).isZero();
        assertThat(one.release()).isTrue();
        assertThat(again.release()).isTrue();
        assertThat(a.availablePermits()).isEqualTo(3);
    }

    @Test
    void theNextHolderComesOnlyWhenTheOneBeforeItIsNoLongerValid() throws Exception {
        DistributedLock a = keeper().lock(name(), fixed(150));
        DistributedLock b = keeper().lock(name(), fixed(150));
        Lease before = a.acquire();
        for (int i = 0; i < 4; i++) {
            Lease next = (i % 2 == 0 ? b : a).acquire();
            assertThat(before.isValid()).as("valid after the next one acquired").isFalse();
            assertThat(before.release()).isFalse();
            before = next;
        }
        before.release();
    }

    @Test
    void holdsDoNotOverlapInStoreTimeWhenOneExpires() throws Exception {
        needsQueue();
        SpiClient a = client();
        SpiClient b = client();
        Duration lease = millis(200);
        Claim first = a.newClaim(name(), lasting(exclusive(), lease));
        Answer.Granted held = SpiClient.granted(a.store().claim(first));
        Claim second = b.queue(name(), exclusive());
        Answer.Granted next = b.awaitGrant(second);
        assertThat(next.at().micros())
                .isGreaterThanOrEqualTo(
                        held.at().plusMicros(lease.toNanos() / 1_000).micros());
    }

    @Test
    void namesThatDifferDoNotExcludeEachOther() throws Exception {
        Lockkeeper a = keeper();
        Lockkeeper b = keeper();
        try (Lease first = a.lock(name("a")).acquire();
                Lease second = b.lock(name("b")).tryAcquire().orElseThrow();
                Lease third = a.lock(name("c")).tryAcquire().orElseThrow()) {
            assertThat(List.of(first, second, third)).allMatch(Lease::isValid);
        }
    }

    // ---- A name in use is a lock or a semaphore of one limit ----

    @Test
    void aSemaphoreOnANameThatIsLockedIsAConflict() throws Exception {
        needs(Mode.PERMITS);
        Lockkeeper b = keeper();
        Lease lease = keeper().lock(name()).acquire();
        DistributedSemaphore semaphore = b.semaphore(name(), 1);
        assertThatThrownBy(semaphore::tryAcquire).isInstanceOf(ConflictingUseException.class);
        assertThatThrownBy(() -> attempt(semaphore::acquire).get()).isInstanceOf(ConflictingUseException.class);
        assertThatThrownBy(() -> get(semaphore.acquireAsync(1)))
                .isInstanceOf(ExecutionException.class)
                .hasCauseInstanceOf(ConflictingUseException.class);
        assertThat(lease.isValid()).isTrue();
        assertThat(waiters(name())).isZero();
        assertThat(lease.release()).isTrue();
        assertThat(semaphore.tryAcquire().orElseThrow().release())
                .as("a name that is not in use may be used in any way")
                .isTrue();
    }

    @Test
    void aLockOnANameThatIsASemaphoreIsAConflict() throws Exception {
        needs(Mode.PERMITS);
        Lockkeeper b = keeper();
        Lease permit = keeper().semaphore(name(), 2).acquire();
        assertThatThrownBy(() -> b.lock(name()).tryAcquire()).isInstanceOf(ConflictingUseException.class);
        assertThatThrownBy(() -> attempt(b.lock(name())::acquire).get()).isInstanceOf(ConflictingUseException.class);
        assertThat(permit.release()).isTrue();
        assertThat(isFree(b.lock(name()))).isTrue();
    }

    @Test
    void anotherLimitThanTheOneInUseIsAConflict() throws Exception {
        needs(Mode.PERMITS);
        Lockkeeper b = keeper();
        Lease permit = keeper().semaphore(name(), 2).acquire();
        assertThatThrownBy(() -> b.semaphore(name(), 3).tryAcquire()).isInstanceOf(ConflictingUseException.class);
        assertThatThrownBy(() -> attempt(b.semaphore(name(), 1)::acquire).get())
                .isInstanceOf(ConflictingUseException.class);
        Lease same = b.semaphore(name(), 2).tryAcquire().orElseThrow();
        assertThat(permit.release()).isTrue();
        assertThatThrownBy(() -> b.semaphore(name(), 3).tryAcquire())
                .as("one permit is still in use")
                .isInstanceOf(ConflictingUseException.class);
        assertThat(same.release()).isTrue();
        assertThat(b.semaphore(name(), 3).tryAcquire(3).orElseThrow().release()).isTrue();
    }

    @Test
    void aConflictLeavesNothingInTheStoreAndDisturbsNobody() throws Exception {
        needs(Mode.PERMITS);
        needsQueue();
        Lockkeeper a = keeper();
        Lockkeeper b = keeper();
        Lease lease = a.lock(name()).acquire();
        Attempt waiter = attempt(() -> b.lock(name()).acquire());
        awaitWaiters(name(), 1);
        assertThatThrownBy(() -> attempt(b.semaphore(name(), 1)::acquire).get())
                .isInstanceOf(ConflictingUseException.class);
        assertThat(waiters(name())).isEqualTo(1);
        assertThat(lease.release()).isTrue();
        assertThat(waiter.get().orElseThrow().release()).isTrue();
        assertIdle(name());
    }
}
