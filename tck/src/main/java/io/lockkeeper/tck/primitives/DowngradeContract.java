// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.primitives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.lockkeeper.DeadlockException;
import io.lockkeeper.DistributedLock;
import io.lockkeeper.DistributedReadWriteLock;
import io.lockkeeper.Lease;
import io.lockkeeper.LeaseLost;
import io.lockkeeper.LeaseLostException;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.Mode;
import io.lockkeeper.tck.support.ApiContract;
import io.lockkeeper.tck.support.Recorder;
import io.lockkeeper.testkit.FaultyStore;
import io.lockkeeper.testkit.StepKind;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A thread that writes may go on as a reader, with no gap; a reader never becomes a writer. */
@SuppressWarnings("LockNotBeforeTry")
public abstract class DowngradeContract extends ApiContract {
    @Test
    void aDowngradeLeavesNoGapForAWriter() throws Exception {
        Lockkeeper keeper = keeper();
        Lockkeeper other = keeper();
        DistributedReadWriteLock mine = keeper.readWriteLock(name());
        mine.writeLock().lock();
        long written = mine.writeLock().lease().token();
        Future<Lease> writer = other.lock(name()).acquireAsync();
        awaitQueued(keeper, name(), 1);
        mine.readLock().lock();
        mine.writeLock().unlock();
        assertThat(mine.readLock().isHeldByCurrentThread()).isTrue();
        assertThat(mine.readLock().lease().isValid()).isTrue();
        assertThat(mine.writeLock().isHeldByCurrentThread()).isFalse();
        assertThat(isTaken(other.lock(name()))).isTrue();
        assertThat(writer).isNotDone();
        long read = mine.readLock().lease().token();
        mine.readLock().unlock();
        Lease next = get(writer);
        assertThat(next.token()).isGreaterThan(read);
        assertThat(read).isGreaterThan(written);
        assertThat(next.release()).isTrue();
    }

    @Test
    void aDowngradeLetsWaitingReadersInAtOnce() throws Exception {
        Lockkeeper keeper = keeper();
        DistributedReadWriteLock mine = keeper.readWriteLock(name());
        mine.writeLock().lock();
        Future<Lease> remote = keeper().readWriteLock(name()).readLock().acquireAsync();
        Future<Lease> local = mine.readLock().acquireAsync();
        awaitQueued(keeper, name(), 2);
        mine.readLock().lock();
        assertThat(remote).as("a writer that reads is a writer").isNotDone();
        assertThat(local).isNotDone();
        mine.writeLock().unlock();
        Lease first = get(remote);
        Lease second = get(local);
        assertThat(mine.readLock().lease().isValid()).as("all read together").isTrue();
        assertThat(first.isValid()).isTrue();
        assertThat(second.isValid()).isTrue();
        mine.readLock().unlock();
        assertThat(isTaken(keeper.lock(name()))).isTrue();
        assertThat(first.release()).isTrue();
        assertThat(second.release()).isTrue();
        assertThat(isFree(keeper.lock(name()))).isTrue();
    }

    @Test
    void aDowngradeLetsLaterReadersInAsWell() throws Exception {
        DistributedReadWriteLock mine = keeper().readWriteLock(name());
        DistributedReadWriteLock other = keeper().readWriteLock(name());
        mine.writeLock().lock();
        mine.readLock().lock();
        assertThat(isTaken(other.readLock())).isTrue();
        mine.writeLock().unlock();
        Lease reader = other.readLock().tryAcquire().orElseThrow();
        mine.readLock().unlock();
        assertThat(reader.isValid()).isTrue();
        assertThat(isTaken(mine.writeLock())).isTrue();
        assertThat(reader.release()).isTrue();
    }

    @Test
    void theLeaseOfADowngradedHoldIsAReaders() throws Exception {
        Lockkeeper keeper = keeper();
        DistributedReadWriteLock mine = keeper.readWriteLock(name(), lively(keeper));
        mine.writeLock().lock();
        Lease writer = mine.writeLock().lease();
        assertThat(writer.mode()).isEqualTo(Mode.EXCLUSIVE);
        mine.readLock().lock();
        mine.writeLock().unlock();
        Lease reader = mine.readLock().lease();
        assertThat(reader.mode()).isEqualTo(Mode.SHARED);
        assertThat(writer.isValid()).isFalse();
        assertThat(keeper.inspector().check(reader.sequencer())).isTrue();
        assertThatExceptionOfType(IllegalMonitorStateException.class)
                .isThrownBy(() -> mine.writeLock().lease());
        assertThatExceptionOfType(IllegalMonitorStateException.class)
                .isThrownBy(() -> mine.writeLock().unlock());
        assertThat(mine.readLock().holdCount()).isOne();
        mine.readLock().unlock();
        assertThat(keeper.inspector().check(reader.sequencer())).isFalse();
    }

