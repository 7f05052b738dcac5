// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.primitives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.lockkeeper.ConflictingUseException;
import io.lockkeeper.DistributedLock;
import io.lockkeeper.DistributedReadWriteLock;
import io.lockkeeper.Guarantee;
import io.lockkeeper.Lease;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.Mode;
import io.lockkeeper.tck.support.ApiContract;
import io.lockkeeper.tck.support.Promise;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Many readers or one writer, in the order in which they came. */
@SuppressWarnings("LockNotBeforeTry")
public abstract class ReadWriteContract extends ApiContract {
    @BeforeEach
    final void requireShared() {
        Lockkeeper keeper = keeper();
        require(keeper, Guarantee.SHARED, () -> keeper.readWriteLock(name()));
    }

    @Test
    void readersShareAcrossClientsAndThreads() throws Exception {
        DistributedReadWriteLock mine = keeper().readWriteLock(name());
        DistributedReadWriteLock other = keeper().readWriteLock(name());
        List<Lease> readers = new ArrayList<>();
        readers.add(mine.readLock().acquire());
        readers.add(mine.readLock().acquire());
        readers.add(other.readLock().tryAcquire().orElseThrow());
        readers.add(get(other.readLock().acquireAsync()));
        readers.add(get(async(() -> mine.readLock().tryAcquire(LONG).orElseThrow())));
        assertThat(get(async(() -> {
                    other.readLock().lock();
                    boolean held = other.readLock().isHeldByCurrentThread();
                    other.readLock().unlock();
                    return held;
                })))
                .isTrue();
        Set<Long> tokens = new HashSet<>();
        long largest = 0;
        for (Lease reader : readers) {
            assertThat(reader.mode()).isEqualTo(Mode.SHARED);
            assertThat(reader.isValid()).isTrue();
            assertThat(tokens.add(reader.token())).as("its own token").isTrue();
            largest = Math.max(largest, reader.token());
        }
        for (Lease reader : readers) {
            assertThat(isTaken(mine.writeLock())).isTrue();
            assertThat(isTaken(other.writeLock())).isTrue();
            assertThat(reader.release()).isTrue();
        }
        Lease writer = other.writeLock().tryAcquire().orElseThrow();
        assertThat(writer.token()).isGreaterThan(largest);
        assertThat(writer.release()).isTrue();
    }

    @Test
    void aWriterExcludesAll() throws Exception {
        Lockkeeper keeper = keeper();
        DistributedReadWriteLock mine = keeper.readWriteLock(name());
        DistributedReadWriteLock other = keeper().readWriteLock(name());
        Lease writer = mine.writeLock().acquire();
        for (DistributedReadWriteLock each : List.of(mine, other)) {
            assertThat(each.readLock().tryAcquire()).isEmpty();
            assertThat(each.readLock().tryAcquire(Duration.ofMillis(20))).isEmpty();
            assertThat(each.readLock().tryLock()).isFalse();
            assertThat(each.writeLock().tryAcquire()).isEmpty();
            assertThat(each.writeLock().tryLock()).isFalse();
        }
        Future<Lease> reader = other.readLock().acquireAsync();
        awaitQueued(keeper, name(), 1);
        assertThat(reader).isNotDone();
        assertThat(writer.release()).isTrue();
        Lease next = get(reader);
        assertThat(next.token()).isGreaterThan(writer.token());
        assertThat(next.release()).isTrue();
    }

    @Test
    void lockIsTheWriteLockOfItsName() throws Exception {
        Lockkeeper keeper = keeper();
        DistributedLock lock = keeper.lock(name());
        DistributedReadWriteLock both = keeper.readWriteLock(name());
        assertThat(both.writeLock()).isEqualTo(lock).hasSameHashCodeAs(lock);
        assertThat(both.readLock()).isNotEqualTo(lock);
        lock.lock();
        assertThat(both.writeLock().holdCount()).isOne();
        assertThat(both.writeLock().tryLock()).isTrue();
        both.readLock().lock();
        assertThat(lock.holdCount()).isEqualTo(2);
        lock.unlock();
        both.writeLock().unlock();
        assertThat(isTaken(lock)).isTrue();
        assertThat(both.readLock().holdCount()).isOne();
        both.readLock().unlock();
        assertThat(isFree(lock)).isTrue();
    }

    @Test
    void isLockedDistinguishesTheModes() throws Exception {
        DistributedReadWriteLock mine = keeper().readWriteLock(name());
        DistributedReadWriteLock other = keeper().readWriteLock(name());
        assertThat(other.readLock().isLocked()).isFalse();
        assertThat(other.writeLock().isLocked()).isFalse();
        try (Lease reader = mine.readLock().acquire()) {
            assertThat(reader.isValid()).isTrue();
            assertThat(other.readLock().isLocked()).isTrue();
            assertThat(other.writeLock().isLocked()).isFalse();
        }
        try (Lease writer = mine.writeLock().acquire()) {
            assertThat(writer.isValid()).isTrue();
            assertThat(other.readLock().isLocked()).isFalse();
            assertThat(other.writeLock().isLocked()).isTrue();
        }
    }

    @Test
    void aWaitingWriterIsNotOvertakenByLaterReaders() throws Exception {
        Lockkeeper keeper = keeper();
        Promise.needed(keeper.guarantees(), Guarantee.FAIR);
        DistributedReadWriteLock third = keeper().readWriteLock(name());
        Lease reader = keeper.readWriteLock(name()).readLock().acquire();
        Future<Lease> writer = keeper().lock(name()).acquireAsync();
        awaitQueued(keeper, name(), 1);
        assertThat(third.readLock().tryAcquire()).isEmpty();
        Future<Lease> later = third.readLock().acquireAsync();
        awaitQueued(keeper, name(), 2);
        assertThat(later).isNotDone();
        assertThat(reader.release()).isTrue();
        Lease wrote = get(writer);
        assertThat(later).isNotDone();
        assertThat(wrote.release()).isTrue();
        Lease read = get(later);
        assertThat(wrote.token()).isGreaterThan(reader.token()).isLessThan(read.token());
        assertThat(read.release()).isTrue();
    }

