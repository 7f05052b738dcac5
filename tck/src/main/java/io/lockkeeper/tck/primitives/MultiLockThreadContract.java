// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.primitives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.lockkeeper.DeadlockException;
import io.lockkeeper.DistributedLock;
import io.lockkeeper.Guarantee;
import io.lockkeeper.Lease;
import io.lockkeeper.LeaseLost;
import io.lockkeeper.LeaseLostException;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.tck.support.Promise;
import io.lockkeeper.tck.support.Rounds;
import io.lockkeeper.testkit.FaultyStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Several locks as one in the style of {@code java.util.concurrent}. */
@SuppressWarnings("LockNotBeforeTry")
public abstract class MultiLockThreadContract extends AbstractMultiLockContract {
    @Test
    void aThreadOwnsAllAndReentersAll() throws Exception {
        Lockkeeper keeper = keeper();
        Lockkeeper other = keeper();
        DistributedLock all = all(keeper, "ab");
        assertThat(all.holdCount()).isZero();
        all.lock();
        assertThat(all.tryLock()).isTrue();
        assertThat(all.tryLock(1, TimeUnit.SECONDS)).isTrue();
        all.lockInterruptibly();
        assertThat(all.lease().parts()).extracting(Lease::name).containsExactly(name("a"), name("b"));
        assertThat(all.isLocked()).isTrue();
        for (int count = 4; count > 0; count--) {
            assertThat(all.holdCount()).isEqualTo(count);
            assertThat(all.isHeldByCurrentThread()).isTrue();
            assertThat(keeper.lock(name("a")).holdCount()).isEqualTo(count);
            assertThat(isTaken(other.lock(name("a")))).isTrue();
            assertThat(isTaken(other.lock(name("b")))).isTrue();
            all.unlock();
        }
        assertThat(all.isHeldByCurrentThread()).isFalse();
        assertThat(all.isLocked()).isFalse();
        assertThat(isFree(all(other, "ab"))).isTrue();
        notHeld(all::unlock);
        notHeld(all::lease);
    }

    @Test
    void anAttemptThatGetsNotAllKeepsNone() throws Exception {
        Lockkeeper keeper = keeper();
        Lockkeeper other = keeper();
        Lease held = other.lock(name("b")).acquire();
        DistributedLock all = all(keeper, "abc");
        assertThat(all.tryLock()).isFalse();
        assertThat(all.tryLock(20, TimeUnit.MILLISECONDS)).isFalse();
        assertThat(all.tryLock(0, TimeUnit.SECONDS)).isFalse();
        for (DistributedLock each : locks(keeper, "abc")) {
            assertThat(each.holdCount()).isZero();
        }
        assertThat(isFree(other.lock(name("a")))).isTrue();
        assertThat(isFree(other.lock(name("c")))).isTrue();
        assertThat(held.release()).isTrue();
        assertThat(all.tryLock()).isTrue();
        all.unlock();
    }

    @Test
    void anInterruptLeavesNone() throws Exception {
        Lockkeeper keeper = keeper();
        Lockkeeper other = keeper();
        Lease held = other.lock(name("b")).acquire();
        List<ThrowingCallable> ways = List.of(
                () -> all(keeper, "ab").lockInterruptibly(),
                () -> all(keeper, "ab").tryLock(LONG.toSeconds(), TimeUnit.SECONDS),
                () -> all(keeper, "ab").acquire());
        for (ThrowingCallable way : ways) {
            CompletableFuture<Boolean> ended = new CompletableFuture<>();
            Thread waiter = new Thread(() -> {
                assertThatExceptionOfType(InterruptedException.class).isThrownBy(way);
                ended.complete(keeper.lock(name("a")).holdCount() == 0);
            });
            waiter.start();
            await("it has a and awaits b", () -> keeper.lock(name("a")).isLocked());
            waiter.interrupt();
            assertThat(get(ended)).isTrue();
            awaitFree(other.lock(name("a")));
        }
        assertThat(held.release()).isTrue();
        assertThat(isFree(other.lock(name("b")))).isTrue();
    }

    @Test
    void aPartThatIsLostWhileTheRestIsAwaitedIsTakenAgain() throws Exception {
        Queue<LeaseLost> losses = new ConcurrentLinkedQueue<>();
        Lockkeeper keeper = keeper(losses);
        Lockkeeper other = keeper();
        Lease held = other.lock(name("b")).acquire();
        Future<Long> token = async(() -> {
            DistributedLock all = all(keeper, "ab");
            all.lock();
            List<Lease> parts = all.lease().parts();
            assertThat(parts).allMatch(Lease::isValid);
            all.unlock();
            return parts.get(0).token();
        });
        long broken = breakWhileWaiting(other, losses);
        assertThat(held.release()).isTrue();
        assertThat(get(token)).isGreaterThan(broken);
        assertThat(isFree(all(other, "ab"))).isTrue();
    }

