// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.keeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.lockkeeper.DistributedLatch;
import io.lockkeeper.DistributedLock;
import io.lockkeeper.DistributedSemaphore;
import io.lockkeeper.Guarantee;
import io.lockkeeper.Inspector;
import io.lockkeeper.KeeperClosedException;
import io.lockkeeper.LeaderElection;
import io.lockkeeper.Lease;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.Mode;
import io.lockkeeper.Sequencer;
import io.lockkeeper.tck.support.ApiContract;
import io.lockkeeper.testkit.FaultyStore;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** A closed keeper says so, whatever it is asked, and asks the store nothing. */
public abstract class ClosedContract extends ApiContract {
    @Test
    void everyCallAfterCloseThrowsKeeperClosedException() throws Exception {
        FaultyStore store = faulty();
        Lockkeeper keeper = keeper(store);
        DistributedLock lock = keeper.lock(name());
        DistributedLock other = keeper.lock(name("y"));
        LeaderElection election = keeper.election(name());
        Inspector inspector = keeper.inspector();
        DistributedLock all = DistributedLock.all(lock, other);
        keeper.close();
        keeper.close();
        store.resetCounts();
        closed(lock::acquire);
        closed(lock::tryAcquire);
        closed(() -> lock.tryAcquire(LONG));
        closed(() -> lock.tryCall(LONG, Lease::token));
        closed(lock::lock);
        closed(lock::lockInterruptibly);
        closed(lock::tryLock);
        closed(() -> lock.tryLock(1, TimeUnit.SECONDS));
        closed(() -> get(lock.acquireAsync()));
        closed(() -> get(lock.tryAcquireAsync(LONG)));
        closed(lock::isLocked);
        closed(all::acquire);
        closed(all::tryAcquire);
        closed(all::lock);
        closed(() -> get(all.acquireAsync()));
        closed(() -> election.start(lease -> {}));
        closed(election::leader);
        closed(() -> inspector.list("", 1));
        closed(() -> inspector.inspect(name()));
        closed(() -> inspector.check(new Sequencer(name(), Mode.EXCLUSIVE, 1)));
        closed(() -> inspector.breakHold(name(), 1, Duration.ZERO));
        closed(() -> inspector.breakHoldNow(name(), 1, Duration.ZERO));
        closed(() -> inspector.watch(name(), info -> {}));
        semaphoreIsClosed(keeper);
        latchIsClosed(keeper);
        assertThat(lock.isHeldByCurrentThread()).isFalse();
        assertThat(election.isLeader()).isFalse();
        assertThat(store.count()).as("steps of a closed keeper").isZero();
    }

    private void semaphoreIsClosed(Lockkeeper keeper) {
        if (keeper.guarantees().has(Guarantee.PERMITS)) {
            DistributedSemaphore semaphore = keeper.semaphore(name(), 2);
            closed(semaphore::acquire);
            closed(semaphore::tryAcquire);
            closed(() -> semaphore.tryAcquire(1, LONG));
            closed(() -> get(semaphore.acquireAsync(1)));
            closed(semaphore::availablePermits);
        }
    }

    private void latchIsClosed(Lockkeeper keeper) {
        if (keeper.guarantees().has(Guarantee.LATCH)) {
            DistributedLatch latch = keeper.latch(name());
            closed(() -> latch.trySetCount(1));
            closed(latch::countDown);
            closed(latch::count);
            closed(latch::await);
            closed(() -> latch.await(LONG));
            closed(() -> get(latch.awaitAsync()));
        }
    }

    private static void closed(ThrowingCallable use) {
        assertThatExceptionOfType(KeeperClosedException.class).isThrownBy(() -> {
            try {
                use.call();
            } catch (ExecutionException e) {
                throw e.getCause() == null ? e : e.getCause();
            }
        });
    }
}
