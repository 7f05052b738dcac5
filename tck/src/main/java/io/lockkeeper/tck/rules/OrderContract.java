// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.DistributedLock;
import io.lockkeeper.DistributedReadWriteLock;
import io.lockkeeper.DistributedSemaphore;
import io.lockkeeper.Lease;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.Mode;
import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.Grant;
import io.lockkeeper.tck.support.Attempt;
import io.lockkeeper.tck.support.SpiClient;
import io.lockkeeper.tck.support.StepContract;
import io.lockkeeper.testkit.FaultyStore;
import io.lockkeeper.testkit.Gate;
import io.lockkeeper.testkit.StepKind;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Rule 6: claims of one name are served first come, first served. */
@SuppressWarnings("LockNotBeforeTry")
public abstract class OrderContract extends StepContract {
    @BeforeEach
    void servesInOrder() {
        needsQueue();
    }

    /** Has the attempts queue one after the other, and gives the order in which they acquired it. */
    private List<Integer> orderOf(Lease holder, List<Callable<Lease>> attempts) throws Exception {
        List<Integer> order = new ArrayList<>(); // guarded by the lock under test
        List<Future<?>> all = new ArrayList<>();
        for (int i = 0; i < attempts.size(); i++) {
            Callable<Lease> attempt = attempts.get(i);
            int number = i;
            all.add(async(() -> {
                try (Lease lease = attempt.call()) {
                    assertThat(lease.isValid()).isTrue();
                    order.add(number);
                }
                return null;
            }));
            awaitWaiters(name(), i + 1);
        }
        assertThat(holder.release()).isTrue();
        for (Future<?> one : all) {
            get(one);
        }
        assertIdle(name());
        return order;
    }

    private static List<Integer> upTo(int n) {
        List<Integer> numbers = new ArrayList<>();
        for (int i = 0; i < n; i++) {
            numbers.add(i);
        }
        return numbers;
    }