    @Test
    void readersThatKeepComingDoNotStarveAWriter() throws Exception {
        Lockkeeper keeper = keeper();
        Promise.needed(keeper.guarantees(), Guarantee.FAIR);
        AtomicBoolean end = new AtomicBoolean();
        AtomicInteger reads = new AtomicInteger();
        List<Future<Boolean>> readers = new ArrayList<>();
        for (int client = 0; client < 2; client++) {
            DistributedLock readLock = keeper().readWriteLock(name()).readLock();
            for (int i = 0; i < 2; i++) {
                readers.add(async(() -> {
                    Lease held = readLock.acquire();
                    while (!end.get()) {
                        Future<Lease> next = readLock.acquireAsync(); // takes over before it lets go
                        try {
                            held = swap(held, next);
                        } catch (TimeoutException e) {
                            held.release();
                            held = get(next);
                        }
                        reads.incrementAndGet();
                    }
                    return held.release();
                }));
            }
        }
        await("readers read", () -> reads.get() > 20);
        for (int i = 0; i < 3; i++) {
            int before = reads.get();
            assertThat(keeper.lock(name()).tryAcquire(LONG).orElseThrow().release())
                    .isTrue();
            await("readers go on", () -> reads.get() > before + 4);
        }
        end.set(true);
        for (Future<Boolean> each : readers) {
            get(each);
        }
    }

    private static Lease swap(Lease held, Future<Lease> next) throws Exception {
        Lease taken = next.get(20, TimeUnit.MILLISECONDS);
        held.release();
        return taken;
    }

    @Test
    void readersQueuedTogetherComeInTogether() throws Exception {
        Lockkeeper keeper = keeper();
        Lease writer = keeper.lock(name()).acquire();
        List<Future<Lease>> waiting = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            waiting.add(keeper().readWriteLock(name()).readLock().acquireAsync());
            awaitQueued(keeper, name(), i + 1);
        }
        assertThat(writer.release()).isTrue();
        List<Lease> readers = new ArrayList<>();
        for (Future<Lease> each : waiting) {
            readers.add(get(each));
        }
        assertThat(readers).allMatch(Lease::isValid);
        for (Lease reader : readers) {
            assertThat(reader.release()).isTrue();
        }
    }

    @Test
    void readingIsReentrantAndCounted() throws Exception {
        DistributedReadWriteLock mine = keeper().readWriteLock(name());
        DistributedLock other = keeper().lock(name());
        for (int i = 0; i < 3; i++) {
            mine.readLock().lock();
        }
        for (int count = 3; count > 0; count--) {
            assertThat(mine.readLock().holdCount()).isEqualTo(count);
            assertThat(mine.writeLock().holdCount()).isZero();
            assertThat(isTaken(other)).isTrue();
            mine.readLock().unlock();
        }
        assertThat(isFree(other)).isTrue();
    }

    @Test
    void aReadHoldBelongsToItsThreadOnly() throws Exception {
        DistributedReadWriteLock mine = keeper().readWriteLock(name());
        mine.readLock().lock();
        get(async(() -> {
            assertThat(mine.readLock().isHeldByCurrentThread()).isFalse();
            assertThatExceptionOfType(IllegalMonitorStateException.class)
                    .isThrownBy(() -> mine.readLock().unlock());
            mine.readLock().lock();
            assertThat(mine.readLock().holdCount()).isOne();
            mine.readLock().unlock();
            return true;
        }));
        assertThat(mine.readLock().holdCount()).isOne();
        assertThat(isTaken(keeper().lock(name()))).isTrue();
        assertThatExceptionOfType(IllegalMonitorStateException.class)
                .isThrownBy(() -> mine.writeLock().unlock());
        mine.readLock().unlock();
    }

    @Test
    void aReaderMayHaveHandlesInAdditionToItsLock() throws Exception {
        DistributedReadWriteLock mine = keeper().readWriteLock(name());
        mine.readLock().lock();
        Lease one = mine.readLock().acquire();
        Lease two = mine.readLock().tryAcquire().orElseThrow();
        mine.readLock().unlock();
        assertThat(one.isValid()).isTrue();
        assertThat(one.release()).isTrue();
        assertThat(two.isValid()).isTrue();
        assertThat(isTaken(keeper().lock(name()))).isTrue();
        assertThat(two.release()).isTrue();
        assertThat(isFree(keeper().lock(name()))).isTrue();
    }

    @Test
    void aReadersFixedLeaseEndsAndLetsTheWriterIn() throws Exception {
        Lockkeeper keeper = keeper();
        Lease reader = keeper.readWriteLock(name(), brief(keeper)).readLock().acquire();
        Lease writer = keeper().lock(name()).acquire();
        assertThat(reader.isValid()).isFalse();
        assertThat(writer.token()).isGreaterThan(reader.token());
        assertThat(reader.release()).isFalse();
        assertThat(writer.release()).isTrue();
    }

    @Test
    void aNameThatIsReadIsNoSemaphore() throws Exception {
        Lockkeeper keeper = keeper();
        Promise.needed(keeper.guarantees(), Guarantee.PERMITS);
        try (Lease reader = keeper.readWriteLock(name()).readLock().acquire()) {
            assertThat(reader.isValid()).isTrue();
            assertThatExceptionOfType(ConflictingUseException.class)
                    .isThrownBy(() -> keeper().semaphore(name(), 1).tryAcquire());
        }
    }
}