    @Test
    void aDowngradedHoldIsKeptAlive() throws Exception {
        FaultyStore store = faulty();
        Lockkeeper keeper = keeper(store);
        DistributedReadWriteLock mine = keeper.readWriteLock(name(), lively(keeper));
        mine.writeLock().lock();
        mine.readLock().lock();
        mine.writeLock().unlock();
        store.resetCounts();
        await("renewals", () -> store.count(StepKind.RENEW) >= 4);
        assertThat(mine.readLock().lease().isValid()).isTrue();
        assertThat(isTaken(keeper().lock(name()))).isTrue();
        mine.readLock().unlock();
    }

    @Test
    void theLossOfADowngradedHoldIsReported() throws Exception {
        Lockkeeper keeper = keeper();
        DistributedReadWriteLock mine = keeper.readWriteLock(name(), lively(keeper));
        mine.writeLock().lock();
        mine.readLock().lock();
        mine.writeLock().unlock();
        Lease reader = mine.readLock().lease();
        CompletableFuture<LeaseLost> told = new CompletableFuture<>();
        reader.onLost(told::complete);
        lose(reader, keeper());
        assertThat(get(told).token()).isEqualTo(reader.token());
        assertThat(mine.readLock().isHeldByCurrentThread()).isFalse();
        assertThatExceptionOfType(LeaseLostException.class)
                .isThrownBy(() -> mine.readLock().lock());
        assertThatExceptionOfType(IllegalMonitorStateException.class)
                .isThrownBy(() -> mine.readLock().unlock())
                .withCauseInstanceOf(LeaseLostException.class);
    }

    @Test
    void aDowngradeWhoseAnswerWasLostIsDoneOnce() throws Exception {
        FaultyStore store = faulty();
        Lockkeeper keeper = keeper(store);
        Lockkeeper other = keeper();
        DistributedReadWriteLock mine = keeper.readWriteLock(name());
        mine.writeLock().lock();
        mine.readLock().lock();
        store.loseReply(StepKind.DOWNGRADE);
        mine.writeLock().unlock();
        assertThat(store.count(StepKind.DOWNGRADE)).isEqualTo(2);
        assertThat(other.inspector().check(mine.readLock().lease().sequencer())).isTrue();
        mine.readLock().unlock();
        assertThat(isFree(other.lock(name()))).isTrue();
    }

    @Test
    void aDowngradeAfterLossIsRefused() throws Exception {
        Lockkeeper keeper = keeper();
        DistributedReadWriteLock mine = keeper.readWriteLock(name(), lively(keeper));
        mine.writeLock().lock();
        mine.readLock().lock();
        lose(mine.writeLock().lease(), keeper());
        for (DistributedLock each : new DistributedLock[] {mine.writeLock(), mine.readLock()}) {
            assertThatExceptionOfType(IllegalMonitorStateException.class)
                    .isThrownBy(each::unlock)
                    .withCauseInstanceOf(LeaseLostException.class);
            assertThat(each.isHeldByCurrentThread()).isFalse();
        }
        assertThat(isFree(keeper().lock(name()))).isTrue();
    }

    @Test
    void aReaderThatAsksToWriteIsRefusedAtOnceAndKeepsReading() throws Exception { // H30
        FaultyStore store = faulty();
        DistributedReadWriteLock mine = keeper(store).readWriteLock(name());
        mine.readLock().lock();
        store.resetCounts();
        deadlock(() -> mine.writeLock().lock());
        deadlock(() -> mine.writeLock().lockInterruptibly());
        assertThat(mine.writeLock().tryLock()).isFalse();
        assertThat(mine.writeLock().tryLock(1, TimeUnit.HOURS)).isFalse();
        deadlock(() -> mine.writeLock().acquire());
        assertThat(store.count(StepKind.CLAIM)).isZero();
        assertThat(mine.readLock().holdCount()).isOne();
        assertThat(mine.writeLock().holdCount()).isZero();
        assertThat(mine.readLock().lease().isValid()).isTrue();
        mine.readLock().unlock();
        assertThat(mine.writeLock().tryLock()).isTrue();
        deadlock(() -> mine.readLock().acquire());
        mine.writeLock().unlock();
    }

    @Test
    void aWriterThatBecameAReaderCannotWriteAgain() throws Exception { // H30
        DistributedReadWriteLock mine = keeper().readWriteLock(name());
        mine.writeLock().lock();
        mine.readLock().lock();
        mine.writeLock().lock();
        mine.writeLock().unlock();
        mine.writeLock().unlock();
        assertThat(mine.writeLock().tryLock(1, TimeUnit.HOURS)).isFalse();
        deadlock(() -> mine.writeLock().lock());
        mine.readLock().unlock();
        mine.writeLock().lock();
        mine.writeLock().unlock();
    }