    @Test
    void clientsAreServedFirstComeFirstServed() throws Exception {
        List<Callable<Lease>> attempts = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            attempts.add(keeper().lock(name())::acquire);
        }
        assertThat(orderOf(keeper().lock(name()).acquire(), attempts)).isEqualTo(upTo(6));
    }

    @Test
    void threadsOfSeveralClientsAreServedFirstComeFirstServedWhenTheyWantToBe() throws Exception {
        LockOptions fair = LockOptions.defaults().fair(true);
        Lockkeeper a = keeper();
        Lockkeeper b = keeper();
        List<Callable<Lease>> attempts = new ArrayList<>();
        for (int i = 0; i < 12; i++) {
            Lockkeeper keeper = i % 3 == 0 ? b : a;
            attempts.add(keeper.lock(name(), fair)::acquire);
        }
        assertThat(orderOf(a.lock(name(), fair).acquire(), attempts)).isEqualTo(upTo(12));
    }

    @Test
    void claimsOfAllThePermitsAreServedFirstComeFirstServed() throws Exception {
        needs(Mode.PERMITS);
        Lockkeeper a = keeper();
        Lockkeeper b = keeper();
        List<Callable<Lease>> attempts = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            DistributedSemaphore semaphore = (i % 2 == 0 ? a : b)
                    .semaphore(name(), 3, LockOptions.defaults().fair(true));
            int permits = i % 2 == 0 ? 3 : 2; // any two of them together are too many
            attempts.add(() -> semaphore.acquire(permits));
        }
        assertThat(orderOf(a.semaphore(name(), 3).acquire(2), attempts)).isEqualTo(upTo(6));
    }

    @Test
    void futuresAndThreadsShareOneOrder() throws Exception {
        List<Callable<Lease>> attempts = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            DistributedLock lock = keeper().lock(name());
            attempts.add(
                    i % 2 == 0 ? lock::acquire : () -> lock.acquireAsync().get(LONG.toSeconds(), TimeUnit.SECONDS));
        }
        assertThat(orderOf(keeper().lock(name()).acquire(), attempts)).isEqualTo(upTo(4));
    }

    @Test
    void aQueuedClaimKnowsHowManyAreAheadOfIt() {
        SpiClient a = client();
        SpiClient b = client();
        Grant held = a.hold(name(), exclusive());
        List<Claim> queued = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            SpiClient client = i % 2 == 0 ? b : a;
            Claim claim = client.newClaim(name(), exclusive());
            assertThat(SpiClient.queued(client.store().claim(claim)).ahead()).isEqualTo(i);
            queued.add(claim);
        }
        b.store().withdraw(queued.get(0));
        assertThat(SpiClient.queued(b.refresh(queued.get(4))).ahead()).isEqualTo(3);
        assertThat(a.store().release(held)).isTrue();
        assertThat(SpiClient.queued(b.refresh(queued.get(4))).ahead()).isEqualTo(2);
    }

    @Test
    void readersQueuedTogetherAreGrantedTogether() throws Exception {
        needs(Mode.SHARED);
        Lease writer = keeper().lock(name()).acquire();
        CyclicBarrier together = new CyclicBarrier(4);
        List<Future<Boolean>> readers = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            DistributedLock lock = keeper().readWriteLock(name()).readLock();
            readers.add(async(() -> {
                Lease lease = lock.acquire();
                together.await(LONG.toSeconds(), TimeUnit.SECONDS); // all of them are in, or this never opens
                return lease.release();
            }));
            awaitWaiters(name(), i + 1);
        }
        assertThat(writer.release()).isTrue();
        for (Future<Boolean> reader : readers) {
            assertThat(get(reader)).isTrue();
        }
        assertIdle(name());
    }

    @Test
    void readersAreGrantedUpToTheNextWriterAndTheRestAfterIt() throws Exception {
        needs(Mode.SHARED);
        SpiClient client = client();
        Grant first = client.hold(name(), exclusive());
        Claim r1 = client.queue(name(), shared());
        Claim r2 = client.queue(name(), shared());
        Claim writer = client.queue(name(), exclusive());
        Claim r3 = client.queue(name(), shared());
        assertThat(client.store().release(first)).isTrue();
        Grant g1 = Grant.of(r1, client.awaitGrant(r1));
        Grant g2 = Grant.of(r2, client.awaitGrant(r2));
        keep(client, g1, g2);
        assertThat(client.refresh(writer)).isInstanceOf(Answer.Queued.class);
        assertThat(client.refresh(r3)).isInstanceOf(Answer.Queued.class);
        assertThat(client.store().release(g1)).isTrue();
        assertThat(client.refresh(writer)).isInstanceOf(Answer.Queued.class);
        assertThat(client.store().release(g2)).isTrue();
        Grant w = Grant.of(writer, client.awaitGrant(writer));
        keep(client, w);
        assertThat(client.refresh(r3)).isInstanceOf(Answer.Queued.class);
        assertThat(client.store().release(w)).isTrue();
        client.awaitGrant(r3);
    }

    private static void keep(SpiClient client, Grant... grants) {
        for (Grant grant : grants) {
            client.renew(grant, VERY_LONG);
        }
    }

    @Test
    void aQueuedWriterIsNotOvertakenByLaterReaders() throws Exception {
        needs(Mode.SHARED);
        DistributedReadWriteLock a = keeper().readWriteLock(name());
        DistributedReadWriteLock b = keeper().readWriteLock(name());
        DistributedReadWriteLock c = keeper().readWriteLock(name());
        Lease reader = a.readLock().acquire();
        Attempt writer = attempt(b.writeLock()::acquire);
        awaitWaiters(name(), 1);
        assertThat(c.readLock().tryAcquire()).as("one attempt").isEmpty();
        assertThat(c.readLock().tryLock()).isFalse();
        Attempt later = attempt(c.readLock()::acquire);
        awaitWaiters(name(), 2);
        assertThat(holders(name())).containsExactly(reader.token());
        assertThat(reader.release()).isTrue();
        Lease written = writer.get().orElseThrow();
        assertThat(later.isDone()).isFalse();
        assertThat(written.release()).isTrue();
        assertThat(later.get().orElseThrow().release()).isTrue();
    }

    @Test
    void aQueuedWriterIsNotOvertakenByReadersOfAClientThatReadsAlready() throws Exception {
        needs(Mode.SHARED);
        LockOptions fair = LockOptions.defaults().fair(true);
        DistributedReadWriteLock a = keeper().readWriteLock(name(), fair);
        Lease reader = a.readLock().acquire();
        Attempt writer = attempt(keeper().lock(name())::acquire);
        awaitWaiters(name(), 1);
        assertThat(a.readLock().tryAcquire()).isEmpty();
        assertThat(reader.release()).isTrue();
        assertThat(writer.get().orElseThrow().release()).isTrue();
    }

    @Test
    void readersThatComeAndGoDoNotStarveAWriter() throws Exception {
        needs(Mode.SHARED);
        AtomicBoolean stop = new AtomicBoolean();
        CountDownLatch reading = new CountDownLatch(4);
        List<Future<?>> readers = new ArrayList<>();
        for (Lockkeeper keeper : List.of(keeper(), keeper())) {
            DistributedLock lock = keeper.readWriteLock(name()).readLock();
            for (int i = 0; i < 2; i++) {
                readers.add(async(() -> {
                    while (!stop.get()) {
                        try (Lease lease = lock.acquire()) {
                            reading.countDown();
                            assertThat(lease.isValid()).isTrue();
                        }
                    }
                    return null;
                }));
            }
        }
        assertThat(reading.await(LONG.toSeconds(), TimeUnit.SECONDS)).isTrue();
        Attempt writer = attempt(keeper().lock(name())::acquire);
        assertThat(writer.get().orElseThrow().release()).isTrue();
        stop.set(true);
        for (Future<?> reader : readers) {
            get(reader);
        }
    }

    @Test
    void aLargePermitClaimIsNotOvertakenBySmallerOnes() throws Exception {
        needs(Mode.PERMITS);
        DistributedSemaphore a = keeper().semaphore(name(), 4);
        DistributedSemaphore b = keeper().semaphore(name(), 4);
        DistributedSemaphore c = keeper().semaphore(name(), 4);
        Lease two = a.acquire(2);
        Attempt large = attempt(() -> b.acquire(4));
        awaitWaiters(name(), 1);
        assertThat(c.tryAcquire(1))
                .as("two permits are free, but not for those who come later")
                .isEmpty();
        assertThat(a.tryAcquire(1)).isEmpty();
        Attempt small = attempt(() -> c.acquire(1));
        awaitWaiters(name(), 2);
        assertThat(two.release()).isTrue();
        Lease all = large.get().orElseThrow();
        assertThat(small.isDone()).isFalse();
        assertThat(all.release()).isTrue();
        assertThat(small.get().orElseThrow().release()).isTrue();
        assertThat(c.availablePermits()).isEqualTo(4);
    }

    @Test
    void smallerPermitClaimsAreGrantedTogetherWhenTheLargeOneLeaves() throws Exception {
        needs(Mode.PERMITS);
        DistributedSemaphore a = keeper().semaphore(name(), 4);
        DistributedSemaphore b = keeper().semaphore(name(), 4);
        Lease two = a.acquire(2);
        Attempt large = attempt(() -> b.acquire(4));
        awaitWaiters(name(), 1);
        Attempt one = attempt(() -> a.acquire(1));
        awaitWaiters(name(), 2);
        Attempt other = attempt(() -> b.acquire(1));
        awaitWaiters(name(), 3);
        large.interrupt();
        Lease first = one.get().orElseThrow();
        Lease second = other.get().orElseThrow();
        assertThat(List.of(two, first, second)).allMatch(Lease::release);
        assertIdle(name());
    }

    @Test
    void aClaimAtTheMomentOfAReleaseDoesNotOvertakeAWaiter() throws Exception {
        DistributedLock newcomer = keeper().lock(name());
        DistributedLock mine = keeper().lock(name());
        DistributedLock other = keeper().lock(name());
        for (int i = 0; i < 10; i++) {
            Lease holder = mine.acquire();
            Attempt waiter = attempt(other::acquire);
            awaitWaiters(name(), 1);
            assertThat(holder.release()).isTrue();
            assertThat(newcomer.tryAcquire()).isEmpty();
            assertThat(waiter.get().orElseThrow().release()).isTrue();
        }
    }

    @Test
    void threadsThatPassAHoldOnAmongThemselvesLetOthersInAfterABoundedNumber() throws Exception {
        DistributedLock crowd = keeper().lock(name());
        FaultyStore store = faulty();
        DistributedLock single = keeper(store).lock(name());
        AtomicInteger passed = new AtomicInteger();
        AtomicBoolean stop = new AtomicBoolean();
        List<Future<?>> threads = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            threads.add(async(() -> {
                while (!stop.get()) {
                    try (Lease lease = crowd.acquire()) {
                        assertThat(lease.isValid()).isTrue();
                        passed.incrementAndGet();
                    }
                }
                return null;
            }));
        }
        await("the crowd is busy", () -> passed.get() > 10);
        for (int i = 0; i < 20; i++) {
            Gate answer = store.pauseAfter(StepKind.CLAIM);
            Attempt attempt = attempt(single::acquire);
            assertThat(answer.awaitArrival(LONG)).isTrue(); // our claim is in the queue
            int before = passed.get();
            answer.open();
            Lease lease = attempt.get().orElseThrow();
            // What is passed on has tokens of one block, of 64 at most; nobody of the crowd has a claim before ours
            // then.
            assertThat(passed.get() - before)
                    .as("of the crowd, while one waits")
                    .isLessThanOrEqualTo(64);
            assertThat(lease.release()).isTrue();
        }
        stop.set(true);
        for (Future<?> thread : threads) {
            get(thread);
        }
    }
}
