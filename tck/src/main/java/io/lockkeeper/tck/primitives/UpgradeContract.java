// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.primitives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.lockkeeper.DeadlockException;
import io.lockkeeper.DistributedLock;
import io.lockkeeper.DistributedReadWriteLock;
import io.lockkeeper.Guarantee;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.tck.support.HandleContract;
import io.lockkeeper.tck.support.Promise;
import io.lockkeeper.testkit.FaultyStore;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * A thread that reads cannot become a writer: it would wait for itself. An attempt that may fail, timed or not, fails at once,
 * as in {@link java.util.concurrent.locks.ReentrantReadWriteLock}; a wait without end, which could never end, is refused. The
 * store is not asked, and the thread goes on reading.
 */
@SuppressWarnings("LockNotBeforeTry")
public abstract class UpgradeContract extends HandleContract {
    private FaultyStore store;
    private Lockkeeper keeper;
    private DistributedReadWriteLock mine;

    @BeforeEach
    final void reads() {
        store = faulty();
        keeper = keeper(store);
        Promise.needed(keeper.guarantees(), Guarantee.SHARED);
        mine = keeper.readWriteLock(name(), outlasting());
        mine.readLock().lock();
        mine.readLock().lock();
        store.resetCounts();
    }

    @AfterEach
    final void readsOn() {
        if (mine == null) {
            return; // the store has no readers
        }
        assertThat(mine.readLock().holdCount()).as("the read hold is as it was").isEqualTo(2);
        assertThat(mine.readLock().lease().isValid()).isTrue();
        assertThat(mine.writeLock().holdCount()).isZero();
        DistributedReadWriteLock others = keeper().readWriteLock(name());
        assertThat(isFree(others.readLock())).as("others may read").isTrue();
        assertThat(isTaken(others.writeLock())).as("nobody may write").isTrue();
        mine.readLock().unlock();
        mine.readLock().unlock();
        assertThat(isFree(others.writeLock())).isTrue();
        assertThat(mine.writeLock().tryLock()).as("who does not read may write").isTrue();
        mine.writeLock().unlock();
    }

    @Test
    void anAttemptFailsAtOnce() {
        assertThat(mine.writeLock().tryLock()).isFalse();
        assertThat(keeper.lock(name()).tryLock()).as("it is the same lock").isFalse();
        assertThat(store.count()).as("steps").isZero();
    }

    @Test
    void aTimedAttemptFailsAtOnce() throws Exception {
        assertThat(mine.writeLock().tryLock(1, TimeUnit.HOURS)).isFalse();
        assertThat(mine.writeLock().tryLock(0, TimeUnit.SECONDS)).isFalse();
        assertThat(keeper.lock(name()).tryLock(1, TimeUnit.HOURS)).isFalse();
        assertThat(store.count()).as("steps").isZero();
    }

    @Test
    void aTimedAttemptOfAnInterruptedThreadIsInterrupted() {
        Thread.currentThread().interrupt();
        assertThatExceptionOfType(InterruptedException.class)
                .isThrownBy(() -> mine.writeLock().tryLock(1, TimeUnit.HOURS));
        assertThat(Thread.interrupted()).as("the flag is cleared").isFalse();
    }

    @Test
    void aWaitWithoutEndIsRefused() {
        deadlock(() -> mine.writeLock().lock());
        deadlock(() -> mine.writeLock().lockInterruptibly());
        deadlock(() -> mine.writeLock().acquire());
        deadlock(() -> keeper.lock(name()).lock());
        assertThat(store.count()).as("steps").isZero();
    }

    @Test
    void theSameHoldsInsideOfSeveralLocks() throws Exception {
        DistributedLock first = DistributedLock.all(mine.writeLock(), keeper.lock(name("z")));
        DistributedLock last = DistributedLock.all(keeper.lock(name("a")), mine.writeLock());
        for (DistributedLock all : new DistributedLock[] {first, last}) {
            store.resetCounts();
            assertThat(all.tryLock()).isFalse();
            assertThat(all.tryLock(1, TimeUnit.HOURS)).isFalse();
            deadlock(all::lock);
            deadlock(all::lockInterruptibly);
            deadlock(all::acquire);
            assertThat(all.holdCount()).isZero();
        }
        assertThat(isFree(keeper().lock(name("a")))).isTrue();
        assertThat(isFree(keeper().lock(name("z")))).isTrue();
        assertThat(keeper.lock(name("a")).holdCount()).isZero();
    }

    @Test
    void aWriterThatBecameAReaderCannotWriteAgain() throws Exception {
        mine.readLock().unlock();
        mine.readLock().unlock();
        mine.writeLock().lock();
        mine.readLock().lock();
        mine.readLock().lock();
        mine.writeLock().unlock();
        store.resetCounts();
        assertThat(mine.writeLock().tryLock()).isFalse();
        assertThat(mine.writeLock().tryLock(1, TimeUnit.HOURS)).isFalse();
        deadlock(() -> mine.writeLock().lock());
        assertThat(store.count()).as("steps").isZero();
    }

    @Test
    void anotherThreadThatDoesNotReadOnlyWaits() throws Exception {
        assertThat(get(async(() -> mine.writeLock().tryLock()))).isFalse();
        assertThat(get(async(() -> mine.writeLock().tryLock(20, TimeUnit.MILLISECONDS))))
                .isFalse();
    }

    private static void deadlock(ThrowingCallable use) {
        assertThatExceptionOfType(DeadlockException.class).isThrownBy(use);
    }
}