    @Test
    void aLostPartIsReportedByUnlockAndByReentry() throws Exception {
        Lockkeeper keeper = keeper();
        DistributedLock all = all(keeper, "ab");
        all.lock();
        List<Lease> parts = all.lease().parts();
        lose(parts.get(1), keeper());
        assertThat(all.isHeldByCurrentThread()).isFalse();
        assertThat(all.holdCount()).isZero();
        assertThatExceptionOfType(LeaseLostException.class).isThrownBy(all::lock);
        assertThatExceptionOfType(LeaseLostException.class).isThrownBy(all::tryLock);
        assertThat(parts.get(0).isValid())
                .as("a failed re-entry changes nothing")
                .isTrue();
        assertThatExceptionOfType(IllegalMonitorStateException.class)
                .isThrownBy(all::unlock)
                .withCauseInstanceOf(LeaseLostException.class);
        assertThat(parts.get(0).isValid()).as("the rest is released").isFalse();
        assertThat(isFree(all(keeper(), "ab"))).isTrue();
        notHeld(all::unlock);
    }

    /** The ways to wait for several locks as a thread. */
    enum Locks {
        LOCK,
        LOCK_INTERRUPTIBLY,
        TRY_LOCK;

        boolean of(DistributedLock lock) throws InterruptedException {
            switch (this) {
                case LOCK -> lock.lock();
                case LOCK_INTERRUPTIBLY -> lock.lockInterruptibly();
                case TRY_LOCK -> {
                    return lock.tryLock(LONG.toSeconds(), TimeUnit.SECONDS);
                }
            }
            return true;
        }
    }

    /** What was entered again is not taken again when it is lost: the thread may have relied on it before. */
    @ParameterizedTest
    @EnumSource(Locks.class)
    void aReenteredPartThatIsLostWhileWaitingForTheRestFailsTheCall(Locks way) throws Exception {
        Lockkeeper keeper = keeper();
        Lockkeeper other = keeper();
        DistributedLock a =
                keeper.lock(name("a"), LockOptions.defaults().fixedLease(longer(Duration.ofSeconds(1), keeper)));
        DistributedLock b = keeper.lock(name("b"));
        Lease held = other.lock(name("b")).acquire();
        CompletableFuture<Boolean> entered = new CompletableFuture<>();
        Future<Boolean> thread = async(() -> {
            a.lock();
            entered.complete(true);
            DistributedLock all = DistributedLock.all(a, b);
            assertThatExceptionOfType(LeaseLostException.class).isThrownBy(() -> way.of(all));
            assertThat(all.holdCount()).isZero();
            assertThat(b.holdCount()).isZero();
            notHeld(b::unlock);
            assertThatExceptionOfType(IllegalMonitorStateException.class)
                    .isThrownBy(a::unlock)
                    .withCauseInstanceOf(LeaseLostException.class);
            assertThatExceptionOfType(IllegalMonitorStateException.class)
                    .isThrownBy(a::unlock)
                    .withNoCause();
            return true;
        });
        get(entered);
        Lease successor = get(other.lock(name("a")).acquireAsync()); // when the lease has ended
        assertThat(held.release()).isTrue();
        assertThat(get(thread)).isTrue();
        awaitFree(other.lock(name("b")));
        assertThat(successor.release()).as("the successor is left alone").isTrue();
    }

    @Test
    void aReaderCannotWriteByWayOfSeveralLocks() throws Exception {
        Lockkeeper keeper = keeper();
        Promise.needed(keeper.guarantees(), Guarantee.SHARED);
        keeper.readWriteLock(name("b")).readLock().lock();
        DistributedLock all = all(keeper, "ab");
        deadlock(all::lock);
        assertThat(all.tryLock()).isFalse();
        assertThat(all.tryLock(1, TimeUnit.HOURS)).isFalse();
        assertThat(isFree(keeper().lock(name("a")))).isTrue();
        assertThat(keeper.readWriteLock(name("b")).readLock().holdCount()).isOne();
        keeper.readWriteLock(name("b")).readLock().unlock();
    }

    @Test
    void aThreadDoesNotWaitForItselfForAHandleOnAll() throws Exception {
        FaultyStore store = faulty();
        Lockkeeper keeper = keeper(store);
        DistributedLock all = all(keeper, "ab");
        get(async(() -> {
            keeper.lock(name("b")).lock();
            deadlock(all::acquire);
            assertThat(isFree(keeper().lock(name("a")))).isTrue();
            assertThat(all.tryAcquire()).isEmpty();
            assertThat(keeper.lock(name("b")).holdCount()).isOne();
            keeper.lock(name("b")).unlock();
            return true;
        }));
    }

    @Test
    void locksInOppositeOrderNeverDeadlock() throws Exception {
        int[] count = new int[1];
        Rounds rounds = Rounds.of(15, 300);
        AtomicInteger done = new AtomicInteger();
        List<Future<Boolean>> threads = new ArrayList<>();
        for (int client = 0; client < 2; client++) {
            Lockkeeper keeper = keeper();
            for (String order : new String[] {"abc", "cba", "bca"}) {
                DistributedLock all = all(keeper, order);
                threads.add(async(() -> {
                    for (int i = 0; rounds.goOnAfter(i); i++) {
                        if (i % 2 == 0) {
                            all.lock();
                            count[0]++;
                            all.unlock();
                        } else {
                            try (Lease lease = all.acquire()) {
                                lease.ensureValid();
                                count[0]++;
                            }
                        }
                        done.incrementAndGet();
                    }
                    return true;
                }));
            }
        }
        for (Future<Boolean> each : threads) {
            get(each);
        }
        try (Lease lease = all(keeper(), "abc").acquire()) {
            lease.ensureValid();
            assertThat(count[0]).isEqualTo(done.get());
        }
    }

    private static void deadlock(ThrowingCallable use) {
        assertThatExceptionOfType(DeadlockException.class).isThrownBy(use);
    }
}