    @Test
    void eachTokenThatIsReportedAsAcquiredIsReportedAsEnded() throws Exception {
        Recorder told = new Recorder();
        Lockkeeper keeper = closing(Lockkeeper.builder(store()).listener(told).build());
        DistributedReadWriteLock mine = keeper.readWriteLock(name(), lively(keeper));
        for (boolean loses : new boolean[] {false, true, false}) {
            mine.writeLock().lock();
            mine.readLock().lock();
            mine.writeLock().unlock();
            if (loses) {
                lose(mine.readLock().lease(), keeper());
                assertThatExceptionOfType(IllegalMonitorStateException.class)
                        .isThrownBy(() -> mine.readLock().unlock());
            } else {
                mine.readLock().unlock();
            }
        }
        keeper.lock(name("last")).acquire().release();
        await("everything is reported", () -> told.events().stream()
                .anyMatch(e -> e.what().equals("released") && e.name().equals(name("last"))));
        await("the loss is reported", () -> told.kinds().stream().anyMatch(kind -> kind.startsWith("lost")));
        List<Long> acquired = tokens(told, "acquired");
        List<Long> ended = new ArrayList<>(tokens(told, "released"));
        ended.addAll(tokens(told, "lost"));
        assertThat(acquired).doesNotHaveDuplicates().hasSizeGreaterThanOrEqualTo(4);
        assertThat(ended).containsExactlyInAnyOrderElementsOf(acquired);
    }

    private static List<Long> tokens(Recorder told, String what) {
        return told.events().stream()
                .filter(e -> e.what().startsWith(what))
                .map(Recorder.Event::token)
                .toList();
    }

    @Test
    void askingToWriteAfterALostReadHoldReportsTheLoss() throws Exception {
        FaultyStore store = faulty();
        Lockkeeper keeper = keeper(store);
        DistributedReadWriteLock mine = keeper.readWriteLock(name(), lively(keeper));
        mine.readLock().lock();
        lose(mine.readLock().lease(), keeper());
        store.resetCounts();
        List<ThrowingCallable> ways = List.of(
                () -> mine.writeLock().lock(),
                () -> mine.writeLock().lockInterruptibly(),
                () -> mine.writeLock().tryLock(),
                () -> mine.writeLock().tryLock(1, TimeUnit.HOURS));
        for (ThrowingCallable way : ways) {
            assertThatExceptionOfType(LeaseLostException.class).isThrownBy(way);
        }
        assertThat(store.count(StepKind.CLAIM)).isZero();
        assertThatExceptionOfType(IllegalMonitorStateException.class)
                .isThrownBy(() -> mine.readLock().unlock())
                .withCauseInstanceOf(LeaseLostException.class);
        assertThat(mine.writeLock().tryLock(LONG.toSeconds(), TimeUnit.SECONDS))
                .as("unlocked, the thread may begin again")
                .isTrue();
        mine.writeLock().unlock();
    }

    /** Two writes and two reads of one thread, undone in any order: what others may do follows from what is left. */
    @ParameterizedTest
    @ValueSource(strings = {"WWRR", "WRWR", "WRRW", "RWWR", "RWRW", "RRWW"})
    void unlocksMayComeInAnyOrder(String order) throws Exception {
        DistributedReadWriteLock mine = keeper().readWriteLock(name());
        DistributedReadWriteLock other = keeper().readWriteLock(name());
        mine.writeLock().lock();
        mine.readLock().lock();
        mine.writeLock().lock();
        mine.readLock().lock();
        int writes = 2;
        int reads = 2;
        for (String c : order.split("")) {
            if (c.equals("W")) {
                mine.writeLock().unlock();
                writes--;
            } else {
                mine.readLock().unlock();
                reads--;
            }
            assertThat(mine.writeLock().holdCount()).isEqualTo(writes);
            assertThat(mine.readLock().holdCount()).isEqualTo(reads);
            assertThat(isFree(other.readLock())).as("others may read").isEqualTo(writes == 0);
            assertThat(isFree(other.writeLock())).as("others may write").isEqualTo(writes == 0 && reads == 0);
        }
        for (DistributedLock each : new DistributedLock[] {mine.writeLock(), mine.readLock()}) {
            assertThatExceptionOfType(IllegalMonitorStateException.class).isThrownBy(each::unlock);
        }
    }

    private static void deadlock(ThrowingCallable use) {
        assertThatExceptionOfType(DeadlockException.class).isThrownBy(use);
    }
}
